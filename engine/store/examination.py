"""Examines an index: what is wrong in it, in plain words, and in which documents. Changes nothing.

The quick part compares sizes and counts; the thorough one reads every page, text, vector, state and segment.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np

from longsearch.engine.amounts import counted
from longsearch.engine.store import documents, manifest, vectors
from longsearch.engine.store.segments.files import mapped, path_of
from longsearch.engine.store.segments.vector_maker import TABLES, VectorMaker
from longsearch.engine.store.vec0 import storage_chunks

BROKEN = (apsw.Error, ValueError, TypeError, OSError, KeyError)
_NAMED = 20
"""Documents that are named of each kind of damage."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    what: str
    document_ids: tuple[int, ...] = ()
    """The documents that have it, if it is about documents."""
    is_of_segment: bool = False
    """Whether it is about a file of fast search, which the next writer makes anew by itself."""


def quick(db: apsw.Connection, index: Path) -> list[Finding]:
    """Compare sizes and counts of an open index, and the heads of its segments."""
    try:
        return [*_counts(db), *_segments(db, index, is_thorough=False)]
    except BROKEN as error:
        return [Finding(f"the index cannot be read: {error}")]


def thorough(db: apsw.Connection, index: Path, announce: Callable[[str], None]) -> list[Finding]:
    """Read all of an open index; `announce` is told what is read, and may raise to end it."""
    found = of_pages(db, announce)
    try:
        announce("segments")
        return [*found, *_segments(db, index, is_thorough=True)]
    except BROKEN:
        return found


def of_pages(db: apsw.Connection, announce: Callable[[str], None] = lambda _: None) -> list[Finding]:
    """Read all pages of an open index, and all documents. Otherwise as `thorough`."""
    announce("pages")
    try:
        if (said := str(db.execute("PRAGMA quick_check(1)").get)) != "ok":
            return [Finding(" ".join(said.split()))]
        ids = [row[0] for row in db.execute("SELECT id FROM contents ORDER BY id")]
        broken: dict[str, list[int]] = {}
        for number, document_id in enumerate(ids):
            announce(f"document {number + 1:,} of {len(ids):,}")
            if wrong := wrong_in(db, document_id):
                broken.setdefault(wrong, []).append(document_id)
        told = [Finding(f"{what} of {counted(len(own), 'document')}", tuple(own)) for what, own in broken.items()]
        return [*told, *_counts(db)]
    except BROKEN as error:
        return [Finding(f"the index cannot be read: {error}")]


def wrong_in(db: apsw.Connection, document_id: int) -> str:
    """Return what of a document is damaged, or ""."""
    for what, is_whole in _PARTS.items():
        try:
            if not is_whole(db, document_id):
                return what
        except BROKEN:
            return what
    return ""


def _text_is_whole(db: apsw.Connection, document_id: int) -> bool:
    n_characters = db.execute("SELECT n_chars FROM contents WHERE id = ?", (document_id,)).get
    past = "SELECT 1 FROM passages WHERE content_id = ? AND NOT (0 <= start AND start <= stop AND stop <= ?)"
    is_cut = db.execute(past, (document_id, n_characters)).get
    documents.outline(db, document_id)  # raises ValueError if its headings or places cannot be read
    return len(documents.text(db, document_id).text) == n_characters and is_cut is None


def _vectors_are_whole(db: apsw.Connection, document_id: int) -> bool:
    if not db.execute("SELECT done FROM embeddings WHERE content_id = ?", (document_id,)).get:
        return True
    ids, dim = documents.passage_ids(db, document_id), vectors.dim_in_use(db)
    places = storage_chunks.places_of(db, storage_chunks.PASSAGES, ids)
    codes = storage_chunks.read_codes(db, storage_chunks.PASSAGES, dim, places[:, 1], places[:, 2])
    return len(codes) == len(ids) and storage_chunks.are_whole(codes)


def _excerpts_are_whole(db: apsw.Connection, document_id: int) -> bool:
    sql = "SELECT length(vectors) FROM excerpt_vectors WHERE passage_id IN (SELECT id FROM passages WHERE content_id=?)"
    return all(row[0] > 0 for row in db.execute(sql, (document_id,)))


def _states_are_whole(db: apsw.Connection, document_id: int) -> bool:
    states = "SELECT state FROM resume_points WHERE content_id = :id UNION ALL SELECT state FROM embeddings"
    states += " WHERE content_id = :id AND state IS NOT NULL"
    return all(row[0] for row in db.execute(states, {"id": document_id}))


_PARTS: dict[str, Callable[[apsw.Connection, int], bool]] = {
    "the texts": _text_is_whole,
    "the vectors": _vectors_are_whole,
    "the excerpts": _excerpts_are_whole,
    "the saved states": _states_are_whole,
}


def unreadable(known: Mapping[str, object]) -> set[str]:
    """Return the keys of what an index knows of itself whose JSON cannot be read."""
    found = set()
    for key, value in known.items():
        try:
            if isinstance(value, str) and value[:1] in ("{", "["):
                json.loads(value)
        except ValueError:
            found.add(key)
    return found


def _counts(db: apsw.Connection) -> Iterator[Finding]:
    if broken := unreadable(dict(db.execute("SELECT key, value FROM meta"))):
        yield Finding(f"what the index knows of itself cannot be read: {', '.join(sorted(broken))}")
    n_passages, n_with_words = (db.execute(f"SELECT count(*) FROM {of}").get for of in ("passages", "words_docsize"))  # noqa: S608
    if n_passages != n_with_words:
        yield Finding(f"there are words of {n_with_words:,} passages, but there are {n_passages:,}")
    lost = db.execute("SELECT count(*) FROM files WHERE content_id NOT IN (SELECT id FROM contents)").get
    if lost:
        yield Finding(f"{counted(lost, 'file')} of which the document is missing")
    with_vector = "SELECT count(*) FROM embeddings WHERE done AND content_id IN (SELECT content_id FROM passages)"
    for kind, table in TABLES.items():
        is_any = db.table_exists("main", f"{table}_rowids")
        n_there = db.execute(f"SELECT count(*) FROM {table}_rowids").get if is_any else 0  # noqa: S608
        n_told = VectorMaker(kind).count(db) if kind is manifest.Kind.VECTORS else db.execute(with_vector).get
        if n_told != n_there:
            yield Finding(f"there are {n_there:,} vectors of {kind}, but {n_told:,} were made")


def _segments(db: apsw.Connection, index: Path, is_thorough: bool) -> Iterator[Finding]:
    for kind in manifest.Kind:
        for one in manifest.read(db, kind).segments:
            path = path_of(index, kind, one.token)
            try:
                arrays = mapped(path, one.token)
                is_whole = path.exists() and not arrays.is_damaged and len(arrays.raw["ids"]) == one.n
                if is_thorough:
                    for name in arrays:
                        np.asarray(arrays[name])  # compares its checksums
            except BROKEN:
                is_whole = False
            if not is_whole:
                yield Finding(f"the file of fast search {path.name} is missing or damaged", is_of_segment=True)


def paths_of(db: apsw.Connection, finding: Finding) -> list[str]:
    """Return the paths of some of the files of a finding."""
    some = ", ".join("?" * len(finding.document_ids[:_NAMED])) or "NULL"
    sql = f"SELECT path FROM files WHERE content_id IN ({some}) ORDER BY path"  # noqa: S608
    try:
        return [row[0].decode("utf-8", "surrogateescape") for row in db.execute(sql, finding.document_ids[:_NAMED])]
    except apsw.Error:
        return []
