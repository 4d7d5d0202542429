"""Turns the events of a sheet into rows, one after another: a cell far out costs no more than any other."""

import re
from collections.abc import Iterator, Mapping, Sequence

from longsearch.indexer.extract.readers.office.excel.number_formats import GENERAL, general, shown_number, shown_text
from longsearch.indexer.extract.readers.office.excel.workbook import number, unescaped
from longsearch.indexer.extract.readers.xml_events import is_on

MAX_COLUMNS = 16_384
Row = tuple[int, list[str]]
"""The number of a row, from 1, and its cells up to the last filled one."""
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})", re.IGNORECASE)
_MERGED = re.compile(rb"mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Za-z]{1,3}\d+:[A-Za-z]{1,3}\d+)")
_HEAD_CODES = re.compile(r'&(?:"[^"]*"|\d+|K[0-9A-Fa-f]{6}|K\d\d[+-]\d{3}|[BIUESXYOHGZTADFNP])')
_HEAD_PARTS = re.compile(r"&[LCR]")
_ONLY_A_PAGE = re.compile(r"\W*(?:\w{1,6}\W+)?&[PN](?:\W*\w{0,5}\W*&[PN])?\W*")
_HEADS = {"oddHeader": "Header", "evenHeader": "Header", "firstHeader": "Header", "oddFooter": "Footer",
          "evenFooter": "Footer", "firstFooter": "Footer"}  # fmt: skip
_MAX_MERGED = 100_000
Spans = dict[int, list[tuple[int, int]]]


def place_of(reference: str) -> tuple[int, int]:
    """Return (row from 1, column from 0) of a cell such as B2; (0, 0) if it names no cell."""
    match = _PLACE.fullmatch(reference.replace("$", ""))
    if match is None:
        return 0, 0
    column = 0
    for letter in match[1].upper():
        column = column * 26 + ord(letter) - 64
    return int(match[2]), column - 1


def merged_cells(pieces: Iterator[bytes]) -> tuple[Spans, Spans]:
    """Return column -> (first row, last row) of cells merged downwards, and row -> (first column, last) across.

    They are listed behind the rows, so the bytes are searched before the rows are read.
    """
    downwards: Spans = {}
    across: Spans = {}
    n_found, rest = 0, b""
    for piece in pieces:
        data = rest + piece
        end = 0
        for match in _MERGED.finditer(data) if n_found < _MAX_MERGED else ():
            first, _, last = match[1].decode().partition(":")
            (top, column), (bottom, right) = place_of(first), place_of(last)
            end, n_found = match.end(), n_found + 1
            if bottom > top:
                downwards.setdefault(column, []).append((top, bottom))
            if right > column:
                across.setdefault(top, []).append((column, right))
        rest = data[max(end, len(data) - 200) :]
    return downwards, across


