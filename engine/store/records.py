"""Dataclasses that the store takes and returns, besides those of `engine.types`. Knows no SQL."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from longsearch.engine.types.documents import Heading, WithPlaces


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file as its folder lists it: enough to detect a change or a rename."""

    path: str
    """Relative to the root, with "/"; undecodable bytes are surrogate escapes."""
    size: int
    """Bytes."""
    mtime_ns: int
    inode: int
    """0 if the file system has none."""
    ctime_ns: int = field(default=0, compare=False)
    """When the file last changed in any way, where the system says it; 0 if that is unknown."""
    reader_version: int = field(default=0, compare=False)
    """The version of the reader of its format: today's in a listing, in the index that which read it."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as the index knows it."""

    stamp: FileStamp
    """The file's stamp when it was last indexed."""
    failed: bool
    """Whether nothing could be read from the file."""
    n_failures: int = 0
    """Failed attempts in a row."""
    retry_at: float | None = None
    """When to retry the file although it has not changed, in seconds since 1970; None: never."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """A model's state saved in the middle of a document; a document with the same beginning can resume from it."""

    document_id: int
    n_passages_done: int
    """Passages, from the first on, that had their vectors when the state was saved."""
    n_tokens_done: int
    """Tokens the model had read."""
    state: bytes
    width: float = 1.0
    """The width of the model that made the state and these vectors."""


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document whose vectors are not complete, and the state to resume from."""

    document_id: int
    n_passages_done: int
    """Passages, from the first on, that have their vectors."""
    n_tokens_done: int
    """Tokens the model had read."""
    state: bytes | None
    """The model's state after these tokens; None: the model has to begin at the first token."""
    n_tokens: int
    """Tokens of the whole document."""
    width: float | None = None
    """The width of the model that made the state; None if there is no state."""


@dataclass(frozen=True, slots=True)
class PassageRow:
    """Where a passage lies."""

    passage_id: int
    document_id: int
    start: int
    stop: int
    page: int | None
    is_first: bool = True
    """Whether it is the first of its document, with which title and names are indexed."""


class FurniturePart(NamedTuple):
    """A part of a document that only points elsewhere, such as a list of references."""

    start: int
    stop: int
    kind: str
    """The value of an `engine.furniture.Furniture`."""
    first: int = 0
    last: int = -1
    """Ids of the first and the last of the passages that it fills; `last` is lower if it fills none."""
    shared: tuple[tuple[int, int, int], ...] = ()
    """(id, start, stop) of each other passage that holds some of it, as offsets in the passage."""

    def fills(self, start: int, stop: int) -> bool:
        """Whether most of a span is of this part."""
        return 2 * (min(stop, self.stop) - max(start, self.start)) > stop - start


@dataclass(frozen=True, slots=True)
class Outline(WithPlaces):
    """A document's title, headings, language and pages, which a hit shows beside its passages."""

    title: str
    headings: tuple[Heading, ...]
    language: str = ""
    """Its ISO 639 code; "" if it is unclear or not known yet."""
    page_starts: tuple[int, ...] = ()
    """The offset of each page's first character; () for a format without pages."""
    page_labels: tuple[str, ...] = ()
    """The printed number of each page; () without such numbers."""
    ocr_spans: tuple[tuple[int, int], ...] = ()
    """(start, stop) of each page whose text is from OCR."""
    furniture: tuple[FurniturePart, ...] = ()
    """The parts that only point elsewhere."""
    names: tuple[Sequence[str], Sequence[str]] = ((), ())
    """The paths of its files and its identifiers, by which it is found beside its title."""

    def furniture_in(self, start: int, stop: int) -> list[tuple[int, int]]:
        """The parts of a span that only point elsewhere, as offsets in it."""
        return [
            (one.start - start, one.stop - start) for one in self.furniture if one.start < stop and start < one.stop
        ]
