r"""Counts the paragraphs that an old RTF file numbers by itself (`\pn`, of Word 6 and 95), as programs show them.

A paragraph says how its number looks; the number itself may stand before its text (`\pntext`) or not.
"""

from dataclasses import dataclass, replace

from longsearch.indexer.extract.readers.numerals import numeral
from longsearch.indexer.extract.readers.office.word.numbering import BULLET

_FORMATS = {
    "pncard": "cardinalText", "pndec": "decimal", "pnucltr": "upperLetter", "pnucrm": "upperRoman",
    "pnlcltr": "lowerLetter", "pnlcrm": "lowerRoman", "pnord": "ordinal", "pnordt": "ordinalText",
    "pndecd": "decimal", "pnuldash": "decimal",
}  # fmt: skip
_N_LEVELS = 9


@dataclass(frozen=True, slots=True)
class OldNumber:
    """How the number of a paragraph looks."""

    level: int = -1
    """From 0; -1 for a bullet, -2 for a paragraph that goes on without a number."""
    numeral_format: str = "decimal"
    start: int = 1
    before: str = ""
    after: str = ""
    has_above: bool = False
    """Whether the numbers of the levels above stand before its own."""

    def said(self, word: str, number: int | None) -> "OldNumber":
        """Return it with what one more control word says."""
        if word in _FORMATS:
            return replace(self, numeral_format=_FORMATS[word])
        match word:
            case "pnlvl":
                return replace(self, level=min(max((number or 1) - 1, 0), _N_LEVELS - 1))
            case "pnlvlbody":
                return replace(self, level=_N_LEVELS)  # a simple list has no levels
            case "pnlvlblt":
                return replace(self, level=-1)
            case "pnlvlcont":
                return replace(self, level=-2)
            case "pnstart":
                return replace(self, start=min(max(number or 0, 0), 1_000_000))
            case "pnprev":
                return replace(self, has_above=number != 0)
        return self


class OldCounters:
    """Counts such paragraphs in the order of the text."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._written: dict[int, str] = {}

    def label(self, look: OldNumber | None) -> str:
        """Return the label of the next paragraph, `BULLET`, or "". A paragraph without `look` ends a simple list."""
        if look is None or look.level < 0:
            if look is None:
                self._counts.pop(_N_LEVELS, None)
            return BULLET if look is not None and look.level == -1 else ""
        level = look.level
        self._counts = {above: count for above, count in self._counts.items() if above <= level}
        self._counts[level] = self._counts[level] + 1 if level in self._counts else look.start
        own = numeral(self._counts[level], look.numeral_format)
        above = "".join(self._written.get(place, "") for place in range(level)) if look.has_above else ""
        self._written[level] = f"{look.before}{own}{look.after}"
        return f"{above}{self._written[level]}".strip()
