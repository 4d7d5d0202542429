"""Errors a person may see: each says what is wrong and what to do about it."""


class LongsearchError(Exception):
    """Something a person can act on. `message` says what is wrong, `hint` what to do (may be empty)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ModelError(LongsearchError):
    """A model cannot be loaded or run."""


class StoreError(LongsearchError):
    """The index file cannot be read or written."""


class NoIndexError(StoreError):
    """There is no index yet: nothing is wrong, it has only to be made."""


class ExtractionError(LongsearchError):
    """A file's text cannot be read. Becomes a row with a reason, never a crash."""


class QueryError(LongsearchError):
    """A query cannot be understood."""
