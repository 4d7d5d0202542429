"""Writes pixels as Sixel: bands of six rows, each drawn colour by colour. Pure; loads numpy.

Source: VT330/VT340 Programmer Reference Manual, volume 2, chapter 14.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from longsearch.tui.graphics.canvas import Pixels

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
