"""Messages from `BackendCalls` to the main screen. Data only."""

from dataclasses import dataclass

from textual.message import Message

from longsearch.engine.types import IndexProgress, SearchResults


@dataclass
class Found(Message):
    """The answer to a search; no newer search has been answered yet."""

    results: SearchResults


@dataclass
class Awaited(Message):
    """The app waits, or no longer waits, for another answer to the current query."""

    is_awaited: bool


@dataclass
class ProgressRead(Message):
    """The progress of the index has changed."""

    progress: IndexProgress


@dataclass
class Started(Message):
    """The backend was asked to start indexing."""

    note: str
    """Why indexing does not run, or ""."""


@dataclass
class Failed(Message):
    """A call failed."""

    reason: str
    """The error and its hint, in one line."""
