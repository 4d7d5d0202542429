"""Make text that came from files and names safe to print: no escape sequence ever reaches the terminal."""

import unicodedata

# Cc: control (ESC, BEL, C1); Cs: lone surrogates of undecodable file names; Cf: bidi overrides and other invisible
# formatting. Zl and Zp would break a line that we measured as one.
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Cf", "Zl", "Zp"})
_SOFT_HYPHEN_AND_JOINERS = {"\u00ad": "", "\u200c": "", "\u200d": "", "\ufeff": ""}


def printable(text: str, keep: str = "") -> str:
    """`text` with every control, surrogate and invisible formatting character replaced by U+FFFD.

    Characters in `keep` (such as "\\n") pass; tabs become one space.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_safe(character) if character not in keep else character for character in text)


def _safe(character: str) -> str:
    if character == "\t":
        return " "
    if character in _SOFT_HYPHEN_AND_JOINERS:
        return _SOFT_HYPHEN_AND_JOINERS[character]
    return "\ufffd" if unicodedata.category(character) in _UNSAFE_CATEGORIES else character
