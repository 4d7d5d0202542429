"""Where a document's passages begin and end: at ends of paragraphs and sentences, 100 to 160 tokens each.

Pure: text and the places of its tokens in, spans out. Knows no model; the same text always gives the same passages.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.types import Passage

MIN_TOKENS, MAX_TOKENS = 100, 160
_TAIL_TOKENS = 40  # a last passage shorter than this joins the one before
RULES = f"{MIN_TOKENS}-{MAX_TOKENS}-{_TAIL_TOKENS}-v1"
"""Part of every fingerprint: vectors are of these passages and no others."""

_PARAGRAPH_END = re.compile(r"\n\s*\n\s*")
# . ! ? … and their CJK kin, closing quotes or brackets, then white space; CJK needs none
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+(?=[^a-z\s])|[。！？][」』”）]*\s*|\n")


def cut_passages(text: str, token_starts: NDArray[np.int64]) -> list[Passage]:
    """Cut `text`, whose tokens begin at `token_starts` (n_tokens,) ascending, into passages in order.

    Passages do not overlap and leave out nothing but white space. One is longer than 160 tokens only where the tail
    was joined to it, shorter than 100 only where text or a paragraph's end leaves no choice.
    """
    n_tokens = len(token_starts)
    paragraph_ends = _token_index(_PARAGRAPH_END, text, token_starts)
    sentence_ends = _token_index(_SENTENCE_END, text, token_starts)
    cuts = [0]
    while n_tokens - cuts[-1] > MAX_TOKENS:
        cuts.append(_next_cut(cuts[-1], paragraph_ends, sentence_ends))
    if len(cuts) > 1 and n_tokens - cuts[-1] < _TAIL_TOKENS:
        cuts.pop()
    return list(_spans(text, token_starts, cuts))


def _next_cut(start: int, paragraph_ends: NDArray[np.int64], sentence_ends: NDArray[np.int64]) -> int:
    """The token at which the next passage begins: the best end within reach, else the hard limit."""
    for least in (MIN_TOKENS, _TAIL_TOKENS):
        for ends in (paragraph_ends, sentence_ends):
            last = int(np.searchsorted(ends, start + MAX_TOKENS, side="right")) - 1
            if last >= 0 and ends[last] >= start + least:
                return int(ends[last])
    return start + MAX_TOKENS


def _token_index(pattern: re.Pattern[str], text: str, token_starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index of the first token at or after the end of each match."""
    ends = np.fromiter((match.end() for match in pattern.finditer(text)), dtype=np.int64)
    return np.searchsorted(token_starts, ends)


def _spans(text: str, token_starts: NDArray[np.int64], cuts: list[int]) -> Iterator[Passage]:
    borders = [*cuts, len(token_starts)]
    for first, last in pairwise(borders):
        if first == last:
            continue
        start = int(token_starts[first])
        stop = int(token_starts[last]) if last < len(token_starts) else len(text)
        span = text[start:stop]
        start += len(span) - len(span.lstrip())
        stop -= len(span) - len(span.rstrip())
        if start < stop:
            yield Passage(start, stop, last - first)
