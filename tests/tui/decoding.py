"""Decode pictures from the sequences that a terminal would get. Written apart from what encodes them."""

import base64
import re
import struct
import zlib

import numpy as np


def from_kitty(output: str) -> tuple[dict[str, str], "np.ndarray"]:
    """Return the keys and the pixels of the last picture that is sent by Kitty's protocol."""
    commands = re.findall(r"\x1b_G([^;\x1b]*);?([^\x1b]*)\x1b\\", output)
    keys: dict[str, str] = {}
    data, is_open = "", False
    for written, piece in commands:
        assert len(piece) <= 4_096
        now = dict(pair.split("=") for pair in written.split(","))
        if now.get("a") == "T":
            keys, data, is_open = now, "", True
        if is_open and ("m" in now):
            data += piece
            is_open = now["m"] == "1"
    assert not is_open and keys["f"] == "24" and keys["o"] == "z"
    pixels = zlib.decompress(base64.b64decode(data))
    return keys, np.frombuffer(pixels, np.uint8).reshape(int(keys["v"]), int(keys["s"]), 3)


def from_iterm2(output: str) -> tuple[dict[str, str], "np.ndarray"]:
    """Return the keys and the pixels of the last picture that is sent by iTerm2's protocol, a PNG."""
    found = re.findall(r"\x1b\]1337;File=([^:]*):([^\x07]*)\x07", output)[-1]
    return dict(pair.split("=") for pair in found[0].split(";")), from_png(base64.b64decode(found[1]))


def from_png(data: bytes) -> "np.ndarray":
    """Return the pixels of a PNG with 8 bits, red, green, blue and no filter."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, packed, size = 8, b"", (0, 0)
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length])[0] == zlib.crc32(kind + content)
        if kind == b"IHDR":
            size = struct.unpack(">II", content[:8])
            assert content[8:] == bytes((8, 2, 0, 0, 0))
        packed += content if kind == b"IDAT" else b""
        place += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(size[1], 1 + 3 * size[0])
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(size[1], size[0], 3)


def from_sixel(output: str) -> "np.ndarray":
    """Return the pixels of the last Sixel picture."""
    body = re.findall(r"\x1bP0;1;0q([^\x1b]*)\x1b\\", output)[-1]
    width, height = map(int, re.match(r'"1;1;(\d+);(\d+)', body).groups())  # type: ignore[union-attr]
    colours: dict[int, tuple[int, ...]] = {}
    pixels = np.zeros((-(-height // 6) * 6, width, 3), np.uint8)
    x = y = colour = 0
    for define, pick, repeat, character in re.findall(
        r"#(\d+;2;\d+;\d+;\d+)|#(\d+)|!(\d+)(?=.)|([\x3f-\x7e$-])", body[body.index("#") :]
    ):
        if define:
            number, _, *percent = map(int, define.split(";"))
            colours[number] = tuple(round(share * 255 / 100) for share in percent)
        elif pick:
            colour = int(pick)
        elif repeat:
            pending = int(repeat)
            continue
        elif character == "$":
            x = 0
        elif character == "-":
            x, y = 0, y + 6
        else:
            for bit in range(6):
                if (ord(character) - 63) >> bit & 1:
                    pixels[y + bit, x : x + pending] = colours[colour]
            x += pending
        pending = 1
    return pixels[:height]
