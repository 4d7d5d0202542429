"""Which words of a query to light up in what it found. Pure; a guess for the eye, it decides nothing about a search."""

import re

_SHORT_WORDS = (
    "a about an and are as at be by can do does for from had has have how i if in into is it its of on or than that "
    "the their then there these they this to was we were what when where which who why will with you your"
)
_UNLIT = frozenset(_SHORT_WORDS.split())
# An excluded word or phrase, or which files, a "phrase", or a plain word.
_TOKEN = re.compile(
    r"""(?P<out>(?<!\S)(?:-?(?:in|type):|-)(?:"[^"]*"?|[^\s"]+))|"(?P<phrase>[^"]+)"?|(?P<word>\w+(?:['’]\w+)*)"""
)
_QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"'))
_WORD_CHARACTERS = re.compile(r"\w+")
_BETWEEN = r"\W+"
_FIRST_CJK = "\u2e80"
_MIN_STEM = 4
"""Words at least this long also light up with an ending: model in models."""
_MIN_PREFIX = 3
"""The last word may still be being typed: at least this long it lights up whatever starts with it."""
MAX_WORDS = 64
"""A pasted page is a query too; its first words are lit."""


def word_pattern(query: str) -> re.Pattern[str] | None:
    """What finds the words and phrases of `query` in a text, in any case; None where it has none worth lighting."""
    pieces: dict[str, None] = {}
    for token in _TOKEN.finditer(query := query.translate(_QUOTES)):
        if phrase := token["phrase"]:
            pieces[_phrase(phrase)] = None
        elif (word := token["word"]) and word.lower() not in _UNLIT:
            pieces[_word(word, is_last=token.end() == len(query))] = None
        if len(pieces) == MAX_WORDS:
            break
    pieces.pop("", None)
    longest_first = sorted(pieces, key=len, reverse=True)
    return re.compile("|".join(longest_first), re.IGNORECASE) if longest_first else None


def _word(word: str, is_last: bool) -> str:
    if word >= _FIRST_CJK:
        return re.escape(word)  # written without spaces: it may be anywhere
    ending = ""
    if is_last and len(word) >= _MIN_PREFIX:
        ending = r"\w*"
    elif len(word) >= _MIN_STEM and word.isalpha():
        ending = r"\w{0,3}"
    return rf"(?<!\w){re.escape(word)}{ending}(?!\w)"


def _phrase(phrase: str) -> str:
    words = [re.escape(word) for word in _WORD_CHARACTERS.findall(phrase)]
    return rf"(?<!\w){_BETWEEN.join(words)}(?!\w)" if words else ""
