"""Draws a hit for the results list: its title, the sentence that answers, and where that stands.

Pure: a hit and a width in, styled text out. Every line fits the width.
"""

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from longsearch.engine.metadata_lines import of_document
from longsearch.engine.places import place_of
from longsearch.engine.printable import condensed
from longsearch.engine.types.results import LIST_NAMES, DocumentHit
from longsearch.tui.painting import WrappedLines
from longsearch.tui.text import styles
from longsearch.tui.text.display import clip, shorten_middle, shown
from longsearch.tui.text.highlight import Highlighter
from longsearch.tui.text.text_layout import wrap
from longsearch.tui.text.wording import above_unlikely, same_elsewhere, tally

_LEAST_PATH = 12
"""Cells that the path keeps."""


def hit_lines(
    hit: DocumentHit, root: str, words: Highlighter, width: int, n_lines: int, mark: str = ""
) -> WrappedLines:
    """Return a hit in `width` cells, with up to `n_lines` lines of its sentence; with more than 2, two of its title.

    `mark` stands before the title. Only what decides on the number of lines is done now.

    Its path is relative to `root`; if that is "", to its own folder, whose name stands before it.
    """
    title = _wrapped(mark + (shown(hit.title) or shown(hit.path.rpartition("/")[2])), width, 2 if n_lines > 2 else 1)
    found: list[str] = []
    if hit.passages:
        best = hit.passages[0]
        sentence = condensed(best.sentence) if best.excerpt else ""
        found = _wrapped(shown(sentence), width, n_lines) if sentence else snippet(best.text, words, width, n_lines)
    others = same_elsewhere(hit) if hit.also_at or hit.versions else []
    return WrappedLines(
        len(title) + len(found) + 1 + len(others),
        lambda: [
            *(_lit(line, words, "bold") for line in title),
            *(_lit(line, words, "") for line in found),
            _path_line(hit, root, width),
            *(Content.styled(clip(line, width), styles.MUTED) for line in others),
        ],
    )


def chance_line(hits: Sequence[DocumentHit], line: int, width: int) -> Content:
    """Return the line above the unlikely hits: the first of them is that of index `line`."""
    words = above_unlikely(hits, line)
    return Content.styled(words if cell_len(words) <= width else clip(words.strip("─ "), width), styles.WARNING)


def folded_row(hits: Sequence[DocumentHit], width: int) -> Content:
    """Return the row that stands for the unlikely hits until a person goes down to them."""
    words = clip(tally(hits), width - 2)
    return Content.styled(words + " " * max(width - cell_len(words) - 1, 1) + "↓", styles.MUTED)


def _path_line(hit: DocumentHit, root: str, width: int) -> Content:
    known = of_document(hit.metadata) if hit.score else hit.metadata  # a list of documents is ordered by it
    where = [shown(value.value) for value in known if value.field == "date"][:1]
    for best in hit.passages[:1]:
        where += [clip(shown(place_of(hit.path, best, best.is_ocr)), width // 2), LIST_NAMES[best.furniture]]
    end = _fitting([part for part in where if part], width - _LEAST_PATH - 1)
    room = width - cell_len(end) - 1
    folder = "" if root else shown(hit.folder)
    folder = clip(folder, max(room // 2, 1))  # the path is cut first: the folder's name says most
    path = shorten_middle(
        shown(hit.path.removeprefix((root or hit.root).rstrip("/") + "/")), room - cell_len(folder) - bool(folder)
    )
    path = f"{folder}/{path}" if folder else path
    line = Content.styled(path + " " * (room + 1 - cell_len(path)) + end, styles.MUTED)
    return line.stylize(styles.ACCENT, 0, len(folder)) if folder and path.startswith(f"{folder}/") else line


def _fitting(parts: list[str], width: int) -> str:
    """Join the parts, or as many of the last ones as fit; else the first."""
    for some in (parts, parts[1:], parts[:1]):
        if some and cell_len(words := " · ".join(some)) <= width:
            return words
    return ""


def _lit(line: str, words: Highlighter, style: str) -> Content:
    """Light the query's words in the line."""
    content = Content.styled(line, style)
    for start, stop in words.places(line):
        content = content.stylize(styles.WORD, start, stop)
    return content


_LEAD = 24
"""Characters shown before the first query word if the snippet does not begin with the passage."""


def snippet(passage: str, words: Highlighter, width: int, n_lines: int) -> list[str]:
    """Return at most `n_lines` lines of at most `width` cells.

    They begin with the passage, or shortly before its first query word if that word would not fit otherwise.
    """
    text = shown(condensed(passage[: 40 * width]))
    found_words = words.places(text)[:1]
    if found_words and found_words[0][1] > width * n_lines - 2:
        start = found_words[0][0]
        space = text.find(" ", max(start - _LEAD, 0), start)
        text = "…" + text[space + 1 if space >= 0 else start :]
    return _wrapped(text, width, n_lines)


def _wrapped(text: str, width: int, n_lines: int) -> list[str]:
    """Wrap a text to at most `n_lines` lines of `width` cells; an ellipsis marks what is left out."""
    layout = wrap(text, width)
    lines = [text[slice(*layout.span(line))].rstrip() for line in range(min(n_lines, len(layout)))]
    if len(layout) > n_lines:
        lines[-1] = clip(lines[-1] + " …", width) if len(lines[-1]) + 2 <= width else clip(lines[-1] + "…", width)
    return lines
