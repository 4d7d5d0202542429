"""An index open for writing: adds and forgets files, adds vectors, records failures. Readers need only a `Session`.

Every method is one transaction. Reads no indexed file: the caller passes its text and its stamp.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from longsearch.engine.arrays import Vectors
from longsearch.engine.store import deepening, documents, files, lifecycle, metadata, reports, resuming, vectors
from longsearch.engine.store.records import FileStamp, KnownFile, PendingDocument, SavedState
from longsearch.engine.store.session import Session
from longsearch.engine.types import DocumentText, MetadataValue, Passage


class Store(Session):
    """An index open for writing; make one with `open`. Every method may raise `StoreError`."""

    # ---- files

    def catalogue(self) -> dict[str, KnownFile]:
        """Every known file as it was when it was indexed, by path."""
        with self.reading() as db:
            return files.catalogue(db)

    def add_document(
        self,
        file: FileStamp,
        content_hash: bytes,
        document: DocumentText,
        passages: Sequence[Passage],
        partial_reason: str = "",
        hint: str = "",
        saved: SavedState | None = None,
    ) -> int:
        """Make a document searchable by words, and return its id.

        The document replaces the one that the path held before. It also replaces a document of the same hash in all
        files. If the text and passages are unchanged, the document keeps its id and its vectors. With `saved`, a state
        from the document that this one grew out of, it takes over that document's vectors and resumes from the state.
        """
        with self.changing() as db:
            return lifecycle.put_document(db, file, content_hash, document, passages, partial_reason, hint, saved)

    def saved_state(self, path: str) -> SavedState | None:
        """The state saved in the middle of the document that the path held when it was last indexed, or None."""
        with self.reading() as db:
            return resuming.of_file(db, path)

    def link(self, file: FileStamp, content_hash: bytes) -> bool:
        """Let the path hold a document that is already indexed; return False if the hash is unknown."""
        with self.changing() as db:
            document_id = documents.find(db, content_hash)
            if document_id is not None:
                lifecycle.put_file(db, file, document_id)
        return document_id is not None

    def add_failure(
        self, file: FileStamp, reason: str, hint: str = "", n_failures: int = 1, retry_at: float | None = None
    ) -> None:
        """Record that the file cannot be read, and why.

        `n_failures`: how often in a row it has failed. `retry_at`: when to retry it, in seconds since 1970; None: only
        after it has changed.
        """
        with self.changing() as db:
            lifecycle.put_file(db, file, None, reason or "Unknown error", hint)
            files.set_retry(db, file.path, n_failures, retry_at)

    def next_retry(self, after: float = 0.0) -> float | None:
        """The first time later than `after` at which a file is due for a retry, in seconds since 1970, or None."""
        with self.reading() as db:
            return files.next_retry(db, after)

    def add_failed_retry(self, file: FileStamp, n_failures: int, retry_at: float | None) -> None:
        """Record that a retry of a partial file failed. Arguments as for `add_failure`. The file keeps its document."""
        with self.changing() as db:
            files.set_retry(db, file.path, n_failures, retry_at)

    def read_again(self, admits: Callable[[str], bool] = bool) -> int:
        """Have the next sweep retry every file that failed or is partial, if `admits` accepts its reason.

        Return the number of these files. Until then each file keeps its document.
        """
        with self.changing() as db:
            paths = [file.path for file in reports.files(db) if file.reason and admits(file.reason)]
            files.read_again(db, paths)
        return len(paths)

    def move(self, moves: Sequence[tuple[str, FileStamp]]) -> int:
        """Record renames, each from a path to a file; return how many of the old paths were known.

        All renames happen at once, so two files may swap names. No path may occur twice among the old paths, or twice
        among the new ones.
        """
        with self.changing() as db:
            return lifecycle.move(db, moves)

    def drives(self) -> frozenset[str]:
        """The folders, relative to the root, that `remember_drives` recorded last."""
        with self.reading() as db:
            return files.drives(db)

    def remember_drives(self, folders: Collection[str]) -> None:
        """Record, for later sweeps, the folders where other drives are mounted."""
        with self.changing() as db:
            files.set_drives(db, folders)

    def forget(self, paths: Iterable[str]) -> None:
        """Forget files that are gone, each in its own transaction, and the documents that no file holds any more."""
        for path in paths:
            with self.changing() as db:
                lifecycle.settle(db, files.forget(db, path))

    # ---- documents

    def text(self, document_id: int) -> DocumentText:
        """The whole document."""
        with self.reading() as db:
            return documents.text(db, document_id)

    def passages(self, document_id: int) -> list[Passage]:
        """A document's passages in order; [] if the document is unknown."""
        with self.reading() as db:
            return documents.passages(db, document_id)

    def undescribed(self) -> list[tuple[int, str]]:
        """Documents whose metadata have not been read by today's rules, each with the path of a file that holds it."""
        with self.reading() as db:
            return metadata.undescribed(db)

    def describe(self, document_id: int, title: str, values: Sequence[MetadataValue]) -> None:
        """Give a document its own title ("" keeps the old one) and its metadata. Text and vectors stay."""
        with self.changing() as db:
            if documents.exists(db, document_id):
                lifecycle.describe(db, document_id, title or metadata.own_title(db, document_id), values)
                lifecycle.settle(db, document_id)

    # ---- vectors

    def model_in_use(self) -> tuple[str, int] | None:
        """Fingerprint and dimension of the vectors, or None before the first `use_model`."""
        with self.reading() as db:
            return vectors.model_in_use(db)

    def use_model(self, fingerprint: str, dim: int) -> bool:
        """Accept only this model's vectors from now on. Return True if another model's vectors were dropped."""
        with self.changing() as db:
            changed = vectors.use_model(db, fingerprint, dim)
            if changed:
                resuming.remove_all(db)
        return changed

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
                self._n_vectors_new += len(passage_vectors)
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

    def set_activity(self, text: str, tokens_per_s: float = 0.0) -> None:
        """Tell all processes what this one is doing; "" for nothing."""
        with self.changing() as db:
            reports.set_activity(db, text, tokens_per_s)
