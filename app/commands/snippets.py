"""Chooses what a person sees of a hit on the command line: the part of a passage that answers, and what tells documents
apart. Pure; the caller makes it safe to print."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longsearch.engine.types.documents import MetadataValue
    from longsearch.engine.types.results import PassageHit

SHOWN_CHARACTERS = 240
_LONGEST_WORD = 40
"""A cut is moved back to the blank before it if one is that near: Chinese and Thai have none."""


def snippet(passage: "PassageHit") -> str:
    """Return the first 240 characters of a passage, or 240 further on that show its excerpt.

    No word is cut; "…" stands for what is left out.
    """
    text, first = passage.text, 0
    if passage.excerpt is not None and passage.excerpt[1] - passage.start > SHOWN_CHARACTERS:
        first = _between_words(text, min(passage.excerpt[0] - passage.start, len(text) - SHOWN_CHARACTERS))
    stop = _between_words(text, first + SHOWN_CHARACTERS)
    return ("…" if first else "") + text[first:stop].strip() + (" …" if stop < len(text) else "")


def _between_words(text: str, at: int) -> int:
    """Return where the word at an offset begins, or the offset itself in a script without blanks."""
    if at <= 0 or at >= len(text) or text[at].isspace():
        return max(0, min(at, len(text)))
    blank = max(text.rfind(mark, max(0, at - _LONGEST_WORD), at) for mark in " \n")
    return at if blank < 0 else blank + 1


def told(values: "Sequence[MetadataValue]") -> "list[MetadataValue]":
    """Leave out the date of a document that has none but its file's: it is only the day when the file was copied."""
    return [value for value in values if (value.field, value.source) != ("date", "file time")]
