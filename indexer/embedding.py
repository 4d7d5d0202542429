"""Computes the vectors of documents that have none: long documents one by one, short ones in batches.

Also computes the vectors anew of documents that were read at a smaller width. Saves in small transactions, so the work
can stop at any moment and resume from there. Knows no model: the caller passes an encoder.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Any

import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.store import excerpts
from longsearch.engine.store.records import PendingDocument, SavedState
from longsearch.engine.store.session import SharedTransaction
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import Passage
from longsearch.engine.widths import as_fractions
from longsearch.indexer.encoders import DocumentEncoder, Part, Reader
from longsearch.indexer.token_cache import TokenCache

SAVE_EVERY_S = 10.0
"""A kill loses at most this much work on a document. Saving a state writes some megabytes."""
RESUME_FROM_TOKENS = 8192
"""Documents of at least this length keep a state, in case they grow. A shorter document is read again in a second, and
its text is no larger than the state."""
N_TOGETHER = 256
"""Documents that are read together, if they are short."""
_LONG_TOKENS = 1024
"""A longer document takes a good part of a second by itself."""
_LISTED = 16
"""Times as many are listed at once: to list them, the store looks at every document, done or not."""


class Embedder:
    """Embeds the documents that the store lists as pending. For one thread; the store is open for writing."""

    def __init__(
        self,
        store: Store,
        encoder: DocumentEncoder,
        tokens: TokenCache,
        should_stop: Callable[[], bool],
        on_progress: Callable[[str, int], None],
        n_together: int = N_TOGETHER,
    ) -> None:
        """`tokens` may hold the tokens of documents that were read just now. `on_progress` is called after each part
        with the activity in a few words and the number of tokens read. At most `n_together` documents are read
        together.
        """
        self._store = store
        self._encoder = encoder
        self._tokens = tokens
        self._should_stop = should_stop
        self._on_progress = on_progress
        self._n_together = n_together
        self._listed: deque[PendingDocument] = deque()
        self._shared = SharedTransaction(store)

    def embed_all(self) -> bool:
        """Embed every pending document. Returns False if `should_stop` ended it.

        A document is read at one width from its beginning to its end. One that was stopped, or that grew out of another
        one, goes on at the width at which it began.
        """
        with self._shared:
            while self._listed or self._list():
                width = self._listed[0].width or self._width_of_new()
                reader = self._encoder.at(width)
                group = self._take_group(reader.batch_below_tokens)
                if self._should_stop() or not self._embed(group, reader, width):
                    return False
        return True

    def _list(self) -> bool:
        self._listed.extend(self._waiting(_LISTED * self._n_together))
        return bool(self._listed)

    def _take_group(self, below_tokens: int) -> list[PendingDocument]:
        """Take the documents to read now: the first, or the short ones from the first on that go on at its width."""
        first = self._listed[0]
        same = takewhile(lambda one: one.width == first.width and one.n_tokens < below_tokens, self._listed)
        group = list(islice(same, self._n_together)) or [first]
        for _ in group:
            self._listed.popleft()
        return group

    # ---- the queue of documents, which `Deepener` replaces

    def _waiting(self, limit: int) -> list[PendingDocument]:
        return self._store.pending(limit)

    def _width_of_new(self) -> float:
        return self._encoder.width_for(self._n_tokens_waiting)

    def _n_tokens_waiting(self) -> int:
        progress = self._store.progress()
        return progress.n_tokens - progress.n_tokens_embedded

    def _activity(self, work: "_Embedding") -> str:
        return work.title if work.width == 1 else f"at width {as_fractions(work.width)}: {work.title}"

    def _restart(self, document_id: int) -> None:
        self._store.restart_embedding(document_id)

    def _add(self, work: "_Embedding", part: Part, state: bytes | None) -> bool:
        given = (work.first, work.vectors(), part.n_tokens_done, state, work.excerpts())
        return self._store.add_vectors(work.document_id, *given, work.width)

    def _finish(self, work: "_Embedding", part: Part) -> None:
        given = (part.document_vector, part.n_tokens_done, work.saved_state())
        self._store.finish_embedding(work.document_id, *given)

    # ---- the work on a group of documents

    def _embed(self, group: list[PendingDocument], reader: Reader, width: float) -> bool:
        """Embed a group of documents. Returns False if it was stopped; the work done until then is saved."""
        begun: dict[int, _Embedding] = {}
        n_open = len(group)
        if group[0].n_tokens > _LONG_TOKENS:  # what is done is not to wait for it
            self._shared.close()
        for document_id, part in self._parts(group, begun, reader, width):
            work = begun[document_id]
            self._on_progress(self._activity(work), work.add(part))
            if part.is_last or time.monotonic() - work.saved_at > SAVE_EVERY_S:
                self._shared.begin()
                self._save(work)
            self._shared.commit_if_due()
            if part.is_last or work.is_gone:
                del begun[document_id]
                n_open -= 1
                if not n_open:
                    break  # without this, the rest of a deleted document would be read
            if self._should_stop() and n_open:
                for unfinished in begun.values():
                    self._save(unfinished)
                return False
        return True

    def _parts(
        self, group: list[PendingDocument], begun: dict[int, "_Embedding"], reader: Reader, width: float
    ) -> Iterator[tuple[int, Part]]:
        """Yield the parts of all documents, each from where it stopped. Adds a document to `begun` when it starts."""
        there = (pending for pending in group if self._store.holds(pending.document_id))  # not deleted meanwhile
        documents = (self._begin(pending, begun, reader, width) for pending in there)
        if len(group) > 1:
            return reader.stream_many(documents)
        return ((key, part) for key, *document in documents for part in reader.stream(*document))

    def _begin(
        self, pending: PendingDocument, begun: dict[int, "_Embedding"], reader: Reader, width: float
    ) -> tuple[int, Any, list[Passage], bytes | None]:
        """Return (key, tokens, passages, state) for `stream_many`. A document with a damaged state starts again."""
        document = self._store.text(pending.document_id)
        passages = self._store.passages(pending.document_id)
        tokens = self._tokens.take(pending.document_id)
        if tokens is None:
            tokens = self._encoder.tokenize(document.text)
        if pending.state is not None and not reader.can_resume(tokens, passages, pending.state):
            self._restart(pending.document_id)
            pending = PendingDocument(pending.document_id, 0, 0, None, pending.n_tokens)
        begun[pending.document_id] = _Embedding(pending, document.title, passages, width)
        return pending.document_id, tokens, passages, pending.state

    def _save(self, work: "_Embedding") -> None:
        """Save, in one transaction, the new vectors, the progress, and the model state or the document's vector."""
        part = work.part
        if part is None:
            return
        state = None if part.is_last else part.saved_state()
        with self._store.changing():
            known = self._add(work, part, state)
            if known and part.is_last:
                self._finish(work, part)
        work.saved(is_gone=not known)


