"""Counts the numbers of Word's lists, clauses and headings, which a document does not store: "2.2", "(iv)".

A paragraph names a list and a level; the list names a definition of nine levels, and may replace some of them. All
lists of one definition count together.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers.numerals import numeral, padded
from longsearch.indexer.extract.readers.xml_events import is_on

BULLET = "-"
_PLACE = re.compile(r"%([1-9])")
_N_LEVELS = 9


@dataclass(slots=True)
class Level:
    """One level of a definition."""

    start: int = 0
    numeral_format: str = "decimal"
    sample: str = ""
    """For a custom format: its first numbers, as "001, 002"."""
    text: str | None = None
    """The label, with %1 for the number of the first level; None if the file has none."""
    is_legal: bool = False
    """Whether all numbers of the label are in digits."""
    restart_after: int | None = None
    """The level (from 1) that makes this one begin again; 0: none; None: each level above."""
    style: str = ""
    """The style of paragraphs whose numbers this level counts."""


@dataclass(slots=True)
class _List:
    """One list: a definition, with changes of its own."""

    definition: str = ""
    starts: dict[int, int] = field(default_factory=dict)
    levels: dict[int, Level] = field(default_factory=dict)


class Numbering:
    """Takes the events of `numbering.xml`, and holds all lists."""

    def __init__(self) -> None:
        self._definitions: dict[str, dict[int, Level]] = {}
        self._style_of: dict[str, str] = {}
        self._definition_of_style: dict[str, str] = {}
        self._lists: dict[str, _List] = {}
        self._definition = ""
        self._list: _List | None = None
        self._place = 0
        self._level: Level | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        value = attributes.get("val", "")
        match name:
            case "abstractNum":
                self._definition = attributes.get("abstractNumId", "")
                self._definitions[self._definition] = {}
            case "num":
                self._list = self._lists.setdefault(attributes.get("numId", ""), _List())
            case "lvlOverride":
                self._place = _number(attributes.get("ilvl"))
            case "abstractNumId" if self._list:
                self._list.definition = value
            case "startOverride" if self._list:
                self._list.starts[self._place] = _number(value)
            case "numStyleLink":
                self._style_of[self._definition] = value
            case "styleLink":
                self._definition_of_style[value] = self._definition
            case "lvl":
                self._level = Level()
                levels = self._list.levels if self._list else self._definitions.setdefault(self._definition, {})
                levels[_number(attributes.get("ilvl"))] = self._level
            case _ if self._level:
                self._describe(self._level, name, attributes)

    @staticmethod
    def _describe(level: Level, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        match name:
            case "start":
                level.start = _number(value)
            case "numFmt" if not level.sample:  # a custom format comes first, and then what older programs show
                level.numeral_format, level.sample = value, attributes.get("format", "")
            case "lvlText":
                level.text = value
            case "isLgl":
                level.is_legal = is_on(attributes)
            case "lvlRestart":
                level.restart_after = _number(value)
            case "pStyle":
                level.style = value

    def end(self, name: str) -> None:
        """An element ends."""
        if name == "num":
            self._list = None
        elif name == "lvl":
            self._level = None

    def characters(self, text: str) -> None:
        """The file has no text."""

    def levels_of(self, list_id: str) -> tuple[str, dict[int, Level]]:
        """Return the definition of a list, and its levels."""
        found = self._lists.get(list_id)
        if found is None:
            return "", {}
        definition = found.definition
        if not self._definitions.get(definition) and definition in self._style_of:
            definition = self._definition_of_style.get(self._style_of[definition], definition)
        return definition, self._definitions.get(definition, {}) | found.levels

    def starts_of(self, list_id: str) -> dict[int, int]:
        """Return the level -> number of a list that begins anew, whatever lists of its definition came before."""
        found = self._lists.get(list_id)
        return found.starts if found else {}

    def level_of_style(self, list_id: str, style: str) -> int | None:
        """Return the level of a list that counts the paragraphs of this style."""
        _, levels = self.levels_of(list_id)
        return next((place for place, level in levels.items() if level.style == style), None)


class Counters:
    """Counts the paragraphs of one text, in their order."""

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def label(self, list_id: str, place: int) -> str:
        """Count a paragraph of a list at level `place` (from 0). Return its label, `BULLET`, or "" for none."""
        definition, levels = self._numbering.levels_of(list_id)
        level = levels.get(place)
        if level is None:
            return ""
        counts = self._counts.setdefault(definition, {})
        self._count(list_id, place, levels, counts)
        if level.numeral_format == "bullet":
            return BULLET
        text = f"%{place + 1}." if level.text is None else level.text
        return _PLACE.sub(lambda match: _written(int(match[1]) - 1, level, levels, counts), text).strip()

    def _count(self, list_id: str, place: int, levels: dict[int, Level], counts: dict[int, int]) -> None:
        overridden = self._numbering.starts_of(list_id).get(place)
        if overridden is not None and (list_id, place) not in self._begun:
            counts[place] = overridden
        else:
            counts[place] = counts[place] + 1 if place in counts else levels[place].start
        self._begun.add((list_id, place))
        for above in range(place):
            if above in levels:
                counts.setdefault(above, levels[above].start)
        for below in _restarted(place, levels):
            counts.pop(below, None)


def _restarted(place: int, levels: dict[int, Level]) -> Iterator[int]:
    """Yield the levels that begin again after a paragraph of level `place`."""
    for below in range(place + 1, _N_LEVELS):
        after = levels[below].restart_after if below in levels else None
        if after is None or place + 1 <= after:
            yield below


def _written(place: int, level: Level, levels: dict[int, Level], counts: dict[int, int]) -> str:
    own = levels.get(place, level)
    number = counts.get(place, own.start)
    if level.is_legal:
        return str(number)
    return padded(number, own.sample) if own.sample else numeral(number, own.numeral_format)


def _number(text: str | None) -> int:
    try:
        return min(max(int(text or ""), 0), 1_000_000)
    except ValueError:
        return 0
