"""Helpers for the store's tests: invented documents, unit vectors, and a check of the invariants of an index."""

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search import searcher
from longsearch.engine.search.searcher import SearchRequest
from longsearch.engine.store import documents, vectors
from longsearch.engine.store.excerpts import packed
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.store.vec0 import storage_chunks
from longsearch.engine.types.documents import DocumentText, Heading, Passage
from longsearch.engine.types.results import SearchMode, SearchResults

DIM = 8
ROOT = Path("/papers")


def open_store(path: Path, **options: bool) -> Store:
    return Store.open(path, **options) if options else Store.open(path, root=ROOT)


Answer = TypeVar("Answer")


class HasPath(Protocol):
    """An index that is open for writing, or for reading."""

    path: Path


def of_store(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """A function of an open index, as a function of the store that writes it."""

    @wraps(function)
    def opening(store: HasPath, *arguments: Any, **options: Any) -> Answer:
        with open_index(store.path) as index:
            return function(index, *arguments, **options)

    return opening


def search(
    stores: HasPath | Sequence[HasPath],
    text: str,
    mode: SearchMode = SearchMode.WORDS,
    vector: NDArray[np.float32] | None = None,
    prefix_last: bool = False,
    under: str = "",
    vectors: Sequence[NDArray[np.float32] | None] = (),
    **options: Any,
) -> SearchResults:
    """Search one index, or several as one, for a query as a person types it."""
    with ExitStack() as stack:
        listed = stores if isinstance(stores, Sequence) else [stores]
        indexes = [stack.enter_context(open_index(store.path)) for store in listed]
        query = parse(text, prefix_last, frozenset[str]().union(*(index.fields for index in indexes)))
        query = replace(query, files=replace(query.files, under=under))
        return searcher.search(indexes, SearchRequest(query, mode, vectors or [vector] * len(indexes), **options))


def record(path: str, size: int = 10, mtime_ns: int = 1, inode: int = 1) -> FileStamp:
    return FileStamp(path, size, mtime_ns, inode)


def document(seed: str, n_passages: int = 3) -> tuple[bytes, DocumentText, list[Passage]]:
    """(hash, text, passages) made from `seed`, with a page for every two passages. Seed "" means no title."""
    sentences = [f"Sentence {number} of {seed} speaks of apples. " for number in range(n_passages)]
    starts = [sum(map(len, sentences[:number])) for number in range(n_passages)]
    passages = [Passage(start, start + len(words) - 1, 9) for start, words in zip(starts, sentences, strict=True)]
    headings = (Heading(1, f"On {seed}", 0),) if n_passages else ()
    text = DocumentText("".join(sentences), tuple(starts[::2]), f"Title of {seed}" if seed else "", headings)
    return hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest(), text, passages


def add(store: Store, path: str, seed: str, n_passages: int = 3) -> int:
    return store.add_document(record(path), *document(seed, n_passages))


def as_stored(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit vectors (n, dim) as an index gives them back."""
    codes = storage_chunks.codes_of(vectors)
    return codes * storage_chunks.scales_of(codes)[:, None]


def unit_vectors(n: int, dim: int = DIM, seed: int = 0) -> NDArray[np.float32]:
    """Random unit vectors that an index gives back as they are."""
    return as_stored(np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32))


def embed(store: Store, document_id: int, seed: int = 0) -> NDArray[np.float32]:
    """Give a document all its vectors; return those of its passages."""
    given = unit_vectors(len(store.passages(document_id)), seed=seed)
    rows = ((row % 3, own) for row, own in enumerate(given))
    excerpts = [packed(np.arange(n), unit_vectors(n, seed=seed + n), own) for n, own in rows]
    assert store.add_vectors(document_id, 0, given, 9 * len(given), b"state", excerpts)
    assert store.finish_embedding(document_id, unit_vectors(1, seed=seed + 1)[0], 9 * len(given) + 1)
    return given


def vectors_of_passages(session: HasPath, document_id: int) -> NDArray[np.float32]:
    """(n, dim) unit vectors of the document's first n passages; all passages once it is complete."""
    with open_index(session.path) as index:
        return vectors.of_passages(index.db, document_id)


def vector_of(session: HasPath, document_id: int) -> NDArray[np.float32] | None:
    """(dim,) unit vector of the whole document; None while it is incomplete."""
    with open_index(session.path) as index:
        return vectors.of_document(index.db, document_id)


def check_invariants(store: HasPath) -> None:
    """Check that no table has orphans and that no row is missing."""
    with open_index(store.path) as index:
        db = index.db
        contents = _set(db, "SELECT id FROM contents")
        passages = _set(db, "SELECT id FROM passages")
        assert contents == _set(db, "SELECT content_id FROM files WHERE content_id IS NOT NULL")
        assert _set(db, "SELECT content_id FROM text_parts") <= contents
        assert _set(db, "SELECT content_id FROM passages") <= contents
        assert _set(db, "SELECT content_id FROM embeddings") <= contents
        assert _set(db, "SELECT content_id FROM deepenings") <= _set(
            db, "SELECT content_id FROM embeddings WHERE done AND width < 1"
        )
        assert _set(db, "SELECT content_id FROM metadata") <= contents
        assert _set(db, "SELECT rowid FROM words") == passages
        assert _set(db, "SELECT id FROM words_docsize") == passages
        for document_id, n_chars, n_tokens in db.execute("SELECT id, n_chars, n_tokens FROM contents").fetchall():
            assert len(documents.text(db, document_id).text) == n_chars
            assert sum(passage.n_tokens for passage in documents.passages(db, document_id)) == n_tokens
        n_done = db.execute("SELECT count(*) FROM embeddings WHERE done").get
        assert index.n_waiting == len(contents) - n_done
        _check_titles(db)
        _check_vectors(db)
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')") if not db.readonly("main") else None
        assert db.pragma("foreign_key_check") is None
        assert db.pragma("integrity_check") == "ok"


def _check_titles(db: apsw.Connection) -> None:
    """A document without a title of its own has the name of its first file as title, and is found by it."""
    sql = "SELECT contents.id, title, min(path) FROM contents JOIN files ON content_id = contents.id"
    for document_id, title, path in db.execute(f"{sql} WHERE title_is_name GROUP BY 1").fetchall():
        assert title == documents.title_of(os.fsdecode(path))
        found = db.execute("SELECT rowid FROM words WHERE words MATCH ?", (f'title : "{title}"',))
        if ids := documents.passage_ids(db, document_id):
            assert ids[0] in {row[0] for row in found}


def _check_vectors(db: apsw.Connection) -> None:
    without_passages = _set(db, "SELECT id FROM contents WHERE id NOT IN (SELECT content_id FROM passages)")
    done = _set(db, "SELECT content_id FROM embeddings WHERE done")
    assert without_passages <= done
    if not db.table_exists("main", "passage_vectors"):
        assert not db.execute("SELECT 1 FROM embeddings WHERE n_passages_done > 0").fetchall()
        return
    embedded = "SELECT id FROM passages JOIN embeddings USING (content_id) WHERE ordinal < n_passages_done"
    assert _set(db, "SELECT rowid FROM passage_vectors") == _set(db, embedded)
    assert _set(db, "SELECT passage_id FROM excerpt_vectors") <= _set(db, embedded)
    assert _set(db, "SELECT rowid FROM document_vectors") == done - without_passages
    incomplete = """
        SELECT content_id FROM embeddings WHERE done
        AND n_passages_done <> (SELECT count(*) FROM passages WHERE passages.content_id = embeddings.content_id)
    """
    assert not _set(db, incomplete)


def _set(db: apsw.Connection, sql: str) -> set[int]:
    return {row[0] for row in db.execute(sql).fetchall()}
