"""Cuts a few lines out of a passage, around the excerpt or the query's words. Pure: text in, lines out."""

from longsearch.engine.printable import condensed
from longsearch.tui.text.display import clip, shown
from longsearch.tui.text.highlight import Highlighter
from longsearch.tui.text.text_layout import wrap

_LEAD = 24
"""Characters shown before the first query word if the snippet does not begin with the passage."""


def snippet(passage: str, words: Highlighter, width: int, n_lines: int, excerpt: int | None = None) -> list[str]:
    """Return at most `n_lines` lines of at most `width` cells.

    They begin with the excerpt, at offset `excerpt` of the passage. If that is None, they begin with the passage, or
    shortly before its first query word if that word would not fit otherwise.
    """
    text = shown(condensed(passage[excerpt or 0 :][: 40 * width]))
    if excerpt:
        text = "…" + text
    found = words.places(text)[:1] if excerpt is None else []
    if found and found[0][1] > width * n_lines - 2:
        start = found[0][0]
        space = text.find(" ", max(start - _LEAD, 0), start)
        text = "…" + text[space + 1 if space >= 0 else start :]
    layout = wrap(text, width)
    lines = [text[slice(*layout.span(line))].rstrip() for line in range(min(n_lines, len(layout)))]
    if len(layout) > n_lines:
        lines[-1] = clip(lines[-1] + " …", width) if len(lines[-1]) + 2 <= width else clip(lines[-1] + "…", width)
    return lines
