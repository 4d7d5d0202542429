"""Writes pixels for a terminal: as dots of braille, or as escape sequences of Kitty, iTerm2 or Sixel.

Each sequence draws at the cursor. Pure; numpy is loaded when this is imported. Source for Sixel: VT330/VT340 Programmer
Reference Manual, volume 2, chapter 14.
"""

import base64
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from longsearch.tui.graphics.terminal import KITTY_DELETE, KITTY_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]  # (height, width, 3)


_PIECE = 4_096
"""The most characters of base64 in one sequence (Kitty's protocol)."""


def kitty(pixels: "Pixels", columns: int, rows: int) -> str:
    """Return Kitty's sequences that draw the pixels over `columns` times `rows` cells and leave the cursor."""
    height, width, _ = pixels.shape
    data = base64.b64encode(zlib.compress(pixels.tobytes(), 1)).decode("ascii")
    pieces = [data[start : start + _PIECE] for start in range(0, len(data), _PIECE)]
    keys = f"a=T,f=24,o=z,t=d,s={width},v={height},c={columns},r={rows},i={KITTY_ID},p=1,C=1,q=2,"
    sequences = [
        f"\x1b_G{keys if index == 0 else 'q=2,'}m={int(index < len(pieces) - 1)};{piece}\x1b\\"
        for index, piece in enumerate(pieces)
    ]
    return KITTY_DELETE + "".join(sequences)


def iterm2(pixels: "Pixels", columns: int, rows: int) -> str:
    """Return iTerm2's sequence that draws the pixels over `columns` times `rows` cells."""
    data = png(pixels)
    keys = f"inline=1;size={len(data)};width={columns};height={rows};preserveAspectRatio=0;doNotMoveCursor=1"
    return f"\x1b]1337;File={keys}:{base64.b64encode(data).decode('ascii')}\x07"


def png(pixels: "Pixels") -> bytes:
    """Return the pixels as a PNG file (ISO/IEC 15948): 8 bits, red, green, blue, no filter."""
    import numpy as np

    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with the number of its filter: none
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_LEVELS = 6
"""Levels of red, green and blue: 216 colours, of which a printed page uses a few dozen."""
_BITS = np.array([1, 2, 4, 8, 16, 32], np.uint8)


def sixel(pixels: "Pixels") -> str:
    """Return the sequence that draws the pixels at the cursor, in 216 colours. The last rows fill a band of six."""
    numbers = _quantised(pixels)
    height, width = numbers.shape
    used = np.unique(numbers)
    parts = [f'\x1bP0;1;0q"1;1;{width};{height}', *(_register(int(number)) for number in used)]
    for top in range(0, height, 6):
        parts.append(_band(numbers[top : top + 6]))
    return "".join(parts) + "\x1b\\"


def _quantised(pixels: "Pixels") -> "NDArray[np.uint8]":
    """Return the number of each pixel's colour, (height, width)."""
    levels = (pixels.astype(np.uint16) * (_LEVELS - 1) + 127) // 255
    return np.asarray(levels[..., 0] * _LEVELS**2 + levels[..., 1] * _LEVELS + levels[..., 2], np.uint8)


def _register(number: int) -> str:
    """Return the definition of a colour, in percent."""
    levels = (number // _LEVELS**2, number // _LEVELS % _LEVELS, number % _LEVELS)
    return f"#{number};2;" + ";".join(str(level * 100 // (_LEVELS - 1)) for level in levels)


def _band(rows: "NDArray[np.uint8]") -> str:
    """Return six rows: a line of sixels for each of their colours, over the one before ("$"); then the next band."""
    drawn = []
    for number in np.unique(rows):
        bits = ((rows == number) * _BITS[: len(rows), None]).sum(axis=0).astype(np.uint8)
        drawn.append(f"#{number}{_run_lengths(bits)}")
    return "$".join(drawn) + "-"


def _run_lengths(bits: "NDArray[np.uint8]") -> str:
    """Return sixels, equal ones in a row as "!N" and the sixel."""
    starts = np.flatnonzero(np.diff(bits, prepend=bits[0] ^ 1))
    lengths = np.diff(starts, append=len(bits))
    runs = []
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        character = chr(63 + int(bits[start]))
        runs.append(f"!{length}{character}" if length > 3 else character * length)
    return "".join(runs)


_DOTS = np.array([[1, 8], [2, 16], [4, 32], [64, 128]], np.uint8)
"""The bit of each dot of a braille letter (Unicode 16.0, block U+2800): four rows of two."""
_BRAILLE = 0x2800
_LIGHT = np.array([0.299, 0.587, 0.114], np.float32)  # luma, ITU-R BT.601
_LEAST_CONTRAST = 64.0
"""Of 255: a cell whose pixels differ by less has no ink. White and the colour of a marked sentence differ by 57."""


def braille_lines(pixels: "Pixels") -> list[Strip]:
    """Return a line of cells for every four rows of pixels, two pixels wide each: dark ones are dots on light ground.

    A cell has two colours: its lightest pixel's, and its darkest one's at half its light, for dots are small.
    """
    height, width, _ = pixels.shape
    cells = pixels.reshape(height // 4, 4, width // 2, 2, 3).swapaxes(1, 2)  # (row, column, 4, 2, 3)
    light = cells.astype(np.float32) @ _LIGHT
    darkest, lightest = light.min(axis=(2, 3)), light.max(axis=(2, 3))
    has_ink = (lightest - darkest >= _LEAST_CONTRAST)[..., None, None]
    letters = ((has_ink & (light < ((darkest + lightest) / 2)[..., None, None])) * _DOTS).sum(axis=(2, 3))
    flat, order = cells.reshape(*letters.shape, 8, 3), light.reshape(*letters.shape, 8)
    ink, ground = (
        np.take_along_axis(flat, at[..., None, None], axis=2)[..., 0, :]
        for at in (order.argmin(axis=2), order.argmax(axis=2))
    )
    return [_line(*rows) for rows in zip(letters.tolist(), (ink // 2).tolist(), ground.tolist(), strict=True)]


def _line(letters: list[int], ink: list[list[int]], ground: list[list[int]]) -> Strip:
    segments: list[Segment] = []
    cells = list(zip(ink, ground, strict=True))
    start = 0
    for index in range(1, len(cells) + 1):
        if index == len(cells) or cells[index] != cells[start]:
            dots, paper = (Color.from_rgb(*colour) for colour in cells[start])
            text = "".join(chr(_BRAILLE + letter) if letter else " " for letter in letters[start:index])
            segments.append(Segment(text, Style(color=dots, bgcolor=paper)))
            start = index
    return Strip(segments, len(cells))
