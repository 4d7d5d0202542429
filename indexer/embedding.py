"""Brings the vectors of the documents that lack them: long ones one by one, short ones many at once.

In small transactions, so that it can stop at any moment and go on from there. Knows no model: an encoder is handed in.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.store import excerpts
from engine.store.records import PendingDocument, SavedState
from engine.store.store import Store
from engine.types import Passage
from indexer.token_cache import TokenCache

SAVE_EVERY_S = 10.0  # of work that a kill may cost inside one document; a state is some megabytes to write
RESUME_FROM_TOKENS = 8192  # a shorter document is read again in a second, and its text is no longer than the state
_GROUP = 256  # short documents that are looked up at a time


class Part(Protocol):
    """A step of an encoder's pass; see `engine.inference.passes.EmbeddedPart`."""

    @property
    def first_passage(self) -> int: ...
    @property
    def vectors(self) -> NDArray[np.float32]: ...
    @property
    def excerpts(self) -> Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]]: ...
    @property
    def n_tokens_done(self) -> int: ...
    @property
    def saved_state(self) -> Callable[[], bytes]: ...
    @property
    def document_vector(self) -> NDArray[np.float32]: ...
    @property
    def is_last(self) -> bool: ...


class DocumentEncoder(Protocol):
    """What the indexer asks of `engine.inference.Encoder`."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def together_below(self) -> int:
        """Documents of fewer tokens are read faster together than one by one."""

    def ensure_loaded(self) -> None:
        """Load the weights if they are not in memory. Raises ModelError if they cannot be loaded."""

    def tokenize(self, text: str) -> Any:
        """Tokens of a text (sized; the encoder's own)."""

    def split(self, text: str) -> tuple[Any, list[Passage]]:
        """Tokens and passages of a text."""

    def stream(self, tokens: Any, passages: list[Passage], saved_state: bytes | None = None) -> Iterator[Part]:
        """One pass, part by part, from `saved_state` on."""

    def stream_many(
        self, documents: Iterable[tuple[int, Any, list[Passage], bytes | None]]
    ) -> Iterator[tuple[int, Part]]:
        """Passes over (key, tokens, passages, saved_state) of many documents at once: parts, each with its key."""

    def can_resume(self, tokens: Any, passages: list[Passage], saved_state: bytes) -> bool:
        """Whether a pass can go on from `saved_state`: of this document, or of one that this one begins as."""


class Embedder:
    """Embeds what the store lists as pending. For one thread; the store is open for writing."""

    def __init__(
        self,
        store: Store,
        encoder: DocumentEncoder,
        tokens: TokenCache,
        should_stop: Callable[[], bool],
        on_progress: Callable[[str, int], None],
    ) -> None:
        """`tokens`: those of documents that were just read. `on_progress` gets the title of the document that was read
        on, and by how many tokens.
        """
        self._store = store
        self._encoder = encoder
        self._tokens = tokens
        self._should_stop = should_stop
        self._on_progress = on_progress

    def embed_all(self) -> bool:
        """Bring the vectors of every document that lacks them. False where `should_stop` ended it."""
        while pending := self._store.pending(limit=_GROUP):
            short = list(takewhile(lambda document: document.n_tokens < self._encoder.together_below, pending))
            if self._should_stop() or not self._embed(short or pending[:1]):
                return False
        return True

    def _embed(self, group: list[PendingDocument]) -> bool:
        """Bring the vectors of some documents; False where it was stopped. What was done until then is kept."""
        begun: dict[int, _Embedding] = {}
        n_open = len(group)
        for document_id, part in self._parts(group, begun):
            work = begun[document_id]
            self._on_progress(work.title, work.add(part))
            if part.is_last or time.monotonic() - work.saved_at > SAVE_EVERY_S:
                self._save(work)
            if part.is_last or work.is_gone:
                del begun[document_id]
                n_open -= 1
                if not n_open:
                    break  # of a document that has gone, the rest need not be read
            if self._should_stop() and n_open:
                for unfinished in begun.values():
                    self._save(unfinished)
                return False
        return True

    def _parts(self, group: list[PendingDocument], begun: dict[int, "_Embedding"]) -> Iterator[tuple[int, Part]]:
        """Passes over the documents, from where they stand; each is noted in `begun` when it is its turn."""
        documents = (self._begin(pending, begun) for pending in group)
        if len(group) > 1:
            return self._encoder.stream_many(documents)
        key, tokens, passages, state = next(documents)
        return ((key, part) for part in self._encoder.stream(tokens, passages, state))

    def _begin(
        self, pending: PendingDocument, begun: dict[int, "_Embedding"]
    ) -> tuple[int, Any, list[Passage], bytes | None]:
        """What `stream_many` asks of a document. One whose state is damaged begins anew."""
        document = self._store.text(pending.document_id)
        passages = self._store.passages(pending.document_id)
        tokens = self._tokens.take(pending.document_id)
        if tokens is None:
            tokens = self._encoder.tokenize(document.text)
        if pending.state is not None and not self._encoder.can_resume(tokens, passages, pending.state):
            self._store.restart_embedding(pending.document_id)
            pending = PendingDocument(pending.document_id, 0, 0, None, pending.n_tokens)
        begun[pending.document_id] = _Embedding(pending, document.title, passages)
        return pending.document_id, tokens, passages, pending.state

    def _save(self, work: "_Embedding") -> None:
        """One transaction: vectors, how far, and the state to go on from or the document's own vector."""
        part = work.part
        if part is None:
            return
        state = None if part.is_last else part.saved_state()
        resume = work.saved_state() if part.is_last else None
        with self._store.changing():
            known = self._store.add_vectors(
                work.document_id, work.first, work.vectors(), part.n_tokens_done, state, work.excerpts()
            )
            if known and part.is_last:
                self._store.finish_embedding(work.document_id, part.document_vector, part.n_tokens_done, resume)
        work.saved(is_gone=not known)


class _Embedding:
    """One document on its way: what is not saved yet, and the state that is kept for the day it has grown."""

    def __init__(self, pending: PendingDocument, title: str, passages: Sequence[Passage]) -> None:
        self.document_id = pending.document_id
        self.title = title
        self.first = pending.n_passages_done
        """The first passage that is not saved."""
        self.part: Part | None = None
        """What was read last."""
        self.saved_at = time.monotonic()
        self.is_gone = False
        """Whether the document was forgotten meanwhile."""
        self._unsaved: list[NDArray[np.float32]] = []
        self._unsaved_excerpts: list[bytes] = []
        self._pending = pending
        self._resume: Part | None = None
        # added text may change where the last passage ends, and nothing before it
        self._stable_tokens = pending.n_tokens - passages[-1].n_tokens

    def add(self, part: Part) -> int:
        """Take over what was read; how many tokens that were."""
        before = self.part.n_tokens_done if self.part else self._pending.n_tokens_done
        self.part = part
        self._unsaved.append(part.vectors)
        # packed at once: ten seconds' on a fast GPU, whole, would be some hundreds of megabytes
        self._unsaved_excerpts += [excerpts.packed(*own) for own in part.excerpts]
        if part.n_tokens_done <= self._stable_tokens:
            self._resume = part
        return part.n_tokens_done - before

    def vectors(self) -> NDArray[np.float32]:
        """(n, dim) of the passages from `first` on."""
        return np.concatenate(self._unsaved)

    def excerpts(self) -> list[bytes]:
        """Of each of these passages, packed."""
        return self._unsaved_excerpts

    def saved(self, is_gone: bool) -> None:
        """What was read is in the store, or of no use to anybody."""
        self.first += sum(map(len, self._unsaved))
        self._unsaved, self._unsaved_excerpts = [self._unsaved[-1][:0]], []
        self.saved_at, self.is_gone = time.monotonic(), is_gone

    def saved_state(self) -> SavedState | None:
        """The last state that more text at the end would leave as it is, where keeping it pays."""
        pending, part = self._pending, self._resume
        if pending.n_tokens < RESUME_FROM_TOKENS:
            return None
        if part is not None:
            n_passages = part.first_passage + len(part.vectors)
            return SavedState(self.document_id, n_passages, part.n_tokens_done, part.saved_state())
        if pending.state is None or pending.n_tokens_done > self._stable_tokens:
            return None
        return SavedState(self.document_id, pending.n_passages_done, pending.n_tokens_done, pending.state)
