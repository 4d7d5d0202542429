"""Tell text from the garbage of plain letters that a font makes whose numbers are no letters, and repair it. Pure.

Such a font shows "The court" for the glyphs 55 75 72 …, which pass for "7KH": each number is 29 below its letter, since
fonts begin with a space as glyph 3. Other programs write the two bytes of each letter in the wrong order. Fonts of
symbols have their letters from U+F020 on.
"""

import re
from collections import Counter
from functools import lru_cache

from longsearch.indexer.extract.clean import is_usual

_LETTERS = "etaoinsrhldcumfpgwybvkxjqz"
_LOGS = dict(
    zip(
        _LETTERS,
        [
            *(-2.0, -2.4, -2.5, -2.6, -2.6, -2.7, -2.7, -2.8, -2.9, -3.2, -3.1, -3.5, -3.5),
            *(-3.7, -3.8, -4.0, -3.9, -4.2, -4.1, -4.2, -4.6, -4.9, -6.5, -6.5, -6.9, -6.9),
        ],
        strict=True,
    )
)
"""Logarithms of how often letters occur in English; near enough for the languages that are written in its letters."""
_CAPITAL, _OTHER = -1.5, -6.0
_SEEN = 4_000
_LEAST_LETTERS, _LEAST_TO_REFUSE = 40, 200
_VOWELS = b"aeiouy"
_NOT_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_SMALL = bytes(range(256)).lower()
_SWAPPED = re.compile("[" + "".join(chr(code << 8) for code in range(0x20, 0x7F)) + "]")
_FIRST_SYMBOL = 0xF000
_SYMBOLS = re.compile("[\uf020-\uf07e]")
_EITHER = re.compile(f"{_SWAPPED.pattern}|{_SYMBOLS.pattern}")
_FEW_VOWELS, _NO_VOWELS = 0.24, 0.12
"""Shares of vowels among letters. Text of 20 languages has 0.3 to 0.5; DNA, proteins and base64 0.17 to 0.25."""
_OTHER_CASE = 32
"""The shift from a capital to its small letter: a text of capitals is a text."""
_FEW_SPACES = 0.06
"""Share of spaces below which the spaces, too, are glyphs of another number."""
_GOOD, _BETTER = -3.3, 0.8
_SWAPPED_SHARE = 0.8


def shift_of(raw: str) -> int:
    """Return how far below its letters each character of a page stands; 0 if they are the letters, or if no shift fits.

    `raw` is a library's output before any cleaning.
    """
    letters = _plain_letters(raw)
    has_spaces = raw.count(" ", 0, _SEEN) > _FEW_SPACES * min(len(raw), _SEEN)
    if has_spaces and _n_vowels(letters) > _FEW_VOWELS * len(letters):  # nearly every page
        return 0
    text = "".join(raw[:_SEEN].split())
    if len(text) < _LEAST_LETTERS or len(letters) < len(text) / 2 or not text.isascii():
        return 0
    counts = Counter(text)
    scores = {shift: _score(counts, shift) for shift in range(-31, 64) if abs(shift) != _OTHER_CASE}
    best = max(scores, key=lambda shift: scores[shift])
    return best if scores[best] > _GOOD and scores[best] - scores[0] > _BETTER else 0


def _score(counts: Counter[str], shift: int) -> float:
    """Return the mean logarithm of how often the characters, moved by `shift`, occur in text."""
    total = 0.0
    for character, n in counts.items():
        moved = chr(max(0, ord(character) + shift))
        if "A" <= moved <= "Z":
            total += n * (_LOGS[moved.lower()] + _CAPITAL)
        elif moved in _LOGS:
            total += n * _LOGS[moved]
        else:
            total += n * (-3.5 if moved in " .,;:'-()" else _OTHER)
    return total / max(1, sum(counts.values()))


def shifted(text: str, shift: int) -> str:
    """Return the text with each character moved; ends of lines stay."""
    return "".join(character if character in "\r\n" else chr(max(0, ord(character) + shift)) for character in text)


def unswapped(raw: str) -> str:
    """Return the text with the bytes of each character in their order, if they seem to be swapped: 䄀 for A.

    Letters of a font of symbols are put in their place, if nearly the whole page has that font.
    """
    if is_usual(raw) or len(raw) < _LEAST_LETTERS // 2 or not _EITHER.search(raw):
        return raw
    if _SYMBOLS.search(raw) and len(_SYMBOLS.findall(raw)) > _SWAPPED_SHARE * len("".join(raw.split())):
        return _SYMBOLS.sub(lambda match: chr(ord(match[0]) - _FIRST_SYMBOL), raw)
    if not _SWAPPED.search(raw, 0, _SEEN):
        return raw
    others = "".join(raw[:_SEEN].split())
    if len(_SWAPPED.findall(others)) < _SWAPPED_SHARE * len(others):
        return raw
    return "".join(
        chr((ord(character) & 0xFF) << 8 | ord(character) >> 8) if 0x100 <= ord(character) < 0x10000 else character
        for character in raw
    )


def is_garbage(raw: str) -> bool:
    """Return whether a page's letters are no text: hundreds of plain letters, and nearly no vowel."""
    letters = _plain_letters(raw)
    return (
        len(letters) >= _LEAST_TO_REFUSE
        and _n_vowels(letters) < _NO_VOWELS * len(letters)
        and len(letters) > len("".join(raw[:_SEEN].split())) / 2
    )


@lru_cache(maxsize=1)  # a page is asked twice: whether it is shifted, and whether it is garbage
def _plain_letters(raw: str) -> bytes:
    """Return the letters a to z at the beginning of a page, capitals as small ones."""
    return raw[:_SEEN].encode("ascii", "ignore").translate(_SMALL, _NOT_LETTERS)


def _n_vowels(letters: bytes) -> int:
    return len(letters) - len(letters.translate(None, _VOWELS))
