"""Find paragraphs and a title from the positions of the lines on a PDF's page.

Pure functions. Two lines are joined only if the next line's first word would not have fitted on the line before. That
rule keeps tables, code and verse in their lines without recognising them. It covers horizontal left-to-right text;
without positions (`right` <= `left`) lines keep their ends. Columns follow the order of the PDF's content stream.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, repeat
from statistics import median
from typing import Any, NamedTuple, TypeVar

from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.pdf.pages import FIRST_CJK, HYPHENS, SENTENCE_END, breaks_word, is_one_run
from longsearch.indexer.extract.titles import is_title_of_paper
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS

JOINED, LINE, PARAGRAPH = " ", "\n", "\n\n"
_FOOTNOTE_MARK = re.compile(r"(?<=[a-z])1$|\s*[*†‡∗⋆]+$")
_ENDS = frozenset(SENTENCE_END)
_NEIGHBOURS = 8
"""Lines before and after that show where the column's right edge is."""
_WIDE_GAP = 1.35
"""Ratio to the usual line distance that separates paragraphs. Papers use 1.5 and more; sub- and superscripts 1.2."""
_SAME_COLUMN = 2
"""Ratio to the usual line distance: lines whose left edges differ by less stand in one column."""
_OTHER_SIZE = 1.12
"""Ratio of two lines' font sizes beyond which one of them is a heading."""
_TITLE_SIZE = 1.15
"""Least ratio of a title's font size to the page's usual one."""
_COVER_SIZE = 1.02
_COVER_LINES = 3
LEAST_SIZE = 2.0
"""Points; a smaller size is in a font's own units."""
_LEADING_MARK = re.compile(r"^[:;,.*†‡§–—-]+\s+")
_TITLE_WITHIN = 30
"""Lines from the top of the page that are searched for a title."""


class Line(NamedTuple):
    """A line of a page, its characters cleaned. Positions are in points from the bottom left of the page."""

    text: str
    left: float = 0.0
    right: float = 0.0
    baseline: float = 0.0
    """Baseline of the first character."""
    end_baseline: float = 0.0
    """Baseline of the last character: lower if the library joined two lines at a hyphenated word."""
    size: float = 0.0
    """Font size of the first character."""
    is_estimated: bool = False
    """Whether the size was estimated from the line's width."""
    cells: tuple["Cell", ...] = ()
    """The parts of the line between wide gaps, if it has such gaps."""
    ends: bool = False
    """Whether the line is a row: its end stays."""


class Cell(NamedTuple):
    """A part of a line between two wide gaps."""

    text: str
    left: float
    right: float


_Tuple = TypeVar("_Tuple", bound=tuple[Any, ...])


def tuples(kind: type[_Tuple], rows: Iterable[tuple[Any, ...]]) -> list[_Tuple]:
    """Return a named tuple for each row, which has all fields. Calling its class would take three times as long."""
    return list(map(tuple.__new__, repeat(kind), rows))


