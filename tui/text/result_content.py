"""Draws a hit for the results list: title and score, path and page, a few lines of the best passage.

Pure: a hit and a width in, styled text out. Every line fits the width.
"""

from rich.cells import cell_len
from textual.content import Content

from longsearch.engine.amounts import counted
from longsearch.engine.places import place_name
from longsearch.engine.printable import condensed
from longsearch.engine.types.results import DocumentHit
from longsearch.tui.text import styles
from longsearch.tui.text.display import bar, clip, shorten_middle, shown
from longsearch.tui.text.highlight import Highlighter
from longsearch.tui.text.text_layout import wrap
from longsearch.tui.text.wording import ALL_BY_CHANCE, BELOW_BY_CHANCE

_BAR_WIDTH = 5
_MIN_WIDTH_WITH_BAR = 36
_LEAST_PATH = 12
"""Cells that the path keeps."""


def hit_content(hit: DocumentHit, root: str, words: Highlighter, width: int, n_lines: int) -> Content:
    """Return the hit in `width` cells, with `n_lines` lines of its best passage.

    Its path is relative to `root`; if that is "", to its own folder, whose name stands before it.
    """
    lines = [_title_line(hit, words, width), _path_line(hit, root, width)]
    if hit.passages:
        best = hit.passages[0]
        excerpt = best.excerpt[0] - best.start if best.excerpt else None
        lines += [_lit(line, words, "") for line in snippet(best.text, words, width, n_lines, excerpt)]
    return Content("\n").join(lines)


def chance_line(is_first: bool, width: int) -> Content:
    """Return the line above the first hit that is no better than chance; `is_first`: it is the best hit of all."""
    return Content.styled(clip(ALL_BY_CHANCE if is_first else BELOW_BY_CHANCE, width) + "\n", styles.WARNING)


def relative_path(path: str, root: str) -> str:
    """Return `path` relative to `root`, safe to show; a path outside `root` stays whole."""
    return shown(path.removeprefix(root.rstrip("/") + "/"))


def _title_line(hit: DocumentHit, words: Highlighter, width: int) -> Content:
    score = f" {hit.score:.2f}" if hit.score else ""  # a list without a query has no scores
    full, rest = bar(hit.score, _BAR_WIDTH) if score and width >= _MIN_WIDTH_WITH_BAR else ("", "")
    room = width - len(score) - len(full + rest) - 1
    title = _lit(clip(shown(hit.title) or shown(hit.path.rpartition("/")[2]), room), words, "bold")
    gap = " " * (room + 1 - title.cell_length)
    return Content.assemble(title, gap, (full, styles.ACCENT), (rest, styles.FAINT), (score, styles.MUTED))


def _path_line(hit: DocumentHit, root: str, width: int) -> Content:
    where = [shown(hit.date)] if hit.date else []
    if hit.passages and (place := _place(hit, width)):
        where.append(place)
    if len(hit.passages) > 1:
        where.append(counted(len(hit.passages), "passage"))
    end = _fitting(where, width - _LEAST_PATH - 1)
    room = width - cell_len(end) - 1
    folder = "" if root else shown(hit.folder)
    folder = clip(folder, max(room // 2, 1))  # the path is cut first: the folder's name says most
    path = shorten_middle(relative_path(hit.path, root or hit.root), room - cell_len(folder) - bool(folder))
    path = f"{folder}/{path}" if folder else path
    line = Content.styled(path + " " * (room + 1 - cell_len(path)) + end, styles.MUTED)
    return line.stylize(styles.ACCENT, 0, len(folder)) if folder and path.startswith(f"{folder}/") else line


def _fitting(parts: list[str], width: int) -> str:
    """Join as many of the parts as fit: without the first, then without the last."""
    for some in (parts, parts[1:], parts[1:-1], parts[:1]):
        if some and cell_len(words := " · ".join(some)) <= width:
            return words
    return ""


def _place(hit: DocumentHit, width: int) -> str:
    best = hit.passages[0]
    return clip(
        shown(place_name(hit.path, best.page, best.heading, best.n_pages, best.is_ocr, best.page_label)), width // 2
    )


def _lit(line: str, words: Highlighter, style: str) -> Content:
    """Light the query's words in the line."""
    content = Content.styled(line, style)
    for start, stop in words.places(line):
        content = content.stylize(styles.WORD, start, stop)
    return content


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
    found_words = words.places(text)[:1] if excerpt is None else []
    if found_words and found_words[0][1] > width * n_lines - 2:
        start = found_words[0][0]
        space = text.find(" ", max(start - _LEAD, 0), start)
        text = "…" + text[space + 1 if space >= 0 else start :]
    layout = wrap(text, width)
    lines = [text[slice(*layout.span(line))].rstrip() for line in range(min(n_lines, len(layout)))]
    if len(layout) > n_lines:
        lines[-1] = clip(lines[-1] + " …", width) if len(lines[-1]) + 2 <= width else clip(lines[-1] + "…", width)
    return lines
