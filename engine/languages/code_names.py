"""Finds the words in names of programs, such as `get`, `user` and `name` in `getUserName`. Pure.

FTS5's tokenizer splits `get_user_name` at the underscores, but takes `getUserName` for one word.
"""

import re

_NAME = re.compile("[A-Za-z0-9]+")
_WORD_BEGINS = re.compile("[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
"""What a name has where a word of it begins: tU in `getUser`, LPar in `HTMLParser`. `PDFs` is one word."""
_LONGEST = 64  # characters: a longer run of letters and digits is encoded data
_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def parts_of_names(text: str) -> list[str]:
    """Return the words in the names of `text`, in small letters, each once and in order; no single letters."""
    if not _WORD_BEGINS.search(text):
        return []
    names = (name for name in _NAME.findall(text) if len(name) <= _LONGEST and _WORD_BEGINS.search(name))
    parts = (part.lower() for name in names for part in _PART.findall(name))
    return list(dict.fromkeys(part for part in parts if len(part) > 1))
