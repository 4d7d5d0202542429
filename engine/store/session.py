"""An index that is open for writing: its connection and transactions, and the upkeep of its log and of its segments.

A change is one transaction: a reader sees the index before it or after it, never between. One process and one thread at
a time may write; others read it by `engine.index`. Knows no document.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw

from longsearch.engine.errors import StoreError
from longsearch.engine.store import excerpts, keywords, languages, reports, vectors
from longsearch.engine.store.connection import (
    CorruptIndexError,
    close_writer,
    empty_log,
    errors_explained,
    keep_checksums,
    log_bytes,
    open_for_writing,
    transaction,
)
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.vec0 import compaction, storage_chunks
from longsearch.engine.types.progress import FileReport, IndexProgress

_LOG_MAX_BYTES = 32 * 2**20  # under a reader the log grew to 462 MB in 10 s
_EXCERPTS_OF = 2_000  # passages get two bits at once
_SHARED_S = 0.5  # a kill loses no more, and a search finds a document no later
_SLOW_S = 0.1  # changes that take longer have a transaction of their own
_LEAST_PAGES = 8_192  # a smaller index is not written anew for the room


class SharedTransaction(ExitStack):
    """One transaction for the changes of small documents that follow each other: a commit costs as much as a change."""

    def __init__(self, session: "Session") -> None:
        super().__init__()
        self._session = session
        self._until = self._asked = 0.0

    def begin(self) -> None:
        """Begin it, unless it has begun. Changes belong to it until it is committed."""
        if not self._session.is_changing:
            self._until = time.monotonic() + _SHARED_S
            self.enter_context(self._session.changing())

    def commit_if_due(self) -> None:
        """Commit it once it has lasted half a second, or if the work since the last call took long by itself."""
        now = time.monotonic()
        if now > self._until or now - self._asked > _SLOW_S:
            self.close()
        self._asked = now


class Session:
    """An index that is open for writing; make one with `open`. Every method may raise `StoreError`."""

    def __init__(self, db: apsw.Connection, path: Path, notes: tuple[str, ...]) -> None:
        self._db = db
        self._is_corrupt = False
        self._n_new = 0
        self.path = path
        self.notes = notes
        """Messages for the person about the opening, for example that a corrupt index was moved aside."""

    @staticmethod
    def _damage_in(db: apsw.Connection) -> str:
        """Return what is wrong with an index that somebody found damaged; a class that knows documents says it."""
        return ""

    @staticmethod
    def _take_over(db: apsw.Connection, damaged: apsw.Connection) -> tuple[int, int]:
        """Copy what is whole in a damaged index; return how many documents were kept and lost."""
        return 0, 0

    @classmethod
    def open(cls, path: Path, root: Path | None = None) -> Self:
        """Open the index file at `path`, or create it, and record `root`, the indexed folder.

        A corrupt index is moved aside and an empty one begun (`notes` says so). Raises `StoreError` for an index with a
        newer schema.
        """
        with errors_explained(path):
            db, notes = open_for_writing(path, cls._damage_in, cls._take_over)
            session = cls(db, path, notes)
            if root is not None:
                with session.changing() as changed:
                    changed.execute("INSERT OR REPLACE INTO meta VALUES ('root', ?)", (os.fsencode(root.absolute()),))
        return session

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        if not self._db:
            return
        with errors_explained(self.path):
            close_writer(self._db, is_intact=not self._is_corrupt)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Yield a connection that sees the index at one moment. Use it briefly: the log cannot shrink meanwhile."""
        with self._corruption_noted(), transaction(self._db, "DEFERRED"):
            yield self._db

    @contextmanager
    def changing(self) -> Iterator[apsw.Connection]:
        """Yield a connection whose changes are committed together, or rolled back on any error."""
        with self._corruption_noted():
            with transaction(self._db, "IMMEDIATE"):
                yield self._db
            self._shrink_log()
            self._refresh_segments_if_much_new()

    @property
    def is_changing(self) -> bool:
        """Whether a change has begun that is not committed yet."""
        return self._db.in_transaction

    @property
    def root(self) -> Path:
        """The indexed folder, absolute."""
        with self.reading() as db:
            found = db.execute("SELECT value FROM meta WHERE key = 'root'").get
        if found is None:
            raise StoreError("The index does not say which folder it belongs to", "Index the folder again")
        return Path(os.fsdecode(found))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model that made the vectors; "" before the first model is used."""
        with self.reading() as db:
            in_use = vectors.model_in_use(db)
        return in_use[0] if in_use else ""

    def progress(self) -> IndexProgress:
        """The progress of indexing."""
        with self.reading() as db:
            return reports.progress(db)

    def files(self) -> list[FileReport]:
        """Every file and its status, by path."""
        with self.reading() as db:
            return reports.files(db)

    def languages(self) -> dict[str, int]:
        """The number of documents in each language, by ISO 639 code, most first; "" for unclear ones."""
        with self.reading() as db:
            return languages.counts(db)

    def tidy(self) -> None:
        """Do the upkeep for idle times: compact the vectors, write segments of what is new, give back room."""
        with self.reading() as db:
            model = vectors.model_in_use(db)
        if model is not None:
            self._compact(dim=model[1])
            self._make_smaller(dim=model[1])
        is_smaller = self._write_words_anew()
        self._refresh_segments(is_idle=True)
        self._rewrite(is_smaller)
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

    def _compact(self, dim: int) -> None:
        with self.reading() as db:
            half_empty = compaction.half_empty(db)
        for chunk_id in half_empty:
            with self.changing() as db:
                compaction.empty(db, dim, chunk_id)

    def _make_smaller(self, dim: int) -> None:
        """Give an index from before schema 20 smaller vectors: a storage chunk, or some excerpts, in a transaction."""
        for table in vectors.TABLES:
            with self.reading() as db:
                of_float32 = storage_chunks.of_float32(db, table, dim)
            for chunk_id in of_float32:
                with self.changing() as db:
                    storage_chunks.to_int8(db, table, dim, [chunk_id])
        with self.reading() as db:
            is_any = excerpts.are_old(db)
        while is_any:
            with self.changing() as db:
                is_any = excerpts.make_smaller(db, dim, _EXCERPTS_OF)

    def _write_words_anew(self) -> bool:
        """Give an index from before schema 21 smaller words, some pages in a transaction; return whether it had any."""
        with self.reading() as db:
            are_old = is_any = keywords.are_old(db)
        while is_any:
            with self.changing() as db:
                is_any = keywords.write_anew(db)
        return are_old

    def _rewrite(self, is_smaller: bool) -> None:
        """Write an index anew if it has become smaller, a quarter is empty, or its pages have no room for checksums."""
        if self._db.in_transaction:
            return
        with self.reading() as db:
            is_empty = 4 * db.pragma("freelist_count") > max(_LEAST_PAGES, db.pragma("page_count"))
        if not keep_checksums(self._db) or is_empty or is_smaller:
            with suppress(apsw.BusyError, apsw.FullError):  # another idle time will do
                self._db.execute("VACUUM")

    def _shrink_log(self) -> None:
        if not self._db.in_transaction and log_bytes(self.path) > _LOG_MAX_BYTES:
            empty_log(self._db)

    def _refresh_segments_if_much_new(self) -> None:
        """Write segments once much is new: a first indexing takes hours, and searches use the segments meanwhile."""
        if not self._db.in_transaction and self._n_new >= upkeep.CHECK_EVERY:
            self._n_new = 0
            self._refresh_segments()

    def _refresh_segments(self, is_idle: bool = False) -> None:
        with self.changing() as db:
            upkeep.refresh(db, self.path, is_idle)
        with self.reading() as db:
            upkeep.sweep(db, self.path)
