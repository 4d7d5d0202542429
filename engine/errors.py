"""Errors that a person may see: each says what is wrong and what to do about it."""


class LongsearchError(Exception):
    """An error that a person can act on. `message` says what is wrong, `hint` what to do (may be "")."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def in_words(error: LongsearchError) -> str:
    """Return what is wrong, with what to do about it in brackets."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


def install_hint(extra: str) -> str:
    """Return how to install what an optional part of longsearch needs, also from a clone."""
    return f"install it: pip install 'longsearch[{extra}]' (from a clone: pip install -c constraints.txt '.[{extra}]')"


class ModelError(LongsearchError):
    """A model cannot be loaded or run."""


INCOMPLETE_MODEL = "the model is incomplete: copy it again"
"""The hint of a ModelError about missing files, tensors or rows."""


class StoreError(LongsearchError):
    """The index file cannot be read or written."""


class NoIndexError(StoreError):
    """There is no index yet. Nothing is wrong: the folder only needs to be indexed."""


class ExtractionError(LongsearchError):
    """A file's text cannot be read. The index records the reason; indexing goes on."""

    n_retries = 0
    """How often to retry the file automatically: 0 if only a change of the file can help."""
    n_scanned = 0
    """Pages of the file that OCR could read."""
    content_hash = b""
    """The hash of the file's bytes, if only who read them knows it."""


class GoneError(ExtractionError):
    """The file went after it was listed."""


class ReadingStoppedError(Exception):
    """The reading of a file was stopped in its middle. It goes on another time."""


class TemporaryError(ExtractionError):
    """The cause may pass: a failing drive, a missing permission, a program that is writing the file."""

    n_retries = 1_000_000


class BeingWrittenError(TemporaryError):
    """A program wrote to the file while it was read. A retry will soon succeed."""


class TimedOutError(ExtractionError):
    """Reading took too long, perhaps because the machine was busy. Each retry costs a core up to two minutes."""

    n_retries = 3


class QueryError(LongsearchError):
    """A query holds nothing to search for."""