def with_separators(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return each line's text with its separator: a space, "\\n", "\\n\\n", or nothing within a broken word."""
    pitch, rights = _usual_pitch(lines), [line.right for line in lines]
    parts = []
    for index, (line, following) in enumerate(pairwise(lines)):
        text, separator = line.text, _separator(lines, index, pitch, rights)
        if separator == PARAGRAPH or (text[-1:] < FIRST_CJK and text[-1:] not in HYPHENS):  # most lines
            parts.append(text + separator)
        elif breaks_word(text, following.text):
            parts.append(text[:-1])
        else:
            parts.append(text if separator == JOINED and is_one_run(text, following.text) else text + separator)
    return (*parts, *(line.text + LINE for line in lines[-1:]))


def _separator(lines: Sequence[Line], index: int, pitch: float, rights: Sequence[float]) -> str:
    """Return what stands between a line and the next one; `rights` is where the lines end."""
    line, following = lines[index], lines[index + 1]
    if line.ends or following.ends or line.right <= line.left or following.right <= following.left:
        return LINE
    if not line.size == following.size > 0 and _sizes_differ(line, following):
        return PARAGRAPH
    ended = line.text[-1:] in _ENDS
    drop = line.end_baseline - following.baseline
    if drop < -0.5 * line.size:  # upwards, so `following` stands in the next column
        return PARAGRAPH if ended else JOINED
    if pitch and drop > _WIDE_GAP * pitch:
        return PARAGRAPH
    if ended and following.left > line.left + 0.8 * line.size and line.end_baseline == line.baseline:
        return PARAGRAPH  # the first line of a paragraph is indented
    if _had_room(lines, index, pitch, rights):
        return PARAGRAPH if ended else LINE
    return JOINED


def _sizes_differ(line: Line, following: Line) -> bool:
    small, large = line.size, following.size
    if small > large:
        small, large = large, small
        if following.text[:1].islower():  # after a large initial
            return False
    return small <= 0 or large / small > _OTHER_SIZE


def _had_room(lines: Sequence[Line], index: int, pitch: float, rights: Sequence[float]) -> bool:
    """Return whether the first word of the next line would have fitted at the end of a line.

    The column of a line reaches as far to the right as one of its neighbours with about the same left edge.
    """
    line, following = lines[index], lines[index + 1]
    text = following.text
    character_width = (following.right - following.left) / len(text)
    n_characters = text.find(" ")  # of the first word
    end = line.right + ((n_characters if n_characters >= 0 else len(text)) + 1) * character_width
    begin, stop = max(0, index - _NEIGHBOURS), index + _NEIGHBOURS + 1
    if end >= max(rights[begin:stop]):
        return False
    low, high = line.left - _SAME_COLUMN * pitch, line.left + _SAME_COLUMN * pitch
    for other in lines[begin:stop]:  # noqa: SIM110 - no generator: this is asked for nearly every line
        if end < other.right and low <= other.left <= high:
            return True
    return False


def _usual_pitch(lines: Sequence[Line]) -> float:
    """Return the median distance between lines, in points; 0 if no line stands below another."""
    drops = [line.end_baseline - following.baseline for line, following in pairwise(lines)]
    downwards = [drop for drop in drops if drop > 1]
    return median(downwards) if downwards else 0.0


def title_in(lines: Sequence[Line]) -> str:
    """Return the text in the largest type near the top of a page that looks like a title, or ""."""
    sized = [_with_apparent_size(line) for line in lines]
    lowest = sorted((line.baseline for line in lines), reverse=True)[:_TITLE_WITHIN][-1:]
    top = [line for line in sized if line.size > 0 and line.baseline >= lowest[0]]  # a frame may be drawn last
    if not top:
        return ""
    usual = median(line.size for line in sized)
    for size in sorted({round(line.size, 1) for line in top}, reverse=True):
        if size < _TITLE_SIZE * usual:
            break
        title = _joined_title(_first_run(top, size))
        if is_title_of_paper(title):
            return title
    # A cover sheet has no larger type, only a title of two or three lines in a slightly larger one than what follows.
    run = _first_run(top, round(top[0].size, 1))
    title = _joined_title(run) if 1 < len(run) <= _COVER_LINES and top[0].size > _COVER_SIZE * usual else ""
    return title if is_title_of_paper(title) else ""


def _joined_title(lines: Sequence[str]) -> str:
    title = _FOOTNOTE_MARK.sub("", one_line(" ".join(lines), MAX_TITLE_CHARACTERS))
    return _LEADING_MARK.sub("", title)


def _with_apparent_size(line: Line) -> Line:
    """Return the line with its font size estimated from its width if the font does not tell it.

    A Type 3 font, as of old TeX, has its own units: all sizes seem to be 0.1. On average a letter is half as wide as
    the font is large; a title, which is 1.6 times as large as the text, stands out all the same.
    """
    if not 0 < line.size < LEAST_SIZE or not line.text:
        return line
    return line._replace(size=2 * (line.right - line.left) / len(line.text), is_estimated=True)


def _first_run(lines: Sequence[Line], size: float) -> list[str]:
    """Return the first consecutive lines of about `size`; [] if they are the large initial words of a sentence."""
    run: list[str] = []
    for line in lines:
        if abs(line.size - size) <= (0.15 if line.is_estimated else 0.06) * size:
            run.append(line.text)
        elif run:
            return [] if line.text[:1].islower() and not line.text.startswith("by ") else run
    return run
