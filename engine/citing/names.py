"""Tells lines of authors and of where they work from sentences: they support no claim. Pure."""

import re

_ADDRESS = re.compile(r"\S*@\S+|(?:https?://|www\.)\S+|\{[^{}\s]*\}")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BETWEEN = frozenset({"and", "of", "und", "et", "de", "la", "von", "van", "for", "at", "y", "e", "en", "the", "für"})
"""Words that stand between names."""
_SHARE = 0.8
"""Share of words with a capital letter from which a line counts as one of names."""
_ENDED = re.compile(r"[.!?]\W*\Z")


def is_names_alone(text: str) -> bool:
    """Whether a text is nothing but names, titles and addresses, such as *Mike Burrows, Google Inc.*"""
    plain = _ADDRESS.sub(" ", text)
    words: list[str] = [word for word in _WORD.findall(plain) if word not in _BETWEEN]
    if not words:
        return True
    if plain.isupper() and _ENDED.search(plain):  # a sentence in capitals
        return False
    return sum(word[0].isupper() for word in words) >= _SHARE * len(words)
