"""A large index made of a smaller one in minutes, and its row of the table by size: `python tests/bench/large_index.py
--base INDEX --times 3`. INDEX is one of `searching.py --text`, with its segments.

Each copy of the smaller index has new documents: 64 neighbouring documents exchange their passages, except the first
passage of each, which goes with its title and metadata. So words, their positions and the lengths of passages are real,
documents keep to a subject, and no two are the same. The copies add no word that the smaller index does not have. A
passage's vector is its old one with noise in all directions (cosine .91, two copies .83): a query has as many near ones
as there are copies, and the vectors keep the clusters of the texts. Excerpts are copied.

Nothing is cut into words or embedded. Rows, storage chunks and segments are written by the product's code or in its
layout. FTS5's own table stays empty but for its totals: segments answer every query. So typing errors are not mended,
because the words of passages are looked up in FTS5; a missing segment cannot be made good; and bytes lack FTS5's 290 a
passage. A run that was stopped goes on at its last document or storage chunk, and writes the segments from the first.

Longer than 300 lines because to plan the copies, to write each kind of their parts and to search them is one thing.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import query_classes
from numpy.typing import NDArray

from longsearch.engine.answers.token_table import TokenTable
from longsearch.engine.store import documents, files, manifest, metadata, texts, vectors
from longsearch.engine.store.manifest import Kind, Listed
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.segments import postings, sign_scan, vector_maker, word_maker
from longsearch.engine.store.segments.files import Arrays, Segments
from longsearch.engine.store.segments.term_counts import counts_at, places_at, ranges
from longsearch.engine.store.store import Store
from longsearch.engine.store.vec0 import storage_chunks
from longsearch.engine.types.documents import DocumentText, MetadataValue, Passage
from longsearch.engine.types.results import SearchMode

_WINDOW = 64  # documents that exchange passages
_NOISE = 0.45  # length of what is added to a vector of length 1
_POSTINGS_AT_ONCE = 2**20
_ROWS = storage_chunks.SIZE
_ASKED = ("a question", "a sentence", "two words", "in:", "-in:", "all filters", "a phrase")

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Piece:
    """What becomes of one segment of words of the smaller index: as many copies as asked for, one after another."""

    words: Arrays
    perms: list[Ids]
    """For each copy (n,): which passage of the segment comes to each place."""
    first_document: int
    first_passage: int
    """The ids of the first of its new documents and passages."""

    @property
    def n(self) -> int:
        """Passages of the segment."""
        return len(self.words["ids"])

    @property
    def source(self) -> Ids:
        """(copies * n,): the id of the old passage of each new one."""
        return np.concatenate([self.words["ids"][perm] for perm in self.perms])

    @property
    def owners(self) -> Ids:
        """(copies * n,): the new document of each new passage."""
        own = np.repeat(np.arange(len(self.words["document_ids"])), np.diff(self.words["first_of"]))
        n = len(self.words["document_ids"])
        return np.concatenate([own + self.first_document + copy * n for copy in range(len(self.perms))])


def pieces_of(base: apsw.Connection, times: int) -> list[Piece]:
    """Plan the copies of each segment; the same every time."""
    found, document, passage = [], 1, 1
    opened = Segments(base).opened(Kind.WORDS)
    if not opened or any(len(dead) for _, dead in opened):
        raise SystemExit("the smaller index has no segments, or outdated ones: let the indexer be idle first")
    for number, (arrays, _) in enumerate(opened):
        perms = [exchanged(arrays["first_of"], np.random.default_rng((number, copy))) for copy in range(times)]
        found.append(Piece(arrays, perms, document, passage))
        document += times * len(arrays["document_ids"])
        passage += times * len(arrays["ids"])
    return found


def exchanged(first_of: Ids, random: np.random.Generator) -> Ids:
    """(n,): which passage comes to each place when neighbouring documents exchange all but their first passages."""
    perm = np.arange(first_of[-1])
    for start in range(0, len(first_of) - 1, _WINDOW):
        own = first_of[start : start + _WINDOW + 1]
        others = np.setdiff1d(np.arange(own[0], own[-1]), own, assume_unique=True)
        perm[others] = random.permutation(others)
    return perm


def add_documents(store: Store, base: apsw.Connection, pieces: list[Piece]) -> None:
    """Add the documents that are missing, a window in a transaction."""
    with store.reading() as db:
        n_done = documents.count(db)
    for piece in pieces:
        n, first_of = len(piece.words["document_ids"]), piece.words["first_of"]
        for copy, perm in enumerate(piece.perms):
            for start in range(0, n, _WINDOW):
                first = piece.first_document + copy * n + start
                if first <= n_done:
                    continue
                own = piece.words["document_ids"][start : start + _WINDOW].tolist()
                held = Held.of(base, own)
                with store.changing() as db:
                    for number, old in enumerate(own, start):
                        ids = piece.words["ids"][perm[first_of[number] : first_of[number + 1]]].tolist()
                        _add(db, held, old, ids, copy)
            print(f"{documents_in(store)} documents", end="\r", file=sys.stderr, flush=True)


def documents_in(store: Store) -> int:
    """How many documents an index has."""
    with store.reading() as db:
        return documents.count(db)


@dataclass(frozen=True)
class Held:
    """Some old documents, in memory."""

    of_passage: dict[int, tuple[str, int]]
    """Text and number of tokens."""
    of_document: dict[int, tuple[str, str, str]]
    """Title, language and path."""
    values: dict[int, list[MetadataValue]]

    @classmethod
    def of(cls, base: apsw.Connection, ids: list[int]) -> "Held":
        """Read these documents."""
        of_passage, listed = {}, json.dumps(ids)
        whole = {id_: texts.whole(base, id_) for id_ in ids}
        among = "IN (SELECT value FROM json_each(?))"
        sql = f"SELECT id, content_id, start, stop, n_tokens FROM passages WHERE content_id {among}"
        for id_, document, start, stop, n_tokens in base.execute(sql, (listed,)):
            of_passage[id_] = whole[document][start:stop], n_tokens
        sql = (
            "SELECT contents.id, title, language, CAST(min(path) AS TEXT) FROM contents"
            f" JOIN files ON content_id = contents.id WHERE contents.id {among} GROUP BY contents.id"
        )
        of_document = {id_: tuple(row) for id_, *row in base.execute(sql, (listed,))}
        values: dict[int, list[MetadataValue]] = {id_: [] for id_ in ids}
        sql = (
            "SELECT content_id, field, value, source FROM metadata"
            f" WHERE NOT of_file AND content_id {among} ORDER BY content_id, ordinal"
        )
        for id_, *row in base.execute(sql, (listed,)):
            values[id_].append(MetadataValue(*row))
        return cls(of_passage, of_document, values)


def _add(db: apsw.Connection, held: Held, old: int, ids: list[int], copy: int) -> None:
    """Add the document with these old passages; its title is that of the old document."""
    parts = [held.of_passage[id_] for id_ in ids]
    starts = np.cumsum([0, *(len(text) + 1 for text, _ in parts)]).tolist()
    passages = [Passage(start, start + len(text), n) for start, (text, n) in zip(starts, parts, strict=False)]
    text, (title, language, path) = "\n".join(text for text, _ in parts), held.of_document[old]
    name = str(Path(path).parent / f"{copy}" / f"{old} {Path(path).name}")
    digest = hashlib.sha256(f"{copy} {old} {ids[0]}".encode()).digest()
    id_ = documents.insert(db, digest, DocumentText(text, (), title), passages, "", "", language)
    metadata.put(db, id_, held.values[old])
    documents.set_names(db, id_, [name], [])
    db.execute("UPDATE contents SET furniture = '[]' WHERE id = ?", (id_,))
    files.put(db, FileStamp(name, len(text), id_, id_ + 1), id_)
    metadata.follow_file(db, id_, name, title)
    sql = "INSERT INTO embeddings (content_id, n_passages_done, n_tokens_done, done) VALUES (?, ?, ?, 1)"
    db.execute(sql, (id_, len(ids), sum(n for _, n in parts)))
    first = db.execute("SELECT min(id) FROM passages WHERE content_id = ?", (id_,)).get
    copied = "INSERT INTO excerpt_vectors SELECT ?, vectors FROM base.excerpt_vectors WHERE passage_id = ?"
    db.executemany(copied, ((first + number, id_) for number, id_ in enumerate(ids)))


def put_vectors(store: Store, table: str, n: int, dim: int, rows: Any) -> None:
    """Write the storage chunks that are missing; `rows(start, stop)` gives the vectors of ids `start + 1` to `stop`."""
    with store.reading() as db:
        n_done = db.execute(f"SELECT coalesce(max(chunk_id), 0) FROM {table}_chunks").get
    for chunk in range(n_done, -(-n // _ROWS)):
        start, stop = chunk * _ROWS, min(n, (chunk + 1) * _ROWS)
        codes = np.zeros((_ROWS, dim), np.int8)
        codes[: stop - start] = storage_chunks.codes_of(rows(start, stop))
        ids = np.zeros(_ROWS, np.int64)
        ids[: stop - start] = np.arange(start + 1, stop + 1)
        validity = np.packbits(np.arange(_ROWS) < stop - start, bitorder="little").tobytes()
        with store.changing() as db:
            db.execute(f"INSERT INTO {table}_chunks VALUES (?, ?, ?, ?)", (chunk + 1, _ROWS, validity, ids.tobytes()))
            db.execute(
                f"INSERT INTO {table}_vector_chunks00 (_rowid_, rowid, vectors) VALUES (?, ?, ?)",
                (chunk + 1, chunk + 1, codes.tobytes()),
            )
            places = ((start + 1 + row, None, chunk + 1, row) for row in range(stop - start))
            db.executemany(f"INSERT INTO {table}_rowids VALUES (?, ?, ?, ?)", places)


def codes_by_id(base: apsw.Connection, dim: int) -> storage_chunks.Codes:
    """(largest id + 1, dim): the codes of all old passages."""
    directory = storage_chunks.directory(base)
    found = np.zeros((int(directory.rowids[directory.live].max()) + 1, dim), np.int8)
    for chunk_id, rowids, live in zip(directory.chunk_ids.tolist(), directory.rowids, directory.live, strict=True):
        found[rowids[live]] = storage_chunks.read_chunk(base, storage_chunks.PASSAGES, dim, chunk_id)[live]
    return found


def _unit(codes: storage_chunks.Codes) -> NDArray[np.float32]:
    return codes * storage_chunks.scales_of(codes)[:, None]


def noisy(codes: storage_chunks.Codes, source: Ids, start: int, stop: int) -> NDArray[np.float32]:
    """The vectors of the new passages from `start` to `stop`."""
    random, dim = np.random.default_rng(start), codes.shape[1]
    found: NDArray[np.float32] = _unit(codes[source[start:stop]]) + random.standard_normal(
        (stop - start, dim), np.float32
    ) * (_NOISE / dim**0.5)
    return found


def of_whole(codes: storage_chunks.Codes, source: Ids, owners: Ids, start: int, stop: int) -> NDArray[np.float32]:
    """The vectors of the new documents with the ids `start + 1` to `stop`: the means of their passages."""
    first, last = np.searchsorted(owners, (start + 1, stop + 1))
    parts = _unit(codes[source[first:last]])
    sums: NDArray[np.float32] = np.add.reduceat(
        parts, np.searchsorted(owners[first:last], np.arange(start + 1, stop + 1))
    )
    sums /= np.linalg.norm(sums, axis=1, keepdims=True)
    return sums


def blocks_of(piece: Piece) -> Iterator[postings.Block]:
    """Yield the postings of all copies of a segment, term by term."""
    words, times = piece.words, len(piece.perms)
    inverse = [np.argsort(perm) for perm in piece.perms]
    ends, position_ends = words["posting_ends"].astype(np.int64), words["position_ends"].astype(np.int64)
    start, n_terms = 0, len(ends) - 1
    while start < n_terms:
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + _POSTINGS_AT_ONCE // times, "right")) - 1)
        first, last = int(ends[start]), int(ends[stop])
        places, counts = places_at(words, first, last), counts_at(words, first, last).astype(np.int64)
        terms = np.repeat(np.arange(start, stop), np.diff(ends[start : stop + 1]))
        positions = postings.positions_at(words, np.arange(position_ends[start], position_ends[stop]))
        new = np.concatenate([own[places] + copy * piece.n for copy, own in enumerate(inverse)])
        order = np.argsort(np.tile(terms, times) * (times * piece.n) + new, kind="stable")
        old = order % len(places)
        rows = ranges((np.cumsum(counts) - counts)[old], counts[old])
        yield postings.Block(terms[old], new[order], counts[old], positions[rows])
        start = stop


def write_segments(store: Store, pieces: list[Piece], dim: int) -> None:
    """Write the segments of words, passages and documents, and say that they count."""
    of_words, of_vectors = [], []
    for number, piece in enumerate(pieces, 1):
        source, n = piece.source, piece.n * len(piece.perms)
        ids = np.arange(piece.first_passage, piece.first_passage + n)
        lengths, text_lengths = (
            np.concatenate([piece.words[name][perm] for perm in piece.perms]).astype(np.int32)
            for name in ("lengths", "text_lengths")
        )
        passages, terms = postings.Passages(ids, piece.owners, lengths, text_lengths), postings.terms_of(piece.words)
        counted = postings.Counted.of(len(terms), piece.owners, partial(blocks_of, piece))
        of_words.append(Listed(number, word_maker._write(store.path, passages, terms, counted), n))
        token = write_vectors(store, Kind.VECTORS, ids, piece.owners, dim)
        of_vectors.append(Listed(number, token, n))
        print(f"segments of {len(source)} passages", file=sys.stderr, flush=True)
    n_documents = documents_in(store)
    token = write_vectors(store, Kind.DOCUMENTS, np.arange(1, n_documents + 1), None, dim)
    n_tokens = sum(int(one.words["lengths"].sum()) * len(one.perms) for one in pieces)
    n_text = sum(int(one.words["text_lengths"].sum()) * len(one.perms) for one in pieces)
    totals = b"".join(map(_varint, (sum(one.n for one in of_words), n_text, n_tokens - n_text)))
    with store.changing() as db:
        manifest.list_segments(db, Kind.WORDS, of_words)
        manifest.list_segments(db, Kind.VECTORS, of_vectors)
        manifest.list_segments(db, Kind.DOCUMENTS, [Listed(1, token, n_documents)])
        db.execute("UPDATE words_data SET block = ? WHERE id = 1", (totals,))


def _varint(number: int) -> bytes:
    """A number as SQLite writes it: seven bits a byte, the highest first."""
    found = [number & 127]
    while number := number >> 7:
        found.append(number & 127 | 128)
    return bytes(found[::-1])


def write_vectors(store: Store, kind: Kind, ids: Ids, owners: Ids | None, dim: int) -> str:
    """Write a segment of the vectors of these ids, which follow one another; return its token."""
    table, first, stop = vector_maker.TABLES[kind], int(ids[0]) - 1, int(ids[-1])
    signs, scales = np.empty((-(-dim // 64), len(ids)), "<u8"), np.empty(len(ids), np.float32)
    with store.reading() as db:

        def codes() -> Iterator[storage_chunks.Codes]:
            for chunk in range(first // _ROWS, -(-stop // _ROWS)):
                whole = storage_chunks.read_chunk(db, table, dim, chunk + 1)
                yield whole[max(0, first - chunk * _ROWS) : stop - chunk * _ROWS]

        at = 0
        for part in codes():
            own = slice(at, at + len(part))
            signs[:, own], scales[own], at = sign_scan.packed(part >= 0), storage_chunks.scales_of(part), own.stop
        made = {"ids": [ids], "signs": list(signs), "codes": codes(), "scales": [scales]}
        return vector_maker._write(store.path, kind, dim, len(ids), owners, made)


def build(path: Path, base_path: Path, times: int) -> None:
    """Write the large index, or go on with it."""
    with Store.open(base_path) as small, Store.open(path, root=path.parent / "large") as store:
        base = small._db
        pieces = pieces_of(base, times)
        fingerprint, dim = vectors.model_in_use(base) or ("", 0)
        store.use_model(fingerprint, dim)
        store._db.execute("ATTACH ? AS base", (str(base_path),))
        add_documents(store, base, pieces)
        source, owners = (
            np.concatenate(own) for own in zip(*((one.source, one.owners) for one in pieces), strict=True)
        )
        codes = codes_by_id(base, dim)
        put_vectors(store, storage_chunks.PASSAGES, len(source), dim, partial(noisy, codes, source))
        put_vectors(store, storage_chunks.DOCUMENTS, int(owners[-1]), dim, partial(of_whole, codes, source, owners))
        del codes
        write_segments(store, pieces, dim)
        store.tidy()
    for suffix in (".classes.json", ".questions.npz"):
        shutil.copy(base_path.with_suffix(suffix), path.with_suffix(suffix))


def measured(path: Path, n_queries: int, rounds: int) -> dict[str, Any]:
    """p50 and p95 of hybrid searches of several classes, and memory; in a process of its own."""
    classes = json.loads(path.with_suffix(".classes.json").read_text("utf-8"))
    run = query_classes._searching(path, SearchMode.HYBRID, 10, TokenTable.open("bundled"))
    asked = [query for name in _ASKED if name in classes for query in classes[name][:n_queries]]
    times = np.array(query_classes._best_of(rounds, run, asked))[:, 0]
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    n_bytes = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    memory = {name: round(int(status[name].split()[0]) / 1024) for name in ("RssAnon", "RssFile")}
    return {"p50 ms": round(float(np.median(times)), 1), "p95 ms": round(float(np.percentile(times, 95)), 1),
            "worst ms": round(float(times.max()), 1), "own MiB": memory["RssAnon"], "mapped MiB": memory["RssFile"],
            "GB": round(n_bytes / 1e9, 4)}  # fmt: skip


def main() -> None:
    """Build what is missing, then print the row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--base", type=Path, required=True, help="an index of searching.py --text")
    parser.add_argument(
        "--times", type=int, default=3, help="how many times as large; 0 measures the smaller one itself"
    )
    parser.add_argument("--queries", type=int, default=10, help="of each class")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(measured(options.worker, options.queries, options.rounds)))
        return
    path = options.base.with_name(f"{options.base.stem}-x{options.times}.sqlite") if options.times else options.base
    spent, done = time.process_time(), path.with_suffix(".built")
    if options.times and not done.exists():
        build(path, options.base, options.times)
        done.write_text(f"{time.process_time() - spent:.0f}", "utf-8")
    given = [str(options.queries), "--rounds", str(options.rounds), "--worker", str(path)]
    command = [sys.executable, __file__, "--base", str(options.base), "--queries", *given]
    row = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    row |= {"build, s of processor": int(done.read_text("utf-8"))} if done.exists() else {}
    with Store.open(path) as store, store.reading() as db:
        n = db.execute("SELECT count(*) FROM passages").get
    print(f"{n:,} passages: " + ", ".join(f"{name} {value}" for name, value in row.items()))
    print(f"bytes a passage {row['GB'] * 1e9 / n:,.0f}; classes {', '.join(_ASKED)}")


if __name__ == "__main__":
    main()
