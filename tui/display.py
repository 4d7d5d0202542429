"""Small pure pieces of display: text made safe, clipped and shortened by cells; scores as bars.

Knows nothing of Textual, documents or searches. Widths are terminal cells: a CJK character takes two.
"""

import os
from pathlib import Path

from rich.cells import cell_len

from engine.printable import printable

_SELECTORS = {0xFE0E: None, 0xFE0F: None, ord("\n"): " "}


def shown(text: str) -> str:
    """`text` on one line and safe for a terminal; each character is as wide alone as in its line.

    Variation selectors go: they change the width of the character before them, and terminals disagree on when.
    """
    return text if text.isascii() and text.isprintable() else printable(text.translate(_SELECTORS))


def below_home(path: str) -> str:
    """The path as a shell's prompt has it: ~ for the person's home."""
    home = str(Path("~").expanduser())
    return "~" + path[len(home) :] if len(home) > 1 and (path + os.sep).startswith(home + os.sep) else path


def clip(text: str, width: int) -> str:
    """`text`, cut at the end with an ellipsis where it is wider than `width` cells."""
    return text if cell_len(text) <= width else _head(text, width - 1) + "…"[: max(width, 0)]


def shorten_middle(path: str, width: int) -> str:
    """`path` in at most `width` cells: the middle gives way first, the file name last."""
    if cell_len(path) <= width:
        return path
    if width < 2:
        return "…"[: max(width, 0)]
    folder, slash, name = path.rpartition("/")
    tail = slash + name
    if slash and cell_len(tail) + 1 <= width:
        return _head(folder, width - 1 - cell_len(tail)) + "…" + tail
    head = _head(name, (width - 1) // 3)
    return head + "…" + _tail(name, width - 1 - cell_len(head))


def _head(text: str, width: int) -> str:
    """The longest start of `text` that fits `width` cells."""
    for index, character in enumerate(text):
        width -= cell_len(character)
        if width < 0:
            return text[:index]
    return text


def _tail(text: str, width: int) -> str:
    return _head(text[::-1], width)[::-1]


def bar(share: float, width: int) -> tuple[str, str]:
    """A thin bar of `width` cells: what is filled to `share` (0 to 1), in half cells, and the rest."""
    full, half = divmod(round(min(max(share, 0.0), 1.0) * width * 2), 2)
    return "━" * full + "╸" * half, "━" * (width - full - half)
