"""Cuts a document into passages of 100 to 160 tokens, and a passage into excerpts of a sentence or two.

Both end at the ends of paragraphs and sentences where possible, in any script. Pure: takes a text and the offsets
of its tokens, returns spans. Knows no model; the same text and tokens always give the same passages.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.types.documents import Passage


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The lengths of spans: in tokens for passages, in words and punctuation marks for excerpts."""

    least: int
    most: int
    tail: int
    """A last span shorter than this joins the span before it."""


_Ends = Callable[[], list[int]]
"""Returns the first tokens after the ends of paragraphs, of sentences, of lines or of words."""
MIN_TOKENS, MAX_TOKENS = 100, 160
_PASSAGE = _Sizes(MIN_TOKENS, MAX_TOKENS, 40)
_EXCERPT = _Sizes(13, 26, 7)
RULES = f"{_PASSAGE.least}-{_PASSAGE.most}-{_PASSAGE.tail}-v3, {_EXCERPT.least}-{_EXCERPT.most}-{_EXCERPT.tail}"
"""Part of every fingerprint: other rules give other passages and excerpts, and so other vectors."""

# The bundled model's mean nDCG@10 of eight dev sets by meaning at 0, .35, .5, .65: .779 .800 .803 .805; of ten by
# hybrid at .5, .6, .7, .8: .878 .879 .876 .878.
EXCERPT_WEIGHT = 0.5
"""The share of the nearest excerpt in a passage's score by meaning, for a model whose config.json gives no other."""

# only after a full stop or the like: a heading, or a line that introduces a formula, belongs to the text after it
_PARAGRAPH_END = late_pattern(r"[.!?…。！？][\"'”’)\]*_」』）]*[ \t]*\n\s*\n\s*")
# full stops that end no sentence: after an initial, an abbreviation or the number of a list item
_NO_END = (
    r"(?<!\b[A-Z]\.)(?<!\b(?:al|cf|vs|pp|Dr|Mr|Ms|Eq|No|St)\.)(?<!\b(?:e\.g|i\.e|Mrs|Fig|Eqs|Sec|Tab|Ref|Vol)\.)"
    r"(?<!\b(?:Figs|Prof|Refs|Secs)\.)(?<!\n\d\.)(?<!\n\d\d\.)"
)
# . ! ? … or their CJK forms, then closing quotes or brackets, then white space, which CJK does not need
_SENTENCE_END = late_pattern(rf"[.!?…]{_NO_END}[\"'”’)\]*_]*\s+(?=[^a-z\s])|[。！？][」』”）]*\s*")
_LINE_END = late_pattern(r"\n\s*")
_WORD_END = late_pattern(r"\s+")
_ENDS = (_PARAGRAPH_END, _SENTENCE_END, _LINE_END, _WORD_END)
_WORD_OR_MARK = late_pattern(r"\w+|[^\w\s]")

# The same for texts of which a quarter or more is in other scripts than Latin and Greek. English stays as it was, also
# around a name in another script: every index of today was made with the expressions above.
_PAIR = "\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_FIVE = "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
_OTHER_SCRIPT = late_pattern(f"[\u0400-\u1cff\uac00-\ud7ff{_PAIR}]+")
# full stops and question marks: Arabic, Urdu, Indic, Burmese, Khmer, Tibetan, Ethiopic, Armenian, and the narrow 。
_STOPS = "؟۔।॥။៕។།༎።፧։｡"
_OTHER_PARAGRAPH_END = late_pattern(rf"[.!?…。！？{_STOPS}][\"'”’)\]*_」』”）»]*[ \t]*\n\s*\n\s*")
_OTHER_SENTENCE_END = late_pattern(
    rf"[.!?…]{_NO_END}[\"'”’)\]*_»]*\s+(?=[^a-zа-џ\s])|[。！？][」』”）]*\s*|[{_STOPS}][\"'”’)\]»」]*\s*"
)
_OTHER_ENDS = (_OTHER_PARAGRAPH_END, _OTHER_SENTENCE_END, _LINE_END, _WORD_END)
# Where spaces part no words, two characters of Chinese or Japanese or five of Thai, Lao, Burmese or Khmer count as a
# word, about the mean length of theirs. Vowel signs belong to their words.
_SIGNS = "\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84"
_OTHER_WORD_OR_MARK = late_pattern(rf"[{_PAIR}]{{1,2}}|[{_FIVE}]{{1,5}}|(?:(?![{_PAIR}{_FIVE}])[\w{_SIGNS}])+|[^\w\s]")


