"""A writer's verbs for vectors. Every method is one transaction. Knows no model: the caller passes vectors."""

from collections.abc import Sequence

from longsearch.engine.arrays import Vectors
from longsearch.engine.passages import EXCERPT_WEIGHT
from longsearch.engine.store import documents, vectors
from longsearch.engine.store.embedding import deepening, resuming
from longsearch.engine.store.records import PendingDocument, SavedState
from longsearch.engine.store.session import Session


class VectorWriter(Session):
    """An index whose documents get vectors; `engine.store.store.Store` is one. Any method may raise `StoreError`."""

    def model_in_use(self) -> tuple[str, int] | None:
        """Fingerprint and dimension of the vectors, or None before the first `use_model`."""
        with self.reading() as db:
            return vectors.model_in_use(db)

    def use_model(self, fingerprint: str, dim: int, excerpt_weight: float = EXCERPT_WEIGHT) -> bool:
        """Accept only this model's vectors from now on. Return True if another model's vectors were dropped.

        `excerpt_weight`: the share of the nearest excerpt in a passage's score by meaning.
        """
        with self.changing() as db:
            changed = vectors.use_model(db, fingerprint, dim, excerpt_weight)
            if changed:
                resuming.remove_all(db)
        return changed

    def holds(self, document_id: int) -> bool:
        """Whether the index holds this document."""
        with self.reading() as db:
            return documents.exists(db, document_id)

    def pending(self, limit: int = -1) -> list[PendingDocument]:
        """Documents without complete vectors (all, or the first `limit`): first those begun, then the shortest."""
        with self.reading() as db:
            return vectors.pending(db, limit)

    def add_vectors(
        self,
        document_id: int,
        first_ordinal: int,
        passage_vectors: Vectors,
        n_tokens_done: int,
        state: bytes | None,
        packed_excerpts: Sequence[bytes] = (),
        width: float = 1.0,
    ) -> bool:
        """Add unit vectors (n, dim), n >= 0, of the passages from `first_ordinal` on.

        `state`: the model's state after `n_tokens_done` tokens. `packed_excerpts`: for each passage its excerpts as
        `excerpts.packed` gives them; empty if no passage has any. `width`: that of the model that made all this, the
        same for a whole document. Return False if the document is gone. Raise ValueError if the vectors are out of
        order or not unit vectors.
        """
        with self.changing() as db:
            known = documents.exists(db, document_id)
            if known:
                given = (passage_vectors, n_tokens_done, state, packed_excerpts)
                vectors.add(db, document_id, first_ordinal, *given, width)
                self._n_new += len(passage_vectors)
        return known

    def finish_embedding(
        self, document_id: int, document_vector: Vectors, n_tokens_done: int, saved: SavedState | None = None
    ) -> bool:
        """Add the document vector (dim,), which completes the document. Return and raise as `add_vectors` does.

        `saved` is kept to resume from when text is added to the document.
        """
        with self.changing() as db:
            known = documents.exists(db, document_id)
            if known:
                vectors.finish(db, document_id, document_vector, n_tokens_done)
                if saved is not None:
                    resuming.keep(db, saved)
        return known

    def restart_embedding(self, document_id: int) -> None:
        """Drop a document's vectors, because its state cannot be resumed."""
        with self.changing() as db:
            vectors.remove(db, document_id, documents.passage_ids(db, document_id))

    def narrow(self, limit: int = -1) -> list[PendingDocument]:
        """Complete documents whose vectors a narrower model made (all, or the first `limit`).

        A document that is being read again at width 1 comes first, with the state where this stopped. Then the shortest
        come first.
        """
        with self.reading() as db:
            return deepening.narrow(db, limit)

    def deepen_vectors(
        self,
        document_id: int,
        first_ordinal: int,
        passage_vectors: Vectors,
        n_tokens_done: int,
        state: bytes | None,
        packed_excerpts: Sequence[bytes] = (),
    ) -> bool:
        """Put vectors of width 1 in place of a narrow document's own. Arguments, result and errors: see `add_vectors`.

        The other passages keep their vectors until their turn comes: all widths share one space.
        """
        with self.changing() as db:
            known = deepening.is_narrow(db, document_id)
            if known:
                deepening.replace(db, document_id, first_ordinal, passage_vectors, packed_excerpts)
                deepening.note(db, document_id, first_ordinal + len(passage_vectors), n_tokens_done, state)
        return known

    def finish_deepening(
        self, document_id: int, document_vector: Vectors, n_tokens_done: int, saved: SavedState | None = None
    ) -> bool:
        """Replace the document vector, which completes the document at width 1. Otherwise as `finish_embedding`."""
        with self.changing() as db:
            known = deepening.is_narrow(db, document_id)
            if known:
                deepening.finish(db, document_id, document_vector, n_tokens_done)
                resuming.remove(db, document_id)  # it belongs to the smaller width
                if saved is not None:
                    resuming.keep(db, saved)
        return known

    def restart_deepening(self, document_id: int) -> None:
        """Have a narrow document read again from its beginning, because its state cannot be resumed."""
        with self.changing() as db:
            deepening.restart(db, document_id)
