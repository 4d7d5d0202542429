"""Makes the part of a page that is on the screen: draws the page, chooses the part, writes it for the terminal.

Runs in a thread: loads numpy, and waits for the page.
"""

from collections.abc import Callable
from dataclasses import dataclass

from textual.strip import Strip

from longsearch.engine.page_image import Light, PageImage, PageQuestion
from longsearch.tui.graphics.blocks import block_lines
from longsearch.tui.graphics.canvas import Colours, View, canvas_of
from longsearch.tui.graphics.encoders import iterm2, kitty
from longsearch.tui.graphics.sixel import sixel
from longsearch.tui.graphics.terminal import Graphics, GraphicsProtocol

Draw = Callable[[PageQuestion], PageImage]


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
    """The escape sequence that draws it at the cursor; "" for half blocks."""
    lines: tuple[Strip, ...]
    """Half blocks, or ()."""

    @property
    def is_found(self) -> bool:
        """Whether every text that was to be lit stands on the page."""
        return all(lit.boxes for lit in self.image.lit)


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
    lines = tuple(block_lines(pixels)) if graphics.protocol is GraphicsProtocol.BLOCKS else ()
    return Picture(wish, image, view, sequence, lines)


def within(image: PageImage, size: tuple[int, int], left: int, top: int) -> tuple[int, int]:
    """Return the corner nearest to (left, top) from which the view does not leave the page."""
    width, height = size
    return min(max(left, 0), max(image.width - width, 0)), min(max(top, 0), max(image.height - height, 0))


def corner_at_passage(image: PageImage, size: tuple[int, int]) -> tuple[int, int]:
    """Return the corner from which the excerpt, or else the current passage, is a quarter below the top."""
    for light in (Light.FOUND, Light.EXCERPT, Light.CURRENT, Light.PASSAGE):
        boxes = [box for lit in image.lit if lit.light is light for box in lit.boxes]
        if boxes:
            left, top = boxes[0][:2]
            return left - size[0] // 8, top - size[1] // 4
    return 0, 0
