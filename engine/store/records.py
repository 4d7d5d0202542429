"""What goes into the store and comes out of it, beyond the words of `engine.types`. Knows no SQL."""

from dataclasses import dataclass

from engine.types import DocumentText, Heading


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file as its folder lists it: enough to see that it has changed, or that it is the same under another name."""

    path: str
    """Relative to the root, with "/"; undecodable bytes are surrogate escapes."""
    size: int
    """Bytes."""
    mtime_ns: int
    inode: int
    """0 where the file system has none."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as the index knows it."""

    stamp: FileStamp
    """As it was when it was last indexed."""
    failed: bool
    """Whether nothing could be read of it."""
    n_failures: int = 0
    """Readings in a row that failed."""
    retry_at: float | None = None
    """When it is to be read again although it has not changed, seconds since 1970; None: never."""


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document whose vectors are not complete."""

    document_id: int
    n_passages_done: int
    """Passages, from the first on, that have their vector."""
    n_tokens_done: int
    """Tokens the model had read when `state` was taken."""
    state: bytes | None
    """What was handed to `add_vectors` last: from here the model goes on; None: from the start."""
    n_tokens: int
    """Of the whole document."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """A state in the middle of a document, from which another that begins as it does can be gone on."""

    document_id: int
    n_passages_done: int
    n_tokens_done: int
    state: bytes


@dataclass(frozen=True, slots=True)
class PassageRow:
    """Where a passage lies."""

    passage_id: int
    document_id: int
    start: int
    stop: int
    page: int | None


@dataclass(frozen=True, slots=True)
class Outline:
    """What a hit shows of its document besides passages."""

    title: str
    headings: tuple[Heading, ...]

    def heading_at(self, offset: int) -> str:
        """As `DocumentText.heading_at`."""
        return DocumentText("", (), "", self.headings).heading_at(offset)
