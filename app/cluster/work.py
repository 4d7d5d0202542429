"""What the driver and the workers send each other, as plain dataclasses. Knows neither Ray nor a model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longsearch.app.cluster.recognised import OcrWish
from longsearch.engine.arrays import Vectors
from longsearch.engine.types.documents import Passage
from longsearch.indexer.extract.reader import Result
from longsearch.indexer.extract.wire.protocol import Page


class UnknownPacketError(Exception):
    """A worker was told to read on in a packet that it does not hold. It is to begin from the saved states."""


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """What a worker must know before it can start."""

    version: str
    """That of the driver's longsearch."""
    model: str
    """Its name, or the folder that holds it."""
    fingerprint: str
    """That of the driver's model: vectors of another one do not belong into the index."""
    device: str
    dtype: str
    adapters: dict[str, Sequence[str]]
    """As in the config file of the driver."""
    root: Path
    url: str
    """The object store for which the root stands, or ""."""
    entries: tuple[str, ...]
    """Some names in the root: a worker that does not see them has another folder at this path, or none."""
    ocr: OcrWish | None
    """How to read pages without text; None: not at all."""
    n_children: int
    """Child processes that read files at once."""
    stretch_tokens: int
    stretch_s: float
    """A stretch ends after so many tokens or seconds, whichever comes first."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a file, and its passages as the model cuts them; or the error that says why there is no text."""

    result: Result
    passages: list[Passage] | None
    n_tokens: int
    recognised: tuple[Page, ...] = ()
    """Pages that OCR has read since the last answer. The last file of an answer brings them."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A document, or the rest of one, that a worker is to read."""

    key: int
    text: str
    passages: list[Passage]
    state: bytes | None
    """Where to resume; None: at the first token."""

    @property
    def n_tokens(self) -> int:
        """The tokens of the whole document."""
        return sum(passage.n_tokens for passage in self.passages)


@dataclass(frozen=True, slots=True)
class RemotePart:
    """What a stretch has read of a document. An `indexer.encoders.Part`."""

    first_passage: int
    vectors: Vectors
    """(n, dim) of the passages from `first_passage` on."""
    excerpts: list[tuple[NDArray[np.int64], Vectors]]
    n_tokens_done: int
    state: bytes | None
    """The model's state after these tokens; None at the end of the document."""
    document_vector: Vectors
    is_last: bool

    @property
    def saved_state(self) -> Callable[[], bytes]:
        """As in `EmbeddedPart`. The last part of a document has none."""
        return lambda: self.state or b""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a worker has read of a packet in one call."""

    parts: list[tuple[int, RemotePart]]
    """Each with the key of its document, in the order in which they were read."""
    is_done: bool
    """Whether all documents of the packet are read."""


class TextTokens:
    """The tokens of a text for whoever only passes them on: workers tokenise the text themselves."""

    def __init__(self, text: str, n_tokens: int) -> None:
        self.text = text
        self._n_tokens = n_tokens

    def __len__(self) -> int:
        return self._n_tokens
