"""Part the words of pages whose spaces are so narrow that pdfium takes them for none: "chunkversion", "improvesthe".

Asking for the gaps between all letters would take a third of a page's time. A page shows that it needs it where a small
word is glued to the one before it: few words end like that, so nearly all pages are asked for no gap.
"""

import re
from collections.abc import Sequence
from itertools import compress, pairwise
from typing import Any

from longsearch.indexer.extract.pdf.gaps import Found, are_wide
from longsearch.indexer.extract.pdf.layout import LEAST_SIZE
from longsearch.indexer.extract.pdf.pages import clean_line

_SMALL_WORDS = ("and", "for", "of", "that", "the", "to", "with")
_SMALL_AT_END = re.compile("|".join(f"{word}(?<=[a-z]{{3}}{word})(?![^\\W\\d_])" for word in _SMALL_WORDS))
_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{5,}")
_LEAST_LETTERS = 2
"""Letters of each part: letters that are set apart are no words."""


def with_words_parted(text_page: Any, found: Sequence[Found]) -> Sequence[Found]:
    """Return the lines of a page; if a small word is glued to another on it, with spaces in all its wide gaps."""
    page = "\n".join([one.raw for one in found])
    ends = [match.start() for match in _SMALL_AT_END.finditer(page)]
    if not ends or page.count("\n") != len(found) - 1:  # nearly all pages
        return found
    asked = [(found[page.count("\n", 0, end)], end - page.rfind("\n", 0, end) - 1) for end in ends]
    known = [(one.first + place, one.line.size) for one, place in asked if one.line.size >= LEAST_SIZE]
    if not known or not any(are_wide(text_page, *zip(*known, strict=True))):
        return found
    return [_parted(text_page, one) if one.line.size >= LEAST_SIZE else one for one in found]


def _parted(text_page: Any, found: Found) -> Found:
    """Return a line with a space in each gap of a word that is as wide as those between words."""
    line, raw, first = found
    if line.text != clean_line(raw):  # put right already
        return found
    words = [match.span() for match in _WORD.finditer(raw)]
    places = [place for start, stop in words for place in range(start + 1, stop)]
    wide = are_wide(text_page, [first + place for place in places], [line.size] * len(places))
    gaps = set(compress(places, wide))
    parted, begin = "", 0
    for start, stop in words:
        ends = [start, *(place for place in range(start, stop) if place in gaps), stop]
        if len(ends) > 2 and min(other - one for one, other in pairwise(ends)) >= _LEAST_LETTERS:
            parted += raw[begin:start] + " ".join(raw[one:other] for one, other in pairwise(ends))
            begin = stop
    return Found(line._replace(text=clean_line(parted + raw[begin:])), raw, first) if parted else found
