"""An open index: all that a search asks of it, at one moment. Make one with `open_index`."""

import json
import os
from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.errors import StoreError
from longsearch.engine.index.backends import IndexBackend
from longsearch.engine.passages import EXCERPT_WEIGHT
from longsearch.engine.store import connection, documents, files, languages, metadata, reports, vectors
from longsearch.engine.store.languages import IndexLanguages
from longsearch.engine.store.records import Outline, PassageRow
from longsearch.engine.store.segments import filter_cache
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.progress import FileReport, IndexProgress

_BACKGROUND = "background"
_MOST_FIELDS = 1000  # hostile front matter may hold any number of keys


@dataclass(frozen=True, slots=True)
class Background:
    """The scores that queries of random words reach in an index: see `search.calibration`."""

    fingerprint: str
    """The fingerprint of the model that made the vectors."""
    n_passages: int
    """How many passages the index had when it was measured."""
    scores: Mapping[str, Sequence[float]]
    """For each mode, by its value, the score of the best hit for each query, ascending; by `vector_of`, the cosines
    of the best hits by meaning."""

    def beaten(self, score: float, kind: str) -> float | None:
        """Return the share of random queries (0 to 1) that a score or a cosine of this kind beats; None if unknown."""
        scores = self.scores.get(kind)
        return bisect_left(scores, score) / len(scores) if scores else None


