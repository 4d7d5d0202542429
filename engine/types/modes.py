"""The modes of a search. They stand alone: the app's first frame shows them, and needs no other type."""

from enum import StrEnum


class SearchMode(StrEnum):
    """How a search matches a query."""

    HYBRID = "hybrid"
    MEANING = "meaning"
    WORDS = "words"
