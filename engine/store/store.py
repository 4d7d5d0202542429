"""The index of one root: the one door to its SQLite file.

Every change is one transaction; a reader sees the document before or after it, never between. Writing is for one
process and one thread at a time; other threads and processes open a `Store` of their own, read-only. Knows no disk
but its own file: what a file holds, and when it changed, is told by the caller.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw

from engine.arrays import Vectors
from engine.errors import StoreError
from engine.store import compaction, documents, files, int8_copy, lifecycle, resuming, status, vectors
from engine.store.connection import (
    CorruptIndexError,
    close_writer,
    empty_log,
    errors_explained,
    log_bytes,
    open_for_reading,
    open_for_writing,
    transaction,
)
from engine.store.records import FileStamp, KnownFile, PendingDocument, SavedState
from engine.types import DocumentText, FileReport, IndexProgress, Passage

_LOG_MAX_BYTES = 32 * 2**20  # under a reader it grew to 462 MB in 10 s


class Store:
    """An open index; make one with `Store.open`. Every method may raise `StoreError`."""

    def __init__(self, db: apsw.Connection, path: Path, read_only: bool, notes: tuple[str, ...]) -> None:
        self._db = db
        self._read_only = read_only
        self._is_corrupt = False
        self._n_vectors_new = 0
        self.path = path
        self.notes = notes
        """What a person should know about how it was opened, such as that a corrupt index was moved aside."""

    @classmethod
    def open(cls, path: Path, root: Path | None = None, read_only: bool = False) -> Self:
        """Open the index file at `path`; for writing, make it where it is missing and note the folder it is of.

        Read-only, a missing or corrupt index is a `StoreError`; for writing, a corrupt one is moved aside and begun
        anew (`notes` says so). An index of a newer schema is always a `StoreError`.
        """
        with errors_explained(path):
            db, notes = (open_for_reading(path), ()) if read_only else open_for_writing(path)
            store = cls(db, path, read_only, notes)
            if root is not None and not read_only:
                with store.changing() as changed:
                    changed.execute("INSERT OR REPLACE INTO meta VALUES ('root', ?)", (os.fsencode(root.absolute()),))
        return store

    def close(self) -> None:
        """Let go of the file. A second call does nothing."""
        if not self._db:
            return
        with errors_explained(self.path):
            if self._read_only:
                self._db.close()
            else:
                close_writer(self._db, in_order=not self._is_corrupt)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """A connection that sees one moment of the index. Keep it short: a reader holds the log from being reset."""
        with self._corruption_noted(), transaction(self._db, "DEFERRED"):
            yield self._db

    @contextmanager
    def changing(self) -> Iterator[apsw.Connection]:
        """A connection whose changes come together or not at all."""
        with self._corruption_noted():
            with transaction(self._db, "IMMEDIATE"):
                yield self._db
            self._shrink_log()
            self._keep_copy()

    @property
    def root(self) -> Path:
        """The folder that is indexed, absolute."""
        with self.reading() as db:
            found = db.execute("SELECT value FROM meta WHERE key = 'root'").get
        if found is None:
            raise StoreError("The index does not say which folder it is of", "Index the folder again")
        return Path(os.fsdecode(found))

    @property
    def data_version(self) -> int:
        """Changes whenever another process or `Store` has changed the index."""
        with errors_explained(self.path):
            return int(self._db.pragma("data_version"))

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
        resume: SavedState | None = None,
    ) -> int:
        """Make a document searchable by words; its content id.

        Replaces what the path held before, and any content of the same hash (for all its files); one that says the
        same keeps its id and its vectors. `resume`, from `resume_point`, says that it begins, up to there, as another
        did: that far it has its vectors at once.
        """
        with self.changing() as db:
            return lifecycle.put_document(db, file, content_hash, document, passages, partial_reason, hint, resume)

    def saved_state(self, path: str) -> SavedState | None:
        """The state in the middle of what the path held when it was indexed last, if one is kept."""
        with self.reading() as db:
            return resuming.of_file(db, path)

    def link(self, file: FileStamp, content_hash: bytes) -> bool:
        """Let the path hold a content that is known already; False where it is not."""
        with self.changing() as db:
            document_id = documents.find(db, content_hash)
            if document_id is not None:
                lifecycle.put_file(db, file, document_id)
        return document_id is not None

    def add_failure(
        self, file: FileStamp, reason: str, hint: str = "", n_failures: int = 1, retry_at: float | None = None
    ) -> None:
        """Note that nothing can be read of the file, why, for which time in a row, and when to try again (seconds
        since 1970; None: not before it has changed).
        """
        with self.changing() as db:
            lifecycle.put_file(db, file, None, reason or "Unknown error", hint)
            files.set_retry(db, file.path, n_failures, retry_at)

    def next_retry(self, after: float = 0.0) -> float | None:
        """The first time later than `after` when a file is to be read again, seconds since 1970; None where none is."""
        with self.reading() as db:
            return files.next_retry(db, after)

    def put_off(self, file: FileStamp, n_failures: int, retry_at: float | None) -> None:
        """Note that to read again a file that was read in part failed, as `add_failure` does; what it holds stays."""
        with self.changing() as db:
            files.set_retry(db, file.path, n_failures, retry_at)

    def read_again(self, why: Callable[[str], bool] = bool) -> int:
        """Let every file that was not read whole, for a reason that `why` takes, be read again at the next sweep.

        How many these are. Until then each holds what was read of it.
        """
        with self.changing() as db:
            paths = [file.path for file in status.files(db) if file.reason and why(file.reason)]
            files.read_again(db, paths)
        return len(paths)

    def move(self, moves: Sequence[tuple[str, FileStamp]]) -> int:
        """Note renames, each from a path to a file, which cost nothing; how many of the old paths were known.

        All are made at one moment: two files may change names. No path stands twice on one side.
        """
        with self.changing() as db:
            return lifecycle.move(db, moves)

    def touch(self, file: FileStamp) -> bool:
        """Note a new time, size or inode of unchanged bytes; False where the path is not known."""
        with self.changing() as db:
            return files.touch(db, file)

    def drives(self) -> frozenset[str]:
        """Folders, relative to the root, that `remember_drives` was told of last."""
        with self.reading() as db:
            return files.drives(db)

    def remember_drives(self, folders: Collection[str]) -> None:
        """Note, for the sweeps to come, the folders where other drives are mounted."""
        with self.changing() as db:
            files.set_drives(db, folders)

    def forget(self, paths: Iterable[str]) -> None:
        """Forget files that are gone, each in a transaction of its own, and contents that no file holds now."""
        for path in paths:
            with self.changing() as db:
                lifecycle.settle(db, files.forget(db, path))

    # ---- documents

    def document_of(self, path: str) -> int | None:
        """The content that the file at `path`, relative to the root, holds; None where it is unknown or unreadable."""
        with self.reading() as db:
            return files.document_of(db, path)

    def text(self, document_id: int) -> DocumentText:
        """The whole document."""
        with self.reading() as db:
            return documents.text(db, document_id)

    def passages(self, document_id: int) -> list[Passage]:
        """A document's passages, in order; [] where it is unknown."""
        with self.reading() as db:
            return documents.passages(db, document_id)

    def passage_text(self, document_id: int, passage: Passage) -> str:
        """The text of one passage, read without unpacking the whole document."""
        with self.reading() as db:
            return documents.spans(db, document_id, [(passage.start, passage.stop)])[0]

    # ---- vectors

    def model_in_use(self) -> tuple[str, int] | None:
        """Fingerprint and dim of the vectors, or None before the first `use_model`."""
        with self.reading() as db:
            return vectors.model_in_use(db)

    def use_model(self, fingerprint: str, dim: int) -> bool:
        """Take vectors of this model from now on. Those of another are dropped, and True returned."""
        with self.changing() as db:
            changed = vectors.use_model(db, fingerprint, dim)
            if changed:
                resuming.remove_all(db)
        return changed

    def pending(self, limit: int = -1) -> list[PendingDocument]:
        """Documents without complete vectors (all, or the first `limit`): those begun first, then the shortest."""
        with self.reading() as db:
            return vectors.pending(db, limit)

    def add_vectors(
        self,
        document_id: int,
        first_ordinal: int,
        passage_vectors: Vectors,
        n_tokens_done: int,
        state: bytes | None,
        of_excerpts: Sequence[bytes] = (),
    ) -> bool:
        """Add unit vectors (n, dim), n >= 0, of the passages from `first_ordinal` on, their excerpts (of each
        passage, as `excerpts.packed` gives them; none where none has any), and where to resume after them.

        False where the document has gone meanwhile. ValueError for vectors out of order or not unit vectors.
        """
        with self.changing() as db:
            known = documents.exists(db, document_id)
            if known:
                vectors.add(db, document_id, first_ordinal, passage_vectors, n_tokens_done, state, of_excerpts)
                self._n_vectors_new += len(passage_vectors)
        return known

    def finish_embedding(
        self, document_id: int, document_vector: Vectors, n_tokens_done: int, resume: SavedState | None = None
    ) -> bool:
        """Add the document vector (dim,); the document is complete. Returns and raises as `add_vectors`.

        `resume` is kept for the day when text is added to it.
        """
        with self.changing() as db:
            known = documents.exists(db, document_id)
            if known:
                vectors.finish(db, document_id, document_vector, n_tokens_done)
                if resume is not None:
                    resuming.keep(db, resume)
        return known

    def restart_embedding(self, document_id: int) -> None:
        """Drop what was embedded of a document: its state cannot be gone on from."""
        with self.changing() as db:
            vectors.remove(db, document_id, documents.passage_ids(db, document_id))

    def passage_vectors(self, document_id: int) -> Vectors:
        """(n, dim) unit vectors of the document's first n passages: of all, once it is complete."""
        with self.reading() as db:
            return vectors.of_passages(db, document_id)

    def document_vector(self, document_id: int) -> Vectors | None:
        """(dim,) unit vector of the whole document, or None while it is not complete."""
        with self.reading() as db:
            return vectors.of_document(db, document_id)

    # ---- status and upkeep

    def progress(self) -> IndexProgress:
        """How far the index has come."""
        with self.reading() as db:
            return status.progress(db)

    def files(self) -> list[FileReport]:
        """Every file and its state, by path."""
        with self.reading() as db:
            return status.files(db)

    def set_activity(self, text: str, tokens_per_s: float = 0.0) -> None:
        """Say what this process is doing, for all to see; "" for nothing."""
        with self.changing() as db:
            status.set_activity(db, text, tokens_per_s)

    def tidy(self) -> None:
        """For idle times: close the holes in the vectors, bring their int8 copy up to date, empty the log."""
        model = self.model_in_use()
        if model is not None:
            with self.reading() as db:
                half_empty = compaction.half_empty(db)
            for chunk_id in half_empty:
                with self.changing() as db:
                    compaction.empty(db, model[1], chunk_id)
        self._refresh_copy()
        with errors_explained(self.path):
            empty_log(self._db)

    @contextmanager
    def _corruption_noted(self) -> Iterator[None]:
        try:
            with errors_explained(self.path):
                yield
        except CorruptIndexError:
            self._is_corrupt = True
            raise

    def _shrink_log(self) -> None:
        if not self._db.in_transaction and log_bytes(self.path) > _LOG_MAX_BYTES:
            empty_log(self._db)

    def _keep_copy(self) -> None:
        """A first indexing takes hours: the copy must not wait for its end."""
        if not self._db.in_transaction and self._n_vectors_new >= int8_copy.LOOK_EVERY_PASSAGES:
            self._n_vectors_new = 0
            self._refresh_copy()

    def _refresh_copy(self) -> None:
        with self.changing() as db:
            model = vectors.model_in_use(db)
            if model is not None:
                int8_copy.refresh(db, self.path, model[1])
