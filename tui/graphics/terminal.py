"""Finds out what the terminal can draw: the questions to ask it, and the meaning of its answers. Pure.

Kitty, Ghostty, WezTerm and Konsole speak Kitty's protocol, iTerm2 and WezTerm its own, foot, xterm, mlterm, Windows
Terminal and others Sixel. Sources: https://sw.kovidgoyal.net/kitty/graphics-protocol/, iterm2.com/documentation-images,
and "Device Attributes" and "XTWINOPS" in XTerm Control Sequences.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

AUTO = "auto"
"""The setting that leaves the choice to the terminal's answers."""


class GraphicsProtocol(StrEnum):
    """How a picture is written."""

    KITTY = "kitty"
    ITERM2 = "iterm2"
    SIXEL = "sixel"
    BLOCKS = "blocks"
    """Dots of braille in two colours: in every terminal. Letters can be read once the page is enlarged."""


class Graphics(NamedTuple):
    """How pictures are drawn in this terminal."""

    protocol: GraphicsProtocol = GraphicsProtocol.BLOCKS
    cell_width: int = 2
    """Pixels of a cell; 2 for braille."""
    cell_height: int = 4
    """Pixels of a cell; 4 for braille."""


BLOCKS = Graphics()
QUESTIONS = (
    b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"  # Kitty: could you draw this pixel?
    b"\x1b[>q"  # the terminal's name and version
    b"\x1b[16t"  # the size of a cell
    b"\x1b]11;?\x1b\\"  # the colour behind the text
    b"\r\xe0\xa4\x95\xe0\xa4\xbe\x1b[6n\r\x1b[K"  # the column after का, a letter and a vowel sign; both are erased
    b"\x1b[c"  # its attributes: every terminal answers this, so it comes last
)
USUAL_CELL = (10, 20)
KITTY_ID = 0x6C73
"""The number of our picture: a new one replaces it."""
KITTY_DELETE = f"\x1b_Ga=d,d=I,i={KITTY_ID},q=2\x1b\\"
_AFTER_TWO_CELLS = 3  # columns are counted from 1
_LAST_ANSWER = re.compile(rb"\x1b\[\?([\d;]*)c")
_BACKGROUND = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F/]+)(?:\x1b\\|\x07)")
_ANSWERS = re.compile(
    rb"\x1b_G[^\x1b]*\x1b\\|\x1b\]11;[^\x1b\x07]*(?:\x1b\\|\x07)|\x1bP>\|[^\x1b]*\x1b\\|\x1b\[6;\d+;\d+t|\x1b\[\d+;\d+R|\x1b\[\?[\d;]*c|\x1b\[\?[\d;]*\$y",
    re.DOTALL,
)
_NAME = re.compile(rb"\x1bP>\|([^\x1b]*)\x1b\\")
_COLUMN = re.compile(rb"\x1b\[\d+;(\d+)R")
_CELL = re.compile(rb"\x1b\[6;(\d+);(\d+)t")


def is_complete(answers: bytes) -> bool:
    """Return whether the last answer has arrived."""
    return _LAST_ANSWER.search(answers) is not None


def typed_among(answers: bytes) -> bytes:
    """Return what is no answer: keys that were pressed meanwhile."""
    return _ANSWERS.sub(b"", answers)


def gives_vowel_signs_cells(answers: bytes) -> bool:
    """Return whether the terminal shows a letter with a spacing vowel sign in two cells: see `vowel_signs`."""
    told = _COLUMN.search(answers)
    return told is not None and int(told[1]) == _AFTER_TWO_CELLS


def is_light(answers: bytes) -> bool:
    """Return whether the terminal says that it writes on a light colour: by luma (ITU-R BT.601), above one half."""
    told = _BACKGROUND.search(answers)
    parts = told[1].split(b"/")[:3] if told else []
    if len(parts) < 3 or not all(parts):
        return False
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in parts)
    return bool(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)


def graphics_of(
    answers: bytes,
    cell: tuple[int, int] | None,
    environment: Mapping[str, str],
    is_multiplexed: bool = False,
    wished: str = AUTO,
) -> Graphics:
    """Return what the terminal draws best, by its answers. `cell`: the pixels of a cell if the system knows them.

    `is_multiplexed`: inside tmux or screen, which pass on Sixel at most. `wished`: the protocol of the settings.
    """
    protocol = _protocol(answers, environment, is_multiplexed) if wished == AUTO else GraphicsProtocol(wished)
    if protocol is GraphicsProtocol.BLOCKS:
        return BLOCKS
    told = _CELL.search(answers)
    width, height = (int(told[2]), int(told[1])) if told else cell or USUAL_CELL
    if not (2 <= width <= 200 and 4 <= height <= 400):
        width, height = USUAL_CELL
    return Graphics(protocol, width, height)


def _protocol(answers: bytes, environment: Mapping[str, str], is_multiplexed: bool) -> GraphicsProtocol:
    name = (named[1] if (named := _NAME.search(answers)) else b"").lower()
    if not is_multiplexed:
        if b"\x1b_Gi=31;OK" in answers:
            return GraphicsProtocol.KITTY
        if name.startswith((b"iterm2", b"wezterm")) or environment.get("TERM_PROGRAM") in ("iTerm.app", "WezTerm"):
            return GraphicsProtocol.ITERM2
    attributes = _LAST_ANSWER.search(answers)
    return GraphicsProtocol.SIXEL if attributes and b"4" in attributes[1].split(b";")[1:] else GraphicsProtocol.BLOCKS
