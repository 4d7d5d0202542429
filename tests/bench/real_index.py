"""An index of real documents, with queries of every class made of their own sentences.

Vectors are made of the words: a word has one of 65,536 directions, a text the sum of those of its words, short ones
lighter. So what shares words is near, as with a real model, and no model is needed. Short rows are joined to documents
of some thirty passages. If more passages are wanted than the texts have, documents are made of every other sentence of
two of them. A build that was stopped goes on where it stood.
"""

import hashlib
import json
import lzma
import re
import sys
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain, count, islice, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.passages import cut_passages
from longsearch.engine.store.excerpts import packed
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, MetadataValue

DIM = 384
_DOCUMENTS_PER_TRANSACTION = 50
_SHORT, _JOINED = 10_000, 20_000  # characters: rows shorter than the first are joined to documents of the second
_SEGMENT = 32_768  # passages that are written into a segment at once while the index is built
_N_DIRECTIONS = 2**16
_WORDS_OF_EXCERPT = 14
_TYPES = ("pdf", "pdf", "md", "txt", "docx")
_FOLDERS = ("papers", "contracts", "notes", "reports", "letters")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*\n|(?<=。)")


def rows(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield (title, text) of each row of `.jsonl`, `.jsonl.xz` and of the corpus in a `.tar.xz`, or of each text."""
    for path in paths:
        if ".jsonl" not in path.name and not path.name.endswith(".tar.xz"):
            yield path.stem, path.read_text("utf-8", "replace")
            continue
        before = ""
        for line in _lines(path, ("corpus.jsonl", "docs.jsonl")):
            row = json.loads(line)
            text = str(next(filter(None, map(row.get, ("text", "contents", "p", "context"))), ""))
            if text.strip() and text != before:  # sets of questions repeat the text for each of them
                yield str(row.get("title") or ""), text
            before = text


def documents(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield (title, text) of documents without end: the rows, short ones joined, then mixtures of two documents."""
    yield from _joined(rows(paths))
    for first in count():
        for (title, text), (_, other) in pairwise(_joined(rows(paths))):
            mixed = zip(
                _SENTENCE.split(text)[first % 2 :: 2], _SENTENCE.split(other)[first // 2 % 2 :: 2], strict=False
            )
            yield title, "\n".join(chain.from_iterable(mixed))


def _joined(given: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    parts: list[str] = []
    for title, text in given:
        if len(text) > _SHORT:
            yield title, text
            continue
        parts.append(f"{title}\n\n{text}" if title else text)
        if sum(map(len, parts)) > _JOINED:
            yield parts[0].split("\n")[0][:80], "\n\n".join(parts)
            parts = []
    if parts:
        yield parts[0].split("\n")[0][:80], "\n\n".join(parts)


def asked_in(paths: list[Path]) -> list[str]:
    """The queries that lie beside the texts, as `queries.jsonl` in the same folder or archive."""
    found: list[str] = []
    for path in paths:
        beside = path if path.name.endswith(".tar.xz") else path.with_name("queries.jsonl")
        found += (
            str(json.loads(line)["text"]) for line in (_lines(beside, ("queries.jsonl",)) if beside.exists() else ())
        )
    return found


def _lines(path: Path, names: tuple[str, ...]) -> Iterator[bytes]:
    """Yield the lines of a file; of an archive, those of its files with these names."""
    if not path.name.endswith(".tar.xz"):
        with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
            yield from file
        return
    with tarfile.open(path) as archive:
        files = [archive.extractfile(one) for one in archive.getmembers() if Path(one.name).name in names]
        for file in filter(None, files):
            yield from file


@cache
def _directions() -> NDArray[np.float32]:
    """(n, DIM): the directions of words."""
    return np.random.default_rng(0).standard_normal((_N_DIRECTIONS, DIM), np.float32)


def _weighted(text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """((n,) where the words of a text begin, (n, DIM) their directions, those of short words lighter)."""
    words = [(match.start(), match[0].encode()) for match in _WORD.finditer(text.lower())] or [(0, text.encode())]
    weights = np.array([1 if len(word) > 4 else 0.3 for _, word in words], np.float32)  # short words are common
    rows = [zlib.crc32(word) % _N_DIRECTIONS for _, word in words]
    return np.array([start for start, _ in words]), _directions()[rows] * weights[:, None]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    made: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
    return made


def vector_of(text: str) -> NDArray[np.float32]:
    """(DIM,), unit length."""
    return _unit(_weighted(text)[1].sum(axis=0))


def build(path: Path, n_passages: int, paths: list[Path]) -> dict[str, list[str]]:
    """Write an index with this many passages, or go on with one; return the queries of each class."""
    upkeep.CHECK_EVERY = _SEGMENT  # a segment of each thousand passages would be merged five times more
    seen = [text for _, text in islice(_joined(rows(paths)), 0, 2800, 7)]
    with Store.open(path, root=path.parent / "real") as store:
        store.use_model("words", DIM)
        with store.reading() as db:
            ((n_files, n_done),) = db.execute("SELECT (SELECT count(*) FROM contents), count(*) FROM passages")
        texts = islice(documents(paths), n_files, None)
        while n_done < n_passages:
            with store.changing():
                for title, text in islice(texts, _DOCUMENTS_PER_TRANSACTION):
                    if n_done < n_passages:
                        n_done += _add(store, title, text, n_files)
                        n_files += 1
            print(f"{n_done} passages", end="\r", file=sys.stderr, flush=True)
        store.tidy()
    return queries(seen, asked_in(paths))


def _add(store: Store, title: str, text: str, number: int) -> int:
    """Add one document; return the number of its passages."""
    starts = np.array([match.start() for match in _TOKEN.finditer(text)], np.int64)
    passages = cut_passages(text, starts)
    sums, excerpts = [], []
    for one in passages:
        begins, directions = _weighted(text[one.start : one.stop])
        firsts = np.arange(0, len(begins), _WORDS_OF_EXCERPT)
        of_excerpts = np.add.reduceat(directions, firsts)
        sums.append(of_excerpts.sum(axis=0))
        excerpts.append(packed(np.append(0, begins[firsts[1:]]), _unit(of_excerpts), _unit(sums[-1])))
    values = (MetadataValue("date", f"{1990 + number % 35}-05-01", "front matter"),
              MetadataValue("author", ("Ann Lee", "Bo Li", "Carl Orff")[number % 3], "front matter"))  # fmt: skip
    name = f"{_FOLDERS[number % 5]}/{number % 97}/document {number}.{_TYPES[number // 5 % 5]}"
    document_id = store.add_document(
        FileStamp(name, len(text), number, number + 1),
        hashlib.sha256(b"%d" % number + text.encode("utf-8", "replace")).digest(),
        DocumentText(text, (), title, (), values),
        passages,
    )
    store.add_vectors(document_id, 0, _unit(np.stack(sums)), len(starts), None, excerpts)
    store.finish_embedding(document_id, _unit(np.sum(sums, axis=0)), len(starts))
    return len(passages)


def queries(texts: list[str], asked: list[str]) -> dict[str, list[str]]:
    """For each class of queries some that people might type about these texts."""
    found: dict[str, list[str]] = {}
    if asked:
        found["a question"] = asked[:: max(1, len(asked) // 200)]
    common = Counter(word.casefold() for text in texts for word in _WORD.findall(text[:20_000]))
    for text in texts:
        sentences = [one for one in re.split(r"(?<=[.!?])\s+", text[:20_000]) if 40 < len(one) < 300]
        if not sentences:
            continue
        sentence = sentences[len(sentences) // 2]
        words = _WORD.findall(sentence)
        if len(words) < 6:
            continue
        rare = sorted(set(words), key=lambda word: common[word.casefold()])
        for name, query in _of_sentence(sentence, words, rare, text).items():
            found.setdefault(name, []).append(query)
    return found


def _of_sentence(sentence: str, words: list[str], rare: list[str], text: str) -> dict[str, str]:
    two, pair = f"{rare[0]} {rare[1]}", f"{words[1]} {words[2]}"
    return {
        "a sentence": sentence,
        "eight words": " ".join(words[:8]),
        "two words": two,
        "one word": rare[1],
        "two spellings": f"colour organisation {rare[0]}",
        "a mistyped word": f"{rare[0]} {rare[1][:2]}{rare[1][3:4]}{rare[1][2:3]}{rare[1][4:]}",
        "one letter": words[0][0],
        "stop words alone": "what is the",
        "a pasted paragraph": text[len(text) // 3 :][:900],
        "a phrase": f'"{pair}" {rare[0]}',
        "a word with a sign": f"{rare[0]} well-known",
        "a negation": f"{two} -{words[3]}",
        "a negated phrase": f'{two} -"{pair}"',
        "AND and OR": f"{rare[0]} AND ({words[1]} OR {words[2]})",
        "NEAR": f"{words[1]} NEAR {words[2]}",
        "in:": f"in:papers {two}",
        "-in:": f"-in:notes {two}",
        "type:": f"type:md {two}",
        "lang:": f"lang:en {two}",
        "author:": f"author:lee {two}",
        "date:": f"date:2001..2004 {two}",
        "all filters": f"-in:notes type:pdf lang:en author:lee since:1995 {two}",
        "sort:date": f"{two} sort:date",
        "a listing": "type:md in:papers",
    }
