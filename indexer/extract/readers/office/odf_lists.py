"""Counts the numbers of lists and headings of an OpenDocument text, and knows which of its styles hide text."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers.numerals import numeral
from longsearch.indexer.extract.readers.office.word.numbering import BULLET
from longsearch.indexer.extract.readers.office.word.styles import QUOTATION

_NUMERALS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman", "": "none"}
_OUTLINE = "outline of headings"
_LEVELS = frozenset(
    {"list-level-style-number", "list-level-style-bullet", "list-level-style-image", "outline-level-style"}
)


@dataclass(slots=True)
class _Level:
    numeral_format: str = "decimal"
    prefix: str = ""
    suffix: str = ""
    n_shown: int = 1
    """How many levels the label shows."""
    start: int = 1
    is_bullet: bool = False


@dataclass(slots=True)
class _List:
    style: str
    counts: dict[int, int] = field(default_factory=dict)


class Lists:
    """Follows the styles of lists, and the lists that are open."""

    def __init__(self) -> None:
        self._styles: dict[str, dict[int, _Level]] = {}
        self._style = ""
        self._open: list[str] = []
        self._counts: dict[str, _List] = {}
        self._ids: list[str] = []
        self._is_new_item = self._is_header = False
        self._outline: dict[int, int] = {}
        self._hidden_tables: set[str] = set()
        self._hidden_slides: set[str] = set()
        self._hidden_texts: set[str] = set()
        self._quotations: set[str] = set()
        self._own_style = ""
        self._n_lists = self._n_numbered = 0
        self._is_bare_heading = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        match name:
            case "list":
                self._begin_list(attributes)
            case "list-item" | "list-header":
                self._is_new_item, self._is_header = True, name == "list-header"
                if self._ids and "start-value" in attributes:
                    self._counts[self._ids[-1]].counts[len(self._open)] = _number(attributes["start-value"], 1) - 1
            case "numbered-paragraph":
                self._n_numbered = min(_number(attributes.get("level"), 1), 10)
                for _ in range(self._n_numbered):
                    self._begin_list(attributes)
                self._is_new_item, self._is_header = True, False
            case "h":
                self._is_bare_heading = attributes.get("is-list-header") == "true"
            case _:
                self._start_style(name, attributes)

    def _start_style(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
            case "list-style" | "outline-style":
                self._style = _OUTLINE if name == "outline-style" else attributes.get("name", "")
                self._styles.setdefault(self._style, {})
            case _ if name in _LEVELS:
                self._styles.setdefault(self._style, {})[_number(attributes.get("level"), 1)] = _level(name, attributes)
            case "style":
                self._begin_style(attributes)
            case "table-properties" if attributes.get("display") == "false":
                self._hidden_tables.add(self._own_style)
            case "text-properties" if attributes.get("display") == "none":
                self._hidden_texts.add(self._own_style)
            case "drawing-page-properties" if attributes.get("visibility") == "hidden":
                self._hidden_slides.add(self._own_style)

    def _begin_style(self, attributes: Mapping[str, str]) -> None:
        self._own_style = attributes.get("name", "")
        above, shown = attributes.get("parent-style-name", ""), attributes.get("display-name", "")
        if above in self._quotations or QUOTATION.fullmatch(shown or self._own_style):
            self._quotations.add(self._own_style)

    def _begin_list(self, attributes: Mapping[str, str]) -> None:
        style = attributes.get("style-name") or (self._open[-1] if self._open else "")
        identity = self._ids[-1] if self._ids else ""
        if not identity:
            before = attributes.get("continue-list") or attributes.get("list-id", "")
            if attributes.get("continue-numbering") == "true":
                before = next((key for key in reversed(self._counts) if self._counts[key].style == style), "")
            self._n_lists += 1
            identity = (
                before
                if before in self._counts
                else attributes.get("id") or attributes.get("list-id") or f"list {self._n_lists}"
            )
        self._counts.setdefault(identity, _List(style))
        self._ids.append(identity)
        self._open.append(style)

    def end(self, name: str) -> None:
        """An element ends."""
        if name == "list" and self._open:
            self._open.pop()
            self._ids.pop()
        elif name in ("list-item", "list-header"):
            self._is_new_item = False
        elif name == "numbered-paragraph":
            for _ in range(min(self._n_numbered, len(self._open))):
                self.end("list")

    def label(self, heading_level: int) -> str:
        """Count a paragraph, and return its label, `BULLET`, or "" if it has none."""
        if self._open:
            if not self._is_new_item or self._is_header:
                return ""
            self._is_new_item = False
            levels, counts = self._styles.get(self._open[-1], {}), self._counts[self._ids[-1]].counts
            return self._counted(levels, counts, len(self._open))
        if not heading_level or self._is_bare_heading:
            return ""
        return self._counted(self._styles.get(_OUTLINE, {}), self._outline, heading_level)

    @staticmethod
    def _counted(levels: dict[int, _Level], counts: dict[int, int], place: int) -> str:
        level = levels.get(place)
        if level is None:
            return BULLET if not levels else ""
        counts[place] = counts[place] + 1 if place in counts else level.start
        for below in [other for other in counts if other > place]:
            del counts[below]
        if level.is_bullet:
            return BULLET
        if level.numeral_format == "none":
            return ""
        shown = range(max(1, place - level.n_shown + 1), place + 1)
        numbers = (
            numeral(counts.get(at, levels[at].start), levels[at].numeral_format)
            for at in shown
            if at in levels and levels[at].numeral_format != "none"
        )
        return f"{level.prefix}{'.'.join(numbers)}{level.suffix}".strip()

    def hides_text(self, style: str) -> bool:
        """Return whether text of this style is hidden."""
        return style in self._hidden_texts

    def is_quotation(self, style: str) -> bool:
        """Return whether paragraphs of this style are set off as quotations."""
        return style in self._quotations

    def hides_table(self, style: str) -> bool:
        """Return whether a sheet of this style is hidden."""
        return style in self._hidden_tables

    def hides_slide(self, style: str) -> bool:
        """Return whether a slide of this style is left out of the show."""
        return style in self._hidden_slides


def _level(name: str, attributes: Mapping[str, str]) -> _Level:
    is_bullet = name in ("list-level-style-bullet", "list-level-style-image")
    return _Level(
        _NUMERALS.get(attributes.get("num-format", ""), "decimal"),
        attributes.get("num-prefix", ""),
        attributes.get("num-suffix", ""),
        _number(attributes.get("display-levels"), 1),
        _number(attributes.get("start-value"), 1),
        is_bullet,
    )


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 7 else default
