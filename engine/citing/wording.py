"""Compares the words of a quotation with those of a document, and names what differs. Pure.

What only print does is no difference: case, accents, hyphens, line ends, the marks of notes, of sources and of items of
a list, and what stands between two pages. A sign or a percent beside a number is one, though a search for the words
would not see it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from longsearch.engine.languages.scripts import UNSPACED, WORD
from longsearch.engine.search.quotations.alignment import normal_text

_NUMBER = r"(?:(?<![\w.,)\]])[-−+](?=\d)|[<>≤≥≠]\s?)?\d+(?:[.,:]\d+)*(?:\s?[%‰])?(?!\w)"
_HYPHEN = "[-\u00ad\u2010\u2011\ufffe]"
_TOKEN = re.compile(
    rf"{_NUMBER}|[{UNSPACED}]|(?:(?![{UNSPACED}]){WORD})(?:(?:{_HYPHEN}(?:\s*(?=[^\W\d]))?|['’])(?![{UNSPACED}]){WORD})*"
)
_NOTE = re.compile(r"\d{1,3}")
_FUSED = re.compile(r"([^\W\d_]{2,}?)(?:[\u00b2\u00b3\u00b9\u2070-\u2079]{1,3}|(?<=[a-z]{3})(?<![A-Z])\d{1,2})")
_OPEN_MARK = re.compile(r"\[(?:\d{1,3}[,;–-]\s?)*$")
_SOURCE = re.compile(
    r"\[[A-Z][\w+-]{1,20}\d{2,4}[a-z]?(?:[,;]\s?(?:[A-Z][\w+-]{1,20}\d{2,4}[a-z]?|p{1,2}\.? ?\d+))*\]"
    r"|\((?:(?:[A-Z][\w'’-]*|and|et al\.?|&|von|van|de|der)[,\s]+){1,8}(?:1[5-9]|20)\d\d[a-z]?\)"
)
"""The mark of a source: [Bro86, p. 3], (Codd 1990)."""
_ITEM = re.compile(r"\n\s*(?:(\d{1,2})[.)]|(ˆ))\s")
"""The mark of an item of a list; some fonts have ˆ for a bullet."""
_NO_WORD = re.compile(r"\W*")
_LONGEST_BETWEEN = 150
"""Words that may stand between two pages: a footnote, a heading of the page, the caption of a figure."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that differ."""

    draft: str
    """"" if the document says more."""
    document: str
    """"" if the draft says more."""

    @property
    def shown(self) -> str:
        """What became of what, in a line. It has not passed through `printable`."""
        return f"{self.draft or '(nothing)'} → {self.document or '(nothing)'}"


class _Token(NamedTuple):
    """A word, a number with its sign, or a character of a script without spaces."""

    text: str
    key: str
    """What is the same however it is printed."""
    start: int
    stop: int


def differences(draft: str, document: str, page_starts: Sequence[int] = ()) -> list[Difference]:
    """Return the runs of words that differ, in their order. `page_starts`: offsets in `document`."""
    ours, theirs = _tokens(draft), _tokens(document)
    matcher = SequenceMatcher(None, [one.key for one in ours], [one.key for one in theirs], False)
    return [
        Difference(" ".join(one.text for one in said), " ".join(one.text for one in stands))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
        for said, stands in [(ours[a:b], theirs[c:d])]
        if not _only_prints(said, stands, document, page_starts)
    ]


def whole_words(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return (start, stop) moved outward to the ends of the words that they cut."""
    for token in _TOKEN.finditer(text, max(0, start - 60), min(len(text), stop + 60)):
        if token.start() < start < token.end():
            start = token.start()
        if token.start() < stop < token.end():
            stop = token.end()
    return start, stop


def words(text: str) -> list[str]:
    """Return the words of a text as they are however they are printed; of scripts without spaces, the characters."""
    return [one.key for one in _tokens(text)]


def _tokens(text: str) -> list[_Token]:
    return [_Token(" ".join(found[0].split()), _key(found[0]), *found.span()) for found in _TOKEN.finditer(text)]


def _key(token: str) -> str:
    if any(map(str.isdigit, token)) and not any(map(str.isalpha, token)):
        return re.sub(r"\s", "", token).replace("−", "-").replace(",", ".")
    return normal_text(token).replace(" ", "")


def _only_prints(said: Sequence[_Token], stands: Sequence[_Token], document: str, page_starts: Sequence[int]) -> bool:
    """Whether nothing but print makes these runs of words differ."""
    if [one.key for one in said] == [_without_note(one) for one in stands]:  # models12
        return True
    if "".join(one.key for one in said) == "".join(one.key for one in stands):  # data base, database
        return True
    if not said and all(_is_note(one, document) for one in stands):
        return True
    if not said and stands and _is_mark(stands[0].start, stands[-1].stop, document):
        return True
    if len(stands) > _LONGEST_BETWEEN or not stands:
        return False
    before = len(document[: stands[0].start].rstrip())
    next_word = _NO_WORD.match(document, stands[-1].stop)
    is_between = any(before <= page <= (next_word.end() if next_word else 0) for page in page_starts)
    halves = stands[0].key + stands[-1].key  # a word that is divided between the pages
    return is_between and (not said or (len(said) == 1 and len(stands) > 1 and said[0].key == halves))


def _is_mark(start: int, stop: int, document: str) -> bool:
    """Whether the words from `start` to `stop` are the mark of a source or of an item of a list."""
    source = _SOURCE.match(document, start - 1)
    item = _ITEM.search(document, max(0, start - 20), stop + 2)
    return (source is not None and source.end() - stop < 2) or (
        item is not None and item.span(item.lastindex or 0) == (start, stop)
    )


def _without_note(token: _Token) -> str:
    found = _FUSED.fullmatch(token.text)
    return _key(found[1]) if found and (found[1].islower() or not token.text[-1].isascii()) else token.key


def _is_note(token: _Token, document: str) -> bool:
    """Whether a number is the mark of a note or of a source: [12], or 12 at the very end of a word."""
    before = document[max(0, token.start - 20) : token.start]
    is_beside = bool(before) and not before[-1].isspace() and before[-1] not in "-–(/"
    return bool(_NOTE.fullmatch(token.text)) and (is_beside or bool(_OPEN_MARK.search(before)))
