"""Pure functions for display: make text safe, cut it to a width, draw bars.

Knows nothing of Textual, documents or searches. Widths are terminal cells: a CJK character takes two.
"""

import os

from rich.cells import cell_len

from longsearch.engine.printable import printable

_SELECTORS = {0xFE0E: None, 0xFE0F: None, ord("\n"): " "}


def shown(text: str) -> str:
    """Return `text` on one line, safe for a terminal. Each character is as wide alone as within the line.

    Variation selectors are removed: they change the width of the character before them, and terminals disagree on when.
    """
    return text if text.isascii() and text.isprintable() else printable(text.translate(_SELECTORS))


def one_line(query: str) -> str:
    """Return a query as the query line can hold it: without control characters, which Input sends to the terminal.

    A space at the end stays, for the next word.
    """
    cleaned = " ".join(printable(" ".join(query.split())).replace("\ufffd", "").split())
    return cleaned + (" " if query[-1:] == " " else "")


def below_home(path: str) -> str:
    """Return the path as a shell prompt shows it, with ~ for the home folder."""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.expanduser raises for a user without a home
    return "~" + path[len(home) :] if len(home) > 1 and (path + os.sep).startswith(home + os.sep) else path


def clip(text: str, width: int) -> str:
    """Cut `text` to `width` cells; an ellipsis marks the cut."""
    return text if cell_len(text) <= width else _head(text, width - 1) + "…"[: max(width, 0)]


def shorten_middle(path: str, width: int) -> str:
    """Shorten `path` to `width` cells. The middle is cut first, the file name last."""
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
    """Return the longest start of `text` that fits into `width` cells."""
    if text.isascii():  # an outline of 3,000 pages takes a tenth of the time
        return text[: max(width, 0)]
    for index, character in enumerate(text):
        width -= cell_len(character)
        if width < 0:
            return text[:index]
    return text


def _tail(text: str, width: int) -> str:
    return _head(text[::-1], width)[::-1]


def bar(share: float, width: int) -> tuple[str, str]:
    """Draw a bar of `width` cells. Return the part filled to `share` (0 to 1), exact to half a cell, and the rest."""
    full, half = divmod(round(min(max(share, 0.0), 1.0) * width * 2), 2)
    return "━" * full + "╸" * half, "━" * (width - full - half)