def cut_passages(text: str, token_starts: NDArray[np.int64]) -> list[Passage]:
    """Cut `text` into passages, in order. Its tokens begin at the offsets `token_starts` (n_tokens,), ascending.

    Passages do not overlap, and leave out only white space. The last passage may be longer than 160 tokens, because a
    short tail of the text is joined to it. A passage is shorter than 100 only if no better end is within reach.
    """
    return list(_spans(text, token_starts, _cuts(text, token_starts, _PASSAGE)))


def cut_excerpts(passage: str) -> list[tuple[int, int]]:
    """Return (start, stop) of the excerpts of a passage's text: 13 to 26 words and punctuation marks each.

    Prefers the ends of sentences. Excerpts leave out only white space. They depend on the text alone, not on tokens.
    """
    word = _OTHER_WORD_OR_MARK if _is_in_other_script(passage) else _WORD_OR_MARK
    starts = np.fromiter((match.start() for match in word.finditer(passage)), dtype=np.int64)
    return [(span.start, span.stop) for span in _spans(passage, starts, _cuts(passage, starts, _EXCERPT))]


def _is_in_other_script(text: str) -> bool:
    return not text.isascii() and 4 * sum(map(len, _OTHER_SCRIPT.findall(text))) >= len(text)


def _cuts(text: str, token_starts: NDArray[np.int64], sizes: _Sizes) -> list[int]:
    """Return the index of the first token of every span."""
    n_tokens = len(token_starts)
    patterns = _OTHER_ENDS if _is_in_other_script(text) else _ENDS
    # only when they are asked for: most texts are cut before one asks for the ends of all words
    ends = [cache(partial(_token_index, pattern, text, token_starts)) for pattern in patterns]
    cuts = [0]
    while n_tokens - cuts[-1] > sizes.most:
        cuts.append(_next_cut(cuts[-1], sizes, *ends))
    if len(cuts) > 1 and n_tokens - cuts[-1] < sizes.tail:
        cuts.pop()
    return cuts


def _next_cut(start: int, sizes: _Sizes, paragraphs: _Ends, sentences: _Ends, lines: _Ends, words: _Ends) -> int:
    """Choose the token at which the next span begins: after the best end within reach, else at the limit."""
    long, short = start + sizes.least, start + sizes.tail
    # line ends come late in this list: in a text with hard line breaks, lines end in the middle of sentences
    for least, found in (
        (long, paragraphs),
        (long, sentences),
        (short, paragraphs),
        (short, sentences),
        (short, lines),
        (short, words),
    ):
        ends = found()
        last = bisect_right(ends, start + sizes.most) - 1
        if last >= 0 and ends[last] >= least:
            return ends[last]
    return start + sizes.most


def _token_index(pattern: re.Pattern[str], text: str, token_starts: NDArray[np.int64]) -> list[int]:
    """Return the index of the first token at or after the end of each match."""
    ends = np.array([match.end() for match in pattern.finditer(text)], dtype=np.int64)
    indices: list[int] = np.searchsorted(token_starts, ends).tolist()
    return indices


def _spans(text: str, token_starts: NDArray[np.int64], cuts: list[int]) -> Iterator[Passage]:
    borders = [*cuts, len(token_starts)]
    for first, last in pairwise(borders):
        if first == last:
            continue
        start = int(token_starts[first]) if first else 0  # text before the first token belongs to the first span
        stop = int(token_starts[last]) if last < len(token_starts) else len(text)
        span = text[start:stop]
        start += len(span) - len(span.lstrip())
        stop -= len(span) - len(span.rstrip())
        if start < stop:
            yield Passage(start, stop, last - first)
