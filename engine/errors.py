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

    n_retries = 0
    """How often it is worth reading the file again by itself: 0 where only a change of the file can help."""


class PassingError(ExtractionError):
    """... for a reason that may pass: a drive that fails, no right to read it, a program that is writing it."""

    n_retries = 1_000_000


class BeingWrittenError(PassingError):
    """... because it changed meanwhile: a program is writing it, and soon there is a better moment."""


class TimedOutError(ExtractionError):
    """... because it took too long, which may be the machine's fault; each try costs up to two minutes of a core."""

    n_retries = 3


class QueryError(LongsearchError):
    """A query cannot be understood."""
