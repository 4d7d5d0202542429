"""One publication as a reader sees it: its small tables as an image of SQLite, the rest in LanceDB at fixed versions.

A process keeps the newest snapshot of each store that it reads. It asks at most once a second whether there is a newer.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.index.lance.address import errors_explained
from longsearch.engine.index.lance.fetching import check_schema, put_small
from longsearch.engine.index.lance.postings import LENGTHS, Held, joined, keys_of
from longsearch.engine.index.lance.tables import Publication, Tables, batches_of, from_arrow
from longsearch.engine.store.schema import migrate
from longsearch.engine.store.segments.candidate_filter import places_among

_ASK_EVERY_S = 1.0
PLACES = ("id", "content_id", "ordinal", "start", "stop", "n_tokens", "page")
"""The columns that say where a passage lies."""
_PLACES_KEPT = 20_000
_TEXTS_KEPT = 2_000  # parts of texts, of 65,536 characters at most
_IDS_AT_ONCE = 5_000


class Snapshot:
    """One publication. Safe from any thread."""

    def __init__(self, tables: Tables, at: Publication) -> None:
        self.tables = tables
        self.at = at
        self._lock = threading.Lock()
        self._opened: dict[str, Any] = {}
        self._text_parts: dict[tuple[int, int], bytes] = {}
        self._places: dict[int, tuple[Any, ...]] = {}
        self.image = _image(tables, at)
        """The small tables, as `apsw.Connection.serialize` gives them."""
        table = tables.open("contents", at.versions["contents"])
        rows = [
            row
            for batch in batches_of(table, ("id", "first_passage", "n_passages"))
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]
        held = np.array(sorted(row for row in rows if row[2]), np.int64).reshape(-1, 3)
        self.document_ids: NDArray[np.int64] = held[:, 0]
        """(m,): the documents that have passages, ascending."""
        self.first_ids: NDArray[np.int64] = held[:, 1]
        """(m,): the first passage of each; the others of a document follow it."""
        self.first_of: NDArray[np.int64] = np.append(0, np.cumsum(held[:, 2]))
        """(m + 1,): where in `passage_ids` the passages of each document begin."""

    @cached_property
    def passage_ids(self) -> NDArray[np.int64]:
        """(n,): all passages, ascending."""
        sizes = np.diff(self.first_of)
        return np.repeat(self.first_ids - self.first_of[:-1], sizes) + np.arange(self.first_of[-1])

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """(n,): the words of each passage, title included."""
        held = self.postings(f"term = '{LENGTHS}'").get(LENGTHS)
        lengths = np.zeros(len(self.passage_ids), np.int64)
        if held is not None:
            lengths[np.searchsorted(self.passage_ids, held.ids)] = held.counts
        return lengths

    def table(self, name: str) -> Any:
        """A table at the version of this publication."""
        with self._lock:
            if name not in self._opened:
                self._opened[name] = self.tables.open(name, self.at.versions[name])
            return self._opened[name]

    def rows(self, name: str, columns: Sequence[str], where: str) -> list[tuple[Any, ...]]:
        """The rows of a table that satisfy a condition."""
        with errors_explained(self.tables.uri):
            return [row for batch in batches_of(self.table(name), columns, where) for row in from_arrow(batch)]

    def rows_by(self, name: str, columns: Sequence[str], key: str, ids: Iterable[int]) -> list[tuple[Any, ...]]:
        """The rows of a table of which the column `key` has one of these values."""
        wanted, found = sorted(set(ids)), list[tuple[Any, ...]]()
        for start in range(0, len(wanted), _IDS_AT_ONCE):
            listed = ", ".join(map(str, wanted[start : start + _IDS_AT_ONCE]))
            found += self.rows(name, columns, f"{key} IN ({listed})")
        return found

    def postings(self, where: str) -> dict[str, Held]:
        """The passages of each term that satisfies a condition."""
        by_term: dict[str, list[tuple[int, bytes, bytes]]] = {}
        for term, *row in self.rows("postings", ("term", "bucket", "places", "counts"), where):
            by_term.setdefault(term, []).append(tuple(row))
        return {term: joined(own) for term, own in by_term.items()}

    def keys(self, where: str) -> dict[str, NDArray[np.int64]]:
        """Where the passages hold each term that satisfies a condition: see `postings.keys_of`."""
        by_term: dict[str, list[tuple[int, bytes]]] = {}
        for term, bucket, keys in self.rows("postings", ("term", "bucket", "keys"), where):
            by_term.setdefault(term, []).append((bucket, keys))
        return {term: keys_of(own) for term, own in by_term.items()}

    def vectors(self, name: str, key: str, ids: Iterable[int]) -> dict[int, Vectors]:
        """The vector (dim,) of each of these passages or documents that has one."""
        found = self.rows_by(name, (key, "vector"), key, ids)
        return {id_: np.frombuffer(own, np.float32) for id_, own in found if own is not None}

    def text_parts(self, document_ids: Iterable[int], ordinals: Sequence[int] | None) -> list[tuple[int, int, bytes]]:
        """(document, ordinal, body) of the parts of these documents' texts; `ordinals`: only these parts."""
        wanted = sorted(set(document_ids))
        if ordinals is not None:
            keys = [(id_, ordinal) for id_ in wanted for ordinal in ordinals]
            with self._lock:
                if all(key in self._text_parts for key in keys):
                    return [(*key, self._text_parts[key]) for key in keys]
        found: list[Any] = self.rows_by("text_parts", ("content_id", "ordinal", "body"), "content_id", wanted)
        self._keep(found)
        return [row for row in found if ordinals is None or row[1] in ordinals]

    def places(self, passage_ids: Sequence[int]) -> list[tuple[Any, ...]]:
        """The rows of these passages, of the columns `PLACES`."""
        with self._lock:
            if all(id_ in self._places for id_ in passage_ids):
                return [self._places[id_] for id_ in passage_ids]
        return self.rows_by("passages", PLACES, "id", passage_ids)

    def expect(self, passage_ids: Sequence[int]) -> None:
        """Fetch the places of these passages and the texts of their documents at once: they will be read next."""
        found = self.rows_by("passages", PLACES, "id", passage_ids)
        with self._lock:
            if len(self._places) > _PLACES_KEPT:
                self._places.clear()
            self._places.update({row[0]: row for row in found})
            known = {document_id for document_id, _ in self._text_parts}
        self.text_parts({row[1] for row in found} - known, None)

    def document_of(self, passage_ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        """The document of each of these passages, and the passage's ordinal in it; unknown ones are missing."""
        ids = np.array(sorted(set(passage_ids)), np.int64)
        places = np.searchsorted(self.first_ids, ids, "right") - 1
        found = {}
        for id_, place in zip(ids.tolist(), places.tolist(), strict=True):
            ordinal = id_ - int(self.first_ids[place]) if place >= 0 else -1
            if 0 <= ordinal < int(self.first_of[place + 1] - self.first_of[place]):
                found[id_] = int(self.document_ids[place]), ordinal
        return found

    def n_passages_of(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,): the number of passages of each of these documents (n,), ascending."""
        places, there = places_among(self.document_ids, document_ids)
        found = np.zeros(len(document_ids), np.int64)
        found[there] = self.first_of[places + 1] - self.first_of[places]
        return found

    def passages_of(self, document_ids: Iterable[int]) -> Iterator[tuple[int, int, int]]:
        """(id, document, ordinal) of the passages of these documents."""
        wanted = np.array(sorted(set(document_ids)), np.int64)
        places = np.searchsorted(self.document_ids, wanted)
        for id_, place in zip(wanted.tolist(), places.tolist(), strict=True):
            if place < len(self.document_ids) and self.document_ids[place] == id_:
                first = int(self.first_ids[place])
                for ordinal in range(int(self.first_of[place + 1] - self.first_of[place])):
                    yield first + ordinal, id_, ordinal

    def _keep(self, parts: Sequence[tuple[int, int, bytes]]) -> None:
        with self._lock:
            if len(self._text_parts) + len(parts) > _TEXTS_KEPT:
                self._text_parts.clear()
            self._text_parts.update({(document_id, ordinal): body for document_id, ordinal, body in parts})


_newest: dict[str, tuple[float, Snapshot]] = {}
_opening = threading.Lock()


def newest(uri: str) -> Snapshot:
    """The newest publication of a store. Raises NoIndexError if there is no store."""
    with _opening:
        asked_at, known = _newest.get(uri, (0.0, None))
        if known is not None and time.monotonic() - asked_at < _ASK_EVERY_S:
            return known
        tables = known.tables if known is not None else Tables(uri)
        at = tables.newest()
        if known is None or known.at.number != at.number:
            check_schema(at, uri)
            tables = Tables(uri)
            with errors_explained(uri):
                known = Snapshot(tables, at)
        _newest[uri] = time.monotonic(), known
        return known


def forget(uri: str) -> None:
    """Have the next reader in this process ask for the newest publication."""
    with _opening:
        _newest.pop(uri, None)


def _image(tables: Tables, at: Publication) -> bytes:
    db = apsw.Connection(":memory:")
    try:
        migrate(db)
        db.execute("BEGIN")
        put_small(db, tables, at)
        db.execute("COMMIT")
        return db.serialize("main")
    finally:
        db.close()
