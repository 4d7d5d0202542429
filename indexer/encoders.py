"""The methods of a model that the indexer calls: those of `engine.inference.encoder.Encoder`, which loads torch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.types.documents import Passage


class Part(Protocol):
    """A step of a pass over a document; see `engine.readouts.reading.EmbeddedPart`."""

    @property
    def first_passage(self) -> int: ...
    @property
    def vectors(self) -> Vectors: ...
    @property
    def excerpts(self) -> Sequence[tuple[NDArray[np.int64], Vectors]]: ...
    @property
    def n_tokens_done(self) -> int: ...
    @property
    def saved_state(self) -> Callable[[], bytes]: ...
    @property
    def document_vector(self) -> Vectors: ...
    @property
    def is_last(self) -> bool: ...


class Reader(Protocol):
    """A model at one width, as the indexer uses it; see `engine.inference.encoder.Encoder`."""

    @property
    def batch_below_tokens(self) -> int:
        """The length in tokens below which documents are faster in a batch than one by one."""

    def stream(self, tokens: Any, passages: list[Passage], saved_state: bytes | None = None) -> Iterator[Part]:
        """Yield the parts of one pass over a document, from `saved_state` on if there is one."""

    def stream_many(
        self, documents: Iterable[tuple[int, Any, list[Passage], bytes | None]]
    ) -> Iterator[tuple[int, Part]]:
        """Yield (key, part) of passes over many documents at once, given as (key, tokens, passages, saved_state)."""

    def can_resume(self, tokens: Any, passages: list[Passage], saved_state: bytes) -> bool:
        """Return whether a pass can resume from `saved_state`: its text must be the beginning of this document."""


class DocumentEncoder(Protocol):
    """A model of one or several widths, as the indexer uses it. An `engine.inference.encoder.Encoder` is one."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def excerpt_weight(self) -> float: ...

    def ensure_loaded(self) -> None:
        """Load the weights if they are not in memory. Raises ModelError if they cannot be loaded."""

    def tokenize(self, text: str) -> Any:
        """Return the tokens of a text: any object with a length that this encoder understands. Loads no weights."""

    def split(self, text: str) -> tuple[Any, list[Passage]]:
        """Return the tokens and the passages of a text. Loads no weights."""

    def width_for(self, n_tokens_waiting: Callable[[], int]) -> float:
        """Return the width at which to read a document that begins now, while so many tokens wait to be read."""

    def at(self, width: float) -> Reader:
        """Return the model at this width. Raises ModelError if it has no such width."""
