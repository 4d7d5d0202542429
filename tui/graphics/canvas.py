"""The part of a page's picture that is on the screen, its passages lit. Pure; numpy is loaded when this is imported."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longsearch.engine.page_image import Light, PageImage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]  # (height, width, 3)

Colour = tuple[int, int, int]


class Colours(NamedTuple):
    """The colours of a canvas. The lit ones are like a text marker's: paper takes them, ink stays dark."""

    around: Colour
    """Where there is no page."""
    passage: Colour = (253, 246, 178)
    current: Colour = (255, 233, 120)
    excerpt: Colour = (255, 190, 92)
    found: Colour = (140, 220, 150)


class View(NamedTuple):
    """Which pixels of a page are on the screen."""

    left: int
    top: int
    width: int
    height: int


def canvas_of(image: PageImage, view: View, colours: Colours) -> "Pixels":
    """Return the pixels of `view`, (height, width, 3); beside and below the page the colour around it."""
    page = np.frombuffer(image.rgb, np.uint8).reshape(image.height, image.width, 3)
    shown = page[view.top : view.top + view.height, view.left : view.left + view.width].copy()
    for lit in sorted(image.lit, key=lambda lit: lit.light):
        for left, top, right, bottom in lit.boxes:
            box = (
                slice(max(top - view.top, 0), max(bottom - view.top, 0)),
                slice(max(left - view.left, 0), max(right - view.left, 0)),
            )
            under = page[view.top : view.top + view.height, view.left : view.left + view.width][box]
            shown[box] = mark(under, getattr(colours, Light(lit.light).name.lower()))
    canvas = np.empty((view.height, view.width, 3), np.uint8)
    canvas[:] = np.array(colours.around, np.uint8)
    beside = (view.width - shown.shape[1]) // 2 if image.width < view.width else 0
    canvas[: shown.shape[0], beside : beside + shown.shape[1]] = shown
    return canvas


def mark(paper: "Pixels", colour: Colour) -> "Pixels":
    """Return pixels as under a text marker: white takes the colour, black stays black."""
    return (paper.astype(np.uint16) * np.array(colour, np.uint16) // 255).astype(np.uint8)
