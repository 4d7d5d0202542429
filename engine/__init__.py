"""MEANING: what a text says, as vectors and as words, and how to find it again."""

__version__ = "0.1.0"
