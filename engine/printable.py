"""Make text that came from files and names safe to print: no escape sequence ever reaches the terminal."""

import re
import unicodedata

# Cc: control (ESC, BEL, C1); Cs: lone surrogates of undecodable file names; Cf: bidi overrides and other invisible
# formatting. Zl and Zp would break a line that we measured as one.
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Cf", "Zl", "Zp"})
_SOFT_HYPHEN_AND_JOINERS = {"\u00ad": "", "\u200c": "", "\u200d": "", "\ufeff": ""}

_RUN_OF_SIGNS = re.compile(r"([^\w\s]|_)(?: ?\1){3,}")  # dots up to a page's number, rules, a form's blanks


def printable(text: str, keep: str = "") -> str:
    """`text` with every control, surrogate and invisible formatting character replaced by U+FFFD.

    Characters in `keep` (such as "\\n") pass; tabs become one space.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_safe(character) if character not in keep else character for character in text)


def in_short(text: str) -> str:
    """`text` on one line for a list of results: white space as one space, a sign again and again as an ellipsis."""
    return _RUN_OF_SIGNS.sub("…", " ".join(text.split()))


def _safe(character: str) -> str:
    if character == "\t":
        return " "
    if character in _SOFT_HYPHEN_AND_JOINERS:
        return _SOFT_HYPHEN_AND_JOINERS[character]
    return "\ufffd" if unicodedata.category(character) in _UNSAFE_CATEGORIES else character
