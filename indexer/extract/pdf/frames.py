"""Put a title that was drawn late, as in a frame, before the text of its page that it stands above. Pure functions."""

from collections.abc import Sequence
from statistics import median

from longsearch.indexer.extract.pdf.layout import Line

_UPWARDS = 0.5
"""Font sizes by which a line stands higher than the one before it if another block begins with it."""
_LARGER = 1.15
"""Ratio of the block's largest type to the text's; a running head, removed where it was drawn, is no larger."""
_LEAST_WIDTH = 0.5
"""Share of the text's width that the block has at least: it stands above all columns."""
_MAX_HEAD_LINES = 2
"""Lines above the block that were drawn before it."""


def title_first(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a first page with a block in larger type, drawn late, before the text that it stands above.

    Lines that stand above the block and were drawn before it, such as a running head, stay the first ones.
    """
    for begin in range(1, len(lines)):
        line = lines[begin]
        if line.baseline > lines[begin - 1].baseline + _UPWARDS * line.size:
            head = next(n for n, other in enumerate(lines) if other.baseline <= line.baseline)
            if head < begin and head <= _MAX_HEAD_LINES:
                stop = _end_of_block(lines, head, begin)
                if _stands_above(lines[begin:stop], lines[head:begin], lines[stop:]):
                    return [*lines[:head], *lines[begin:stop], *lines[head:begin], *lines[stop:]]
    return list(lines)


def _end_of_block(lines: Sequence[Line], head: int, begin: int) -> int:
    """Return where the lines end that follow `begin` and stand above all lines from `head` on to it."""
    highest = max(line.baseline + line.size for line in lines[head:begin])
    return next((n for n in range(begin, len(lines)) if lines[n].baseline < highest), len(lines))


def _stands_above(block: Sequence[Line], text: Sequence[Line], rest: Sequence[Line]) -> bool:
    """Return whether a block in larger type, and of fewer lines than the text before it, stands above all columns."""
    if not 0 < len(block) < len(text) or any(line.right <= line.left for line in (*block, *text)):
        return False
    least = _LARGER * median(line.size for line in text)
    if not any(line.size >= least and any(map(str.isalpha, line.text)) for line in block):
        return False
    lowest = min(line.baseline for line in block)
    left, right = min(line.left for line in text), max(line.right for line in text)
    own_left, own_right = min(line.left for line in block), max(line.right for line in block)
    is_wide = own_right - own_left >= _LEAST_WIDTH * (right - left) and own_left < (left + right) / 2 < own_right
    return is_wide and all(line.baseline < lowest for line in rest)
