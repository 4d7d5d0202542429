"""Finds a quotation whose text goes on behind what a page puts in its way: a figure, a table, a footnote. Pure.

The two parts must be those of the quotation to the letter, the first must end a line and the second begin one. What
stands between them must hold a caption, begin with a footnote, or hold the end of a page.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from longsearch.engine.search.quotations.alignment import normal_form, normal_text

_CAPTION = re.compile(
    r"(?:Fig(?:ure|s?\.)?|FIG(?:URE|\.)?|Tab(?:le|\.)?|TABLE|Listing|Algorithm|Scheme|Plate|Chart|Abb(?:ildung|\.)?"
    r"|Tabelle|Tableau|Figura|Tabla|Tabela|Tabella|Rys(?:unek|\.)?)\s?(?:\d+|[IVX]+)\b"
)
_NOTE = re.compile(r"(?:\d{1,2}|[*†‡§¶∗]{1,2})\s?(?:[^\W\d_]|[“\"'(]).")
_MOST_WORDS = 150
"""Words between the two parts."""
_FEWEST_LETTERS = 4
"""Letters of either part; fewer stand at the end of too many lines."""
_LINE = re.compile(r"[^\n]+")


def span_around(quotation: str, text: str, page_starts: Sequence[int]) -> tuple[int, int] | None:
    """Return (start, stop) of the two parts and of what stands between; None if the text says it in no such way.

    `page_starts`: offsets in `text`.
    """
    wanted = normal_text(quotation).replace(" ", "")
    form = normal_form(text)
    places = [place for letter, place in zip(form.text, form.places, strict=True) if letter != " "]
    letters = form.text.replace(" ", "")
    lines = [found.span() for found in _LINE.finditer(text)]
    at = [(bisect_left(places, start), bisect_left(places, stop)) for start, stop in lines]
    for second in range(1, len(lines)):
        for n in _splits(wanted, letters, at[second][0]):
            for first in _lines_before(text, lines, second):
                said = letters.endswith(wanted[:n], 0, at[first][1])
                if said and _is_in_the_way(text, lines[first : second + 1], page_starts):
                    return places[at[first][1] - n], places[at[second][0] + len(wanted) - n - 1] + 1
    return None


def _lines_before(text: str, lines: Sequence[tuple[int, int]], second: int) -> Iterator[int]:
    """Yield the lines that are near enough before one, the nearest first."""
    for first in range(second - 1, -1, -1):
        if len(text[lines[first][1] : lines[second][0]].split()) > _MOST_WORDS:
            return
        yield first


def _splits(wanted: str, letters: str, at: int) -> list[int]:
    """Return where the letters at `at` may go on with what is wanted, to its end."""
    begin, found, n = letters[at : at + _FEWEST_LETTERS], [], _FEWEST_LETTERS
    while len(begin) == _FEWEST_LETTERS and (n := wanted.find(begin, n)) >= 0:
        if letters.startswith(wanted[n:], at):
            found.append(n)
        n += 1
    return found


def _is_in_the_way(text: str, lines: Sequence[tuple[int, int]], page_starts: Sequence[int]) -> bool:
    """Whether a caption, a footnote or the end of a page stands between the first and the last of these lines."""
    between = lines[1:-1]
    if any(_CAPTION.match(text, start) for start, _ in between):
        return True
    if between and _NOTE.match(text, between[0][0]):
        return True
    return any(lines[0][1] <= page <= lines[-1][0] for page in page_starts)
