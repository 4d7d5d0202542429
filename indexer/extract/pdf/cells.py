"""Find the cells of a line: its parts between wide gaps.

pdfium puts one space for a gap of any width. Asking it for all characters' places would take a third of a page's time,
so only lines that seem to need it are looked at.
"""

import re
from collections.abc import Sequence
from itertools import compress, count, repeat
from operator import gt, mul, sub
from typing import Any

from longsearch.indexer.extract.pdf.gaps import Found
from longsearch.indexer.extract.pdf.layout import LEAST_SIZE, Cell, Line
from longsearch.indexer.extract.pdf.pages import clean_line
from longsearch.indexer.extract.pdf.places import origins, rights, stand_apart

_CELL_GAP = 1.1
"""Font sizes between two cells; justified lines have gaps of up to 0.8."""
_SPACES = re.compile(r"\s+")
_WIDE = 0.62
"""Font sizes a character of a line takes on average if it has wide gaps; usual text has 0.45 to 0.55."""
_SAMPLE = 4


def with_cells(text_page: Any, found: Sequence[Found]) -> list[Line]:
    """Return the lines, each with its cells if it has wide gaps.

    Lines that are wide for their letters are looked at, and each fourth of the others; all of them if one has a gap.
    A size in a font's own units says nothing of gaps.
    """
    lines = [one.line for one in found]
    texts, lefts, rights, _, _, sizes, *_ = zip(*lines, strict=True)
    usual = map(mul, map(mul, repeat(_WIDE), sizes), map(len, texts))
    wide = set(compress(count(), map(gt, map(sub, rights, lefts), usual)))
    sized = [number for number, size in enumerate(sizes) if size >= LEAST_SIZE]
    narrow = [number for number in sized if number not in wide]
    look_at_all = any(_has_gap_between_boxes(text_page, found[number]) for number in narrow[::_SAMPLE])
    for number in sized if look_at_all else wide.intersection(sized):
        if " " in texts[number] and (number in wide or _has_gap_between_boxes(text_page, found[number])):
            line, raw, first = found[number]
            lines[number] = line._replace(cells=_cells(text_page, line, raw, first))
    return lines


def _has_gap_between_boxes(text_page: Any, found: Found) -> bool:
    """Return whether two pieces of a line that were drawn apart stand apart like cells."""
    distance = _CELL_GAP * found.line.size
    return distance > 0 and stand_apart(text_page, found.first, len(found.raw), distance)


def _cells(text_page: Any, line: Line, raw: str, first: int) -> tuple[Cell, ...]:
    """Return the parts of a line between wide gaps; () if it has none."""
    end = len(raw.rstrip())
    spaces = [found.span() for found in _SPACES.finditer(raw, len(raw) - len(raw.lstrip()), end)]
    starts, stops = [0, *(start for _, start in spaces)], [*(stop for stop, _ in spaces), end]
    left = origins(text_page, [first + start for start in starts])[0]
    right = rights(text_page, [first + stop - 1 for stop in stops])
    gaps = map(sub, left[1:], right)
    wide = list(compress(count(), map(gt, gaps, repeat(_CELL_GAP * line.size))))
    if not wide:
        return ()
    cells = zip([0, *(at + 1 for at in wide)], [*wide, len(spaces)], strict=True)
    parts = (Cell(clean_line(raw[starts[one] : stops[other]]), left[one], right[other]) for one, other in cells)
    return tuple(part for part in parts if part.text)