class Sheet:
    """Takes the events of one sheet. `take` returns the rows that are complete."""

    def __init__(
        self, strings: Sequence[str], codes: Sequence[str], is_1904: bool = False, merged: Spans | None = None
    ) -> None:
        self._strings, self._codes, self._is_1904 = strings, codes, is_1904
        self._merged = {column: sorted(spans) for column, spans in (merged or {}).items()}
        self._held: dict[int, str] = {}
        self._rows: list[Row] = []
        self._row = self._column = 0
        self._cells: dict[int, str] = {}
        self._is_hidden = self._is_filtered = False
        self._hidden_columns: set[int] = set()
        self._kind = self._code = ""
        self._words: list[str] = []
        self._part = ""
        self._n_skipped = 0
        self.heads: list[str] = []

    def take(self) -> list[Row]:
        """Return the rows that were completed since the last call."""
        rows, self._rows = self._rows, []
        return rows

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped:
            self._n_skipped += 1
            return
        match name:
            case "c":
                self._start_cell(attributes)
            case "v" | "t":
                self._part = name
            case "row":
                self._row = number(attributes.get("r"), self._row + 1)
                self._column, self._cells = 0, {}
                self._is_hidden = self._hides(attributes)
            case "rPh":
                self._n_skipped = 1
            case "col":
                self._start_column(attributes)
            case "sheetPr":
                self._is_filtered = is_on({"val": attributes.get("filterMode", "0")})
            case _ if name in _HEADS:
                self._part, self._words = name, []

    def _hides(self, attributes: Mapping[str, str]) -> bool:
        """Return whether a row or a column was hidden by hand: not by a filter, and not as a closed group."""
        is_hidden = is_on({"val": attributes.get("hidden", "0")})
        return is_hidden and not self._is_filtered and not number(attributes.get("outlineLevel"))

    def _start_column(self, attributes: Mapping[str, str]) -> None:
        first, last = number(attributes.get("min")), number(attributes.get("max"))
        if self._hides(attributes):
            self._hidden_columns.update(range(first - 1, min(last, MAX_COLUMNS)))

    def _start_cell(self, attributes: Mapping[str, str]) -> None:
        _, column = place_of(reference) if (reference := attributes.get("r", "")) else (0, self._column)
        self._column = min(column, MAX_COLUMNS)
        self._kind, self._words = attributes.get("t", "n"), []
        style = number(attributes.get("s"))
        self._code = self._codes[style] if style < len(self._codes) else GENERAL

    def characters(self, text: str) -> None:
        """Text between tags."""
        if self._part and not self._n_skipped:
            self._words.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        if self._n_skipped:
            self._n_skipped -= 1
            return
        match name:
            case "v" | "t":
                self._part = ""
            case "c":
                if self._words and self._column not in self._hidden_columns:
                    self._cells[self._column] = self._shown("".join(self._words))
                self._column += 1
            case "row":
                self._end_row()
            case _ if name in _HEADS:
                self._part = ""
                self._add_head(_HEADS[name], "".join(self._words))

    def _end_row(self) -> None:
        if self._is_hidden:
            return
        self._fill_merged()
        if self._cells:
            line = [""] * (max(self._cells) + 1)
            for column, cell in self._cells.items():
                line[column] = cell
            self._rows.append((self._row, line))

    def _fill_merged(self) -> None:
        """Repeat the text of cells that are merged with those above."""
        is_empty = not any(self._cells.values())
        for column, spans in self._merged.items():
            while spans and spans[0][1] < self._row:
                spans.pop(0)
            if not spans or spans[0][0] > self._row:
                continue
            if spans[0][0] == self._row:
                self._held[column] = self._cells.get(column, "")
            elif not is_empty and not self._cells.get(column) and self._held.get(column):
                self._cells[column] = self._held[column]

    def _shown(self, value: str) -> str:
        """Return what Excel shows for a stored value."""
        match self._kind:
            case "s":
                place = number(value.strip(), len(self._strings))
                return shown_text(self._strings[place], self._code) if place < len(self._strings) else ""
            case "str" | "inlineStr":
                return shown_text(unescaped(value), self._code)
            case "b":
                return "TRUE" if value.strip() in ("1", "true") else "FALSE"
            case "e":
                return value
            case "d":
                return value.replace("T", " ").removesuffix(" 00:00:00").removesuffix(" 00:00:00.000")
        try:
            amount = float(value)
        except ValueError:
            return value
        return general(amount) if self._code == GENERAL else shown_number(amount, self._code, self._is_1904)

    def _add_head(self, kind: str, text: str) -> None:
        """Keep a head or foot, without codes for its looks and for numbers of pages."""
        parts = (part for part in _HEAD_PARTS.split(text) if not _ONLY_A_PAGE.fullmatch(part))
        shown = (" ".join(_HEAD_CODES.sub("", part).replace("&&", "&").split()) for part in parts)
        words = " | ".join(part for part in shown if any(map(str.isalpha, part)))
        head = f"{kind}: {words}"
        if words and head not in self.heads:
            self.heads.append(head)
