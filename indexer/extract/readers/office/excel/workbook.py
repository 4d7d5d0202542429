"""Reads the parts of a workbook that its sheets share: strings, formats of cells, names of sheets, authors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from longsearch.indexer.extract.readers.office.excel.number_formats import BUILT_IN, GENERAL
from longsearch.indexer.extract.readers.xml_events import is_on

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_HIDDEN = frozenset({"hidden", "veryHidden"})


@dataclass(frozen=True, slots=True)
class SheetName:
    """A sheet, as the workbook lists it."""

    name: str
    relation: str
    """The id of its relation."""
    is_hidden: bool


class Workbook:
    """Takes the events of `workbook.xml`."""

    def __init__(self) -> None:
        self.sheets: list[SheetName] = []
        self.is_1904 = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "sheet":
            is_hidden = attributes.get("state", "") in _HIDDEN
            self.sheets.append(SheetName(attributes.get("name", ""), attributes.get("id", ""), is_hidden))
        elif name == "workbookPr":
            self.is_1904 = is_on({"val": attributes.get("date1904", "0")})

    def end(self, name: str) -> None:
        """An element ends."""

    def characters(self, text: str) -> None:
        """The file has no text of its own."""


class Styles:
    """Takes the events of `styles.xml`. `codes` holds the format of each style of cells."""

    def __init__(self) -> None:
        self.codes: list[str] = []
        self._own: dict[int, str] = {}
        self._in_cells = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "numFmt":
            self._own[number(attributes.get("numFmtId"))] = attributes.get("formatCode", GENERAL)
        elif name == "cellXfs":
            self._in_cells = True
        elif name == "xf" and self._in_cells:
            identity = number(attributes.get("numFmtId"))
            self.codes.append(self._own.get(identity) or BUILT_IN.get(identity, GENERAL))

    def end(self, name: str) -> None:
        """An element ends."""
        if name == "cellXfs":
            self._in_cells = False

    def characters(self, text: str) -> None:
        """The file has no text."""


class Strings:
    """Takes the events of `sharedStrings.xml`, or of a cell's own text: joins its runs, without readings above them."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._words: list[str] = []
        self._is_text = False
        self._n_skipped = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped or name == "rPh":
            self._n_skipped += 1
        elif name == "t":
            self._is_text = True
        elif name == "si":
            self._words = []

    def end(self, name: str) -> None:
        """An element ends."""
        if self._n_skipped:
            self._n_skipped -= 1
        elif name == "t":
            self._is_text = False
        elif name == "si":
            self.strings.append(unescaped("".join(self._words)))

    def characters(self, text: str) -> None:
        """Text of a run."""
        if self._is_text and not self._n_skipped:
            self._words.append(text)


def unescaped(text: str) -> str:
    """Return `text` with the characters that Excel writes as _x000D_."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


class Persons:
    """Takes the events of a list of people. `names` holds the name of each by id."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "person":
            self.names[attributes.get("id", "")] = attributes.get("displayName", "")

    def end(self, name: str) -> None:
        """An element ends."""

    def characters(self, text: str) -> None:
        """The file has no text."""


def number(text: str | None, default: int = 0) -> int:
    """Return a number that an attribute holds."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else default
