"""Draws pixels as half blocks: a cell shows two pixels, the upper as the colour of "▀", the lower as its background."""

from typing import TYPE_CHECKING

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from longsearch.tui.graphics.canvas import Pixels


def block_lines(pixels: "Pixels") -> list[Strip]:
    """Return a line of cells for every two rows of pixels."""
    rows = pixels.tolist()
    return [_line(upper, lower) for upper, lower in zip(rows[::2], rows[1::2], strict=True)]


def _line(upper: list[list[int]], lower: list[list[int]]) -> Strip:
    segments: list[Segment] = []
    pairs = list(zip(upper, lower, strict=True))
    start = 0
    for index in range(1, len(pairs) + 1):
        if index == len(pairs) or pairs[index] != pairs[start]:
            above, below = (Color.from_rgb(*colour) for colour in pairs[start])
            segments.append(Segment("▀" * (index - start), Style(color=above, bgcolor=below)))
            start = index
    return Strip(segments, len(pairs))
