"""Where a document's passages begin and end: at ends of paragraphs and sentences, 100 to 160 tokens each; and where,
within a passage, its excerpts do: a sentence or two each.

Pure: text and the places of its tokens in, spans out. Knows no model; the same text always gives the same passages.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.types import Passage


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How long spans are to be, in tokens or whatever is counted instead."""

    least: int
    most: int
    tail: int
    """A last span shorter than this joins the one before."""


MIN_TOKENS, MAX_TOKENS = 100, 160
_PASSAGE = _Sizes(MIN_TOKENS, MAX_TOKENS, 40)
_EXCERPT = _Sizes(13, 26, 7)
RULES = f"{_PASSAGE.least}-{_PASSAGE.most}-{_PASSAGE.tail}-v3, {_EXCERPT.least}-{_EXCERPT.most}-{_EXCERPT.tail}"
"""Part of every fingerprint: vectors are of these passages and excerpts and no others."""

# only after a full stop or its kin: a heading and the line that introduces a formula belong to what follows
_PARAGRAPH_END = re.compile(r"[.!?…。！？][\"'”’)\]*_」』）]*[ \t]*\n\s*\n\s*")
# an initial, an abbreviation, or the number of a list's item: a full stop that ends no sentence
_NO_END = (
    r"(?<!\b[A-Z]\.)(?<!\b(?:al|cf|vs|pp|Dr|Mr|Ms|Eq|No|St)\.)(?<!\b(?:e\.g|i\.e|Mrs|Fig|Eqs|Sec|Tab|Ref|Vol)\.)"
    r"(?<!\b(?:Figs|Prof|Refs|Secs)\.)(?<!\n\d\.)(?<!\n\d\d\.)"
)
# . ! ? … and their CJK kin, closing quotes or brackets, then white space; CJK needs none
_SENTENCE_END = re.compile(rf"[.!?…]{_NO_END}[\"'”’)\]*_]*\s+(?=[^a-z\s])|[。！？][」』”）]*\s*")
_LINE_END = re.compile(r"\n\s*")
_WORD_END = re.compile(r"\s+")
_ENDS = (_PARAGRAPH_END, _SENTENCE_END, _LINE_END, _WORD_END)
_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")


def cut_passages(text: str, token_starts: NDArray[np.int64]) -> list[Passage]:
    """Cut `text`, whose tokens begin at `token_starts` (n_tokens,) ascending, into passages in order.

    Passages do not overlap and leave out nothing but white space. One is longer than 160 tokens only where the tail
    was joined to it, shorter than 100 only where text or a paragraph's end leaves no choice.
    """
    return list(_spans(text, token_starts, _cuts(text, token_starts, _PASSAGE)))


def cut_excerpts(passage: str) -> list[tuple[int, int]]:
    """(start, stop) of the excerpts of a passage's text: 13 to 26 words and signs each, ends of sentences preferred.

    They leave out nothing but white space, and need no tokens: whoever has the text knows them.
    """
    starts = np.fromiter((match.start() for match in _WORD_OR_SIGN.finditer(passage)), dtype=np.int64)
    return [(span.start, span.stop) for span in _spans(passage, starts, _cuts(passage, starts, _EXCERPT))]


def _cuts(text: str, token_starts: NDArray[np.int64], sizes: _Sizes) -> list[int]:
    """The first token of every span."""
    n_tokens = len(token_starts)
    ends = [_token_index(pattern, text, token_starts) for pattern in _ENDS]
    cuts = [0]
    while n_tokens - cuts[-1] > sizes.most:
        cuts.append(_next_cut(cuts[-1], sizes, *ends))
    if len(cuts) > 1 and n_tokens - cuts[-1] < sizes.tail:
        cuts.pop()
    return cuts


def _next_cut(
    start: int, sizes: _Sizes, paragraphs: list[int], sentences: list[int], lines: list[int], words: list[int]
) -> int:
    """The token at which the next span begins: the best end within reach, else the hard limit."""
    long, short = start + sizes.least, start + sizes.tail
    # lines come late: in a text with hard line breaks they end in the middle of sentences
    for least, ends in (
        (long, paragraphs),
        (long, sentences),
        (short, paragraphs),
        (short, sentences),
        (short, lines),
        (short, words),
    ):
        last = bisect_right(ends, start + sizes.most) - 1
        if last >= 0 and ends[last] >= least:
            return ends[last]
    return start + sizes.most


def _token_index(pattern: re.Pattern[str], text: str, token_starts: NDArray[np.int64]) -> list[int]:
    """Index of the first token at or after the end of each match."""
    ends = np.fromiter((match.end() for match in pattern.finditer(text)), dtype=np.int64)
    found: list[int] = np.searchsorted(token_starts, ends).tolist()
    return found


def _spans(text: str, token_starts: NDArray[np.int64], cuts: list[int]) -> Iterator[Passage]:
    borders = [*cuts, len(token_starts)]
    for first, last in pairwise(borders):
        if first == last:
            continue
        start = int(token_starts[first]) if first else 0  # what comes before the first token has none of its own
        stop = int(token_starts[last]) if last < len(token_starts) else len(text)
        span = text[start:stop]
        start += len(span) - len(span.lstrip())
        stop -= len(span) - len(span.rstrip())
        if start < stop:
            yield Passage(start, stop, last - first)
