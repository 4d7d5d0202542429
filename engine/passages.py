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
RULES = f"{MIN_TOKENS}-{MAX_TOKENS}-{_TAIL_TOKENS}-v2"
"""Part of every fingerprint: vectors are of these passages and no others."""

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


def cut_passages(text: str, token_starts: NDArray[np.int64]) -> list[Passage]:
    """Cut `text`, whose tokens begin at `token_starts` (n_tokens,) ascending, into passages in order.

    Passages do not overlap and leave out nothing but white space. One is longer than 160 tokens only where the tail
    was joined to it, shorter than 100 only where text or a paragraph's end leaves no choice.
    """
    n_tokens = len(token_starts)
    paragraphs, sentences, lines = (
        _token_index(pattern, text, token_starts) for pattern in (_PARAGRAPH_END, _SENTENCE_END, _LINE_END)
    )
    cuts = [0]
    while n_tokens - cuts[-1] > MAX_TOKENS:
        cuts.append(_next_cut(cuts[-1], paragraphs, sentences, lines))
    if len(cuts) > 1 and n_tokens - cuts[-1] < _TAIL_TOKENS:
        cuts.pop()
    return list(_spans(text, token_starts, cuts))


def _next_cut(start: int, paragraphs: NDArray[np.int64], sentences: NDArray[np.int64], lines: NDArray[np.int64]) -> int:
    """The token at which the next passage begins: the best end within reach, else the hard limit."""
    long, short = start + MIN_TOKENS, start + _TAIL_TOKENS
    # lines come last: in a text with hard line breaks they end in the middle of sentences
    for least, ends in (
        (long, paragraphs),
        (long, sentences),
        (short, paragraphs),
        (short, sentences),
        (short, lines),
    ):
        last = int(np.searchsorted(ends, start + MAX_TOKENS, side="right")) - 1
        if last >= 0 and ends[last] >= least:
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
        start = int(token_starts[first]) if first else 0  # what comes before the first token has none of its own
        stop = int(token_starts[last]) if last < len(token_starts) else len(text)
        span = text[start:stop]
        start += len(span) - len(span.lstrip())
        stop -= len(span) - len(span.rstrip())
        if start < stop:
            yield Passage(start, stop, last - first)
