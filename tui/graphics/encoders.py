"""Writes pixels as escape sequences: Kitty's, iTerm2's. Each draws at the cursor. Pure."""

import base64
import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longsearch.tui.graphics.canvas import Pixels

KITTY_ID = 0x6C73
"""The number of our picture: a new one replaces it."""
KITTY_DELETE = f"\x1b_Ga=d,d=I,i={KITTY_ID},q=2\x1b\\"
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
