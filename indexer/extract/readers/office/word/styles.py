"""Knows Word's styles: which are headings, number their paragraphs, or hide their text. Each inherits from another."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from longsearch.indexer.extract.readers.xml_events import is_on

_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_TITLE = "title"
QUOTATION = re.compile(
    r"(?:[a-z]+[ _-]?)?(?:quot(?:e|es|ation|ations)|block[ _-]?text|zitat|citation|citaat|cita|citazione|citação|citat"
    r"|sitat|sitaatti|cytat|citát|цитата|引用文?|인용)[ _-]?(?:\w{1,10})?",
    re.IGNORECASE,
)
"""The names of styles for quotations: Word's "Quote", LibreOffice's "Quotations", a person's own."""
MAX_LEVEL = 9
_MAX_DEPTH = 50
"""Styles that inherit from one another; more are a loop."""


@dataclass(slots=True)
class Style:
    """What a style says of a paragraph or a run. None: what the style says that it is based on."""

    name: str = ""
    based_on: str = ""
    list_id: str | None = None
    place: int | None = None
    """The level of the list, from 0."""
    outline: int | None = None
    """The level as a heading, from 0; 9 is none."""
    is_hidden: bool | None = None


class Styles:
    """Takes the events of `styles.xml`, and answers for a style by its id."""

    def __init__(self) -> None:
        self._styles: dict[str, Style] = {}
        self._style: Style | None = None
        self._default = ""
        self._n_skipped = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped or name in ("tblStylePr", "pPrChange", "rPrChange"):
            self._n_skipped += 1
        elif name == "style":
            self._style = Style()
            self._styles[attributes.get("styleId", "")] = self._style
            if attributes.get("type") == "paragraph" and attributes.get("default") in ("1", "true", "on"):
                self._default = attributes.get("styleId", "")
        elif self._style is not None:
            self._describe(self._style, name, attributes)

    @staticmethod
    def _describe(style: Style, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        match name:
            case "name":
                style.name = value
            case "basedOn":
                style.based_on = value
            case "numId":
                style.list_id = value
            case "ilvl":
                style.place = int(value) if value.isdecimal() else 0
            case "outlineLvl":
                style.outline = int(value) if value.isdecimal() else 9
            case "vanish":
                style.is_hidden = is_on(attributes)

    def end(self, name: str) -> None:
        """An element ends."""
        if self._n_skipped:
            self._n_skipped -= 1
        elif name == "style":
            self._style = None

    def characters(self, text: str) -> None:
        """The file has no text."""

    def heading_level(self, style_id: str) -> int:
        """Return the level of a heading with this style, from 1; 0 if it is none."""
        for style in self._chain(style_id):
            if found := _HEADING.fullmatch(style.name):
                return int(found[1]) or 1
            if style.name.casefold() == _TITLE:
                return 1
            if style.outline is not None:
                return style.outline + 1 if style.outline < MAX_LEVEL else 0
        return 0

    def is_quotation(self, style_id: str) -> bool:
        """Return whether paragraphs of this style are set off as quotations."""
        return any(QUOTATION.fullmatch(style.name or identity) for identity, style in self._chain_of(style_id))

    def numbering(self, style_id: str) -> tuple[str, int | None, str]:
        """Return (id of the list, level, the style that says so) of this style's paragraphs; the id is "" for none."""
        place: int | None = None
        for identity, style in self._chain_of(style_id):
            place = style.place if place is None else place
            if style.list_id is not None:
                return style.list_id, place, identity
        return "", place, ""

    def hides(self, style_id: str) -> bool | None:
        """Return whether text of this style is hidden; None if the style does not say."""
        return next((style.is_hidden for style in self._chain(style_id) if style.is_hidden is not None), None)

    def _chain(self, style_id: str) -> Iterator[Style]:
        return (style for _, style in self._chain_of(style_id))

    def _chain_of(self, style_id: str) -> Iterator[tuple[str, Style]]:
        """Yield a style and those that it is based on."""
        identity = style_id or self._default
        for _ in range(_MAX_DEPTH):
            style = self._styles.get(identity)
            if style is None:
                return
            yield identity, style
            identity = style.based_on
