"""Makes the part of a page that is on the screen: draws the page, chooses the part, writes it for the terminal.

Runs in a thread: loads numpy, and waits for the page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from textual.strip import Strip

from longsearch.engine.page_image import Highlight, PageImage, PageQuestion
from longsearch.tui.graphics.encoders import braille_lines, iterm2, kitty, sixel
from longsearch.tui.graphics.terminal import Graphics, GraphicsProtocol

if TYPE_CHECKING:
    from longsearch.tui.graphics.encoders import Pixels

Draw = Callable[[PageQuestion], PageImage]


class View(NamedTuple):
    """Which pixels of a page are on the screen."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Wish:
    """A request for a drawn page."""

    question: PageQuestion
    columns: int
    rows: int
    corner: tuple[int, int] | None
    """(left, top): the page's pixel in the corner of the screen; None: such that the current passage is seen."""
    around: tuple[int, int, int]
    """The colour beside the page."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn page, ready for the terminal."""

    wish: Wish
    image: PageImage
    view: View
    sequence: str
    """The escape sequence that draws it at the cursor; "" for dots of braille."""
    lines: tuple[Strip, ...]
    """Dots of braille, or ()."""

    @property
    def is_found(self) -> bool:
        """Whether every text that was to be lit stands on the page."""
        return all(highlight.boxes for highlight in self.image.highlights)


def make_picture(wish: Wish, draw: Draw, graphics: Graphics) -> Picture:
    """Return the picture. Raises what `draw` raises."""
    image = draw(wish.question)
    size = (wish.columns * graphics.cell_width, wish.rows * graphics.cell_height)
    left, top = wish.corner if wish.corner is not None else corner_at_passage(image, size)
    left, top = within(image, size, left, top)
    view = View(left, top, *size)
    pixels = canvas_of(image, view, Colours(wish.around))
    sequence = ""
    if graphics.protocol is GraphicsProtocol.KITTY:
        sequence = kitty(pixels, wish.columns, wish.rows)
    elif graphics.protocol is GraphicsProtocol.ITERM2:
        sequence = iterm2(pixels, wish.columns, wish.rows)
    elif graphics.protocol is GraphicsProtocol.SIXEL:
        sequence = sixel(pixels)
    lines = tuple(braille_lines(pixels)) if graphics.protocol is GraphicsProtocol.BLOCKS else ()
    return Picture(wish, image, view, sequence, lines)


def within(image: PageImage, size: tuple[int, int], left: int, top: int) -> tuple[int, int]:
    """Return the corner nearest to (left, top) from which the view does not leave the page."""
    width, height = size
    return min(max(left, 0), max(image.width - width, 0)), min(max(top, 0), max(image.height - height, 0))


def corner_at_passage(image: PageImage, size: tuple[int, int]) -> tuple[int, int]:
    """Return the corner from which the excerpt, or else the current passage, is a quarter below the top."""
    for light in (Highlight.FOUND, Highlight.EXCERPT, Highlight.CURRENT, Highlight.PASSAGE):
        boxes = [box for highlight in image.highlights if highlight.kind is light for box in highlight.boxes]
        if boxes:
            left = min(box[0] for box in boxes)  # the first line may begin in the middle of a column
            if boxes[0][2] > left + size[0] * 7 // 8:
                left = boxes[0][0]
            return left - size[0] // 8, boxes[0][1] - size[1] // 4
    return 0, 0


Colour = tuple[int, int, int]


class Colours(NamedTuple):
    """The colours of a canvas. The lit ones are like a text marker's: paper takes them, ink stays dark."""

    around: Colour
    """Where there is no page."""
    passage: Colour = (253, 246, 178)
    current: Colour = (255, 233, 120)
    excerpt: Colour = (255, 190, 92)
    found: Colour = (140, 220, 150)


def canvas_of(image: PageImage, view: View, colours: Colours) -> "Pixels":
    """Return the pixels of `view`, (height, width, 3); beside and below the page the colour around it."""
    page = np.frombuffer(image.rgb, np.uint8).reshape(image.height, image.width, 3)
    shown = page[view.top : view.top + view.height, view.left : view.left + view.width].copy()
    for highlight in sorted(image.highlights, key=lambda highlight: highlight.kind):
        for left, top, right, bottom in highlight.boxes:
            box = (
                slice(max(top - view.top, 0), max(bottom - view.top, 0)),
                slice(max(left - view.left, 0), max(right - view.left, 0)),
            )
            under = page[view.top : view.top + view.height, view.left : view.left + view.width][box]
            shown[box] = mark(under, getattr(colours, Highlight(highlight.kind).name.lower()))
    canvas = np.empty((view.height, view.width, 3), np.uint8)
    canvas[:] = np.array(colours.around, np.uint8)
    beside = (view.width - shown.shape[1]) // 2 if image.width < view.width else 0
    canvas[: shown.shape[0], beside : beside + shown.shape[1]] = shown
    return canvas


def mark(paper: "Pixels", colour: Colour) -> "Pixels":
    """Return pixels as under a text marker: white takes the colour, black stays black."""
    return (paper.astype(np.uint16) * np.array(colour, np.uint16) // 255).astype(np.uint8)