class Index:
    """One moment of an index. Each fact is read when it is first asked for, and once. For one thread."""

    def __init__(self, path: Path, db: apsw.Connection, backend: IndexBackend, meta: dict[str, Any]) -> None:
        """`meta`: the rows of the table of this name."""
        self.path = path
        self.db = db
        """The small tables, in a transaction: for the functions of `engine.store`."""
        self.backend = backend
        """The engine that knows words and vectors."""
        self.meta = meta
        self.model = vectors.model_of(meta)
        """Fingerprint and dimension of the vectors, or None before a model is in use."""
        self.fingerprint = self.model[0] if self.model else ""
        self.files_version = filter_cache.FilesVersion(db.filename, meta.get("root", b""), int(meta["files_version"]))
        """Another one after every change of the files, and with it of the words."""
        self._outlines: dict[int, Outline] = {}
        self._rows: dict[int, PassageRow] = {}
        self.excerpt_weight = float(meta.get("excerpt_weight", EXCERPT_WEIGHT))
        """The share of the nearest excerpt in a passage's score by meaning."""

    @cached_property
    def root(self) -> Path:
        """The indexed folder, absolute."""
        if "root" not in self.meta:
            raise StoreError("The index does not say which folder it belongs to", "Index the folder again")
        return Path(os.fsdecode(self.meta["root"]))

    @cached_property
    def background(self) -> Background | None:
        """What chance reaches here; None if it was not measured, or for the vectors of another model."""
        if _BACKGROUND not in self.meta:
            return None
        try:
            background = Background(**json.loads(self.meta[_BACKGROUND]))
        except (ValueError, TypeError) as error:  # a page of zeros has the right checksum
            raise apsw.CorruptError("what chance reaches cannot be read") from error
        return background if background.fingerprint == self.fingerprint else None

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names of the fields that documents have."""
        return frozenset(map(str, connection.distinct(self.db, "metadata", "field", _MOST_FIELDS)))

    @cached_property
    def spoken(self) -> IndexLanguages:
        """The languages in which a query's words are looked up."""
        codes = connection.distinct(self.db, "contents", "language")
        return IndexLanguages(tuple(map(str, codes)), languages.next_unsettled(self.db) is None)

    @cached_property
    def n_documents(self) -> int:
        """The number of documents."""
        return filter_cache.n_documents(self.db, self.files_version)

    @cached_property
    def n_waiting(self) -> int:
        """The number of documents whose vectors are not complete."""
        # without a condition SQLite counts whole pages, and an index holds the few that are not done
        sql = (
            "SELECT (SELECT count(*) FROM contents) - (SELECT count(*) FROM embeddings)"
            " + (SELECT count(*) FROM embeddings WHERE NOT done)"
        )
        return int(self.db.execute(sql).get)

    @cached_property
    def n_undescribed(self) -> int:
        """The number of documents whose metadata have not been read by today's rules."""
        return metadata.n_undescribed(self.db)

    def documents_where(self, wanted: filter_cache.FileTests) -> NDArray[np.int64]:
        """The documents of the files that pass `wanted`, ascending."""
        return filter_cache.documents_where(self.db, self.files_version, wanted)

    def kept(self, key: Hashable, make: Callable[[], NDArray[np.int64] | None]) -> NDArray[np.int64] | None:
        """The documents that `make` returns for `key`, kept until files, languages or metadata change; None for all."""
        return filter_cache.kept(self.files_version, key, make)

    def progress(self) -> IndexProgress:
        """The progress of indexing."""
        return reports.progress(self.db)

    def files(self) -> list[FileReport]:
        """Every file and its status, by path."""
        return reports.files(self.db)

    def languages(self) -> dict[str, int]:
        """The number of documents in each language, by ISO 639 code, most first; "" for unclear ones."""
        return languages.counts(self.db)

    def document_of(self, path: str) -> int | None:
        """The document that the file at `path`, relative to the root, holds; None if the index does not know it."""
        return files.document_of(self.db, path)

    def hash_of(self, document_id: int) -> bytes:
        """The hash of a document's bytes; b"" if it is gone."""
        return documents.hashes_of(self.db, [document_id]).get(document_id, b"")

    def newest_headings(self, n_documents: int) -> list[list[str]]:
        """The headings of the documents that were added last, as texts, without the document's title."""
        return reports.newest_headings(self.db, n_documents)

    def is_furniture(
        self, document_ids: NDArray[np.int64], passage_ids: NDArray[np.int64], nearest: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """(n,): whether each of these passages (n,), ascending, which are of these documents, only points elsewhere.

        One that holds some text beside a list does so if its nearest excerpt is in the list: `nearest` (n,) says where
        that begins, in characters from the passage's start; -1 if nothing is known.
        """
        sql = (
            "SELECT furniture FROM contents INDEXED BY contents_by_furniture"
            " WHERE id IN (SELECT value FROM json_each(?)) AND furniture IS NOT '[]'"
        )
        found = np.zeros(len(passage_ids), np.bool_)
        for (packed,) in self.db.execute(sql, (json.dumps(document_ids.tolist()),)):
            for *_, first, last, shared in json.loads(packed or "[]"):
                found[slice(*np.searchsorted(passage_ids, (first, last + 1)))] = True
                for id_, start, stop in shared:
                    place = slice(*np.searchsorted(passage_ids, (id_, id_ + 1)))
                    found[place] |= (start <= nearest[place]) & (nearest[place] < stop)
        return found

    def outlines(self, document_ids: Sequence[int]) -> Mapping[int, Outline]:
        """The outlines of these documents, among others."""
        if left := [id_ for id_ in document_ids if id_ not in self._outlines]:
            self._outlines |= documents.outlines(self.db, left)
        return self._outlines

    def passage_rows(self, passage_ids: Sequence[int]) -> Mapping[int, PassageRow]:
        """Where these passages lie, among others."""
        if left := [id_ for id_ in passage_ids if id_ not in self._rows]:
            self.backend.expect(left)
            sql = (
                "SELECT id, content_id, start, stop, page, ordinal = 0 FROM passages"
                " WHERE id IN (SELECT value FROM json_each(?))"
            )
            self._rows |= {row[0]: PassageRow(*row) for row in self.db.execute(sql, (json.dumps(left),))}
        return self._rows

    def text(self, document_id: int) -> DocumentText:
        """The whole document."""
        return documents.text(self.db, document_id)


def keep(db: apsw.Connection, background: Background) -> None:
    """Keep the background in the index."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_BACKGROUND, json.dumps(asdict(background))))
