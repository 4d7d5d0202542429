"""A few lines of a passage, cut where the query's words are. Pure: text in, lines out."""

import re

from engine.printable import in_short
from tui.display import clip, shown
from tui.text_layout import wrap

_LEAD = 24
"""Characters shown before the first query word when the passage's start must give way."""


def snippet(
    passage: str, words: re.Pattern[str] | None, width: int, n_lines: int, excerpt: int | None = None
) -> list[str]:
    """At most `n_lines` lines of at most `width` cells: the passage from the excerpt that begins there; where none is
    known, its start, or the part with its first query word.
    """
    text = shown(in_short(passage[excerpt or 0 :][: 40 * width]))
    if excerpt:
        text = "…" + text
    found = words.search(text) if words and excerpt is None else None
    if found and found.end() > width * n_lines - 2:
        space = text.find(" ", max(found.start() - _LEAD, 0), found.start())
        text = "…" + text[space + 1 if space >= 0 else found.start() :]
    layout = wrap(text, width)
    lines = [text[slice(*layout.span(line))].rstrip() for line in range(min(n_lines, len(layout)))]
    if len(layout) > n_lines:
        lines[-1] = clip(lines[-1] + " …", width) if len(lines[-1]) + 2 <= width else clip(lines[-1] + "…", width)
    return lines