class Deepener(Embedder):
    """Reads the documents again at width 1 that were read at a smaller width; meanwhile they keep their vectors."""

    def _waiting(self, limit: int) -> list[PendingDocument]:
        return self._store.narrow(limit)

    def _width_of_new(self) -> float:
        return 1.0

    def _activity(self, work: "_Embedding") -> str:
        return f"reading again {work.title}"

    def _restart(self, document_id: int) -> None:
        self._store.restart_deepening(document_id)

    def _add(self, work: "_Embedding", part: Part, state: bytes | None) -> bool:
        given = (work.first, work.vectors(), part.n_tokens_done, state, work.excerpts())
        return self._store.deepen_vectors(work.document_id, *given)

    def _finish(self, work: "_Embedding", part: Part) -> None:
        given = (part.document_vector, part.n_tokens_done, work.saved_state())
        self._store.finish_deepening(work.document_id, *given)


class _Embedding:
    """A document that is being embedded: its unsaved vectors, and the state to keep in case the document grows."""

    def __init__(self, pending: PendingDocument, title: str, passages: Sequence[Passage], width: float) -> None:
        self.document_id = pending.document_id
        self.title = title
        self.width = width
        self.first = pending.n_passages_done
        """The first unsaved passage."""
        self.part: Part | None = None
        """The part read last."""
        self.saved_at = time.monotonic()
        self.is_gone = False
        """Whether the document was deleted meanwhile."""
        self._unsaved: list[Vectors] = []
        self._unsaved_excerpts: list[bytes] = []
        self._pending = pending
        self._resume: Part | None = None
        # text added at the end can move the end of the last passage, and nothing before it
        self._stable_tokens = pending.n_tokens - passages[-1].n_tokens

    def add(self, part: Part) -> int:
        """Take over a part. Returns how many tokens it read."""
        before = self.part.n_tokens_done if self.part else self._pending.n_tokens_done
        self.part = part
        self._unsaved.append(part.vectors)
        # packed at once: unpacked, ten seconds of excerpts from a fast GPU take some hundreds of megabytes
        rows = zip(part.excerpts, part.vectors, strict=True)
        self._unsaved_excerpts += [excerpts.packed(*own, of_passage) for own, of_passage in rows]
        if part.n_tokens_done <= self._stable_tokens:
            self._resume = part
        return part.n_tokens_done - before

    def vectors(self) -> Vectors:
        """Return the unsaved vectors (n, dim): those of the passages from `first` on."""
        return np.concatenate(self._unsaved)

    def excerpts(self) -> list[bytes]:
        """Return the packed excerpts of each of these passages."""
        return self._unsaved_excerpts

    def saved(self, is_gone: bool) -> None:
        """Drop the unsaved vectors: the store has them now, or the document was deleted (`is_gone`)."""
        self.first += sum(map(len, self._unsaved))
        self._unsaved, self._unsaved_excerpts = [self._unsaved[-1][:0]], []
        self.saved_at, self.is_gone = time.monotonic(), is_gone

    def saved_state(self) -> SavedState | None:
        """Return the last state that stays valid if text is added at the end; None if keeping it does not pay."""
        pending, part = self._pending, self._resume
        if pending.n_tokens < RESUME_FROM_TOKENS:
            return None
        if part is not None:
            n_passages = part.first_passage + len(part.vectors)
            return SavedState(self.document_id, n_passages, part.n_tokens_done, part.saved_state(), self.width)
        if pending.state is None or pending.n_tokens_done > self._stable_tokens:
            return None
        return SavedState(self.document_id, pending.n_passages_done, pending.n_tokens_done, pending.state, self.width)
