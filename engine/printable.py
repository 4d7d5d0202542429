"""Makes text from documents and file names safe to print: no escape sequence ever reaches the terminal."""

import unicodedata

from longsearch.engine.late_patterns import late_pattern

# Cc: control (ESC, BEL, C1); Cs: lone surrogates from undecodable file names; Cf: bidi overrides and other invisible
# formatting. Zl and Zp would break a line that was measured as one line.
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Cf", "Zl", "Zp"})
_SOFT_HYPHEN_AND_JOINERS = {"\u00ad": "", "\u200c": "", "\u200d": "", "\ufeff": ""}

_RUN_OF_ONE_MARK = late_pattern(r"([^\w\s]|_)(?: ?\1){3,}")  # dot leaders, rules, blanks of a form


def printable(text: str, keep: str = "") -> str:
    """Replace every control, surrogate and invisible formatting character in `text` by U+FFFD.

    Characters in `keep` (such as "\\n") stay; a tab becomes one space.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_safe(character) if character not in keep else character for character in text)


def condensed(text: str) -> str:
    """Fit `text` into a line of a list: collapse white space, and shorten a run of one punctuation mark to "…"."""
    return _RUN_OF_ONE_MARK.sub("…", " ".join(text.split()))


def _safe(character: str) -> str:
    if character == "\t":
        return " "
    if character in _SOFT_HYPHEN_AND_JOINERS:
        return _SOFT_HYPHEN_AND_JOINERS[character]
    return "\ufffd" if unicodedata.category(character) in _UNSAFE_CATEGORIES else character
