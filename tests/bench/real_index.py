"""An index of real documents in their own order, with queries of every class made of their own sentences.

Vectors are made of the words: a word has a direction of its own, a text the sum of those of its words, rare ones
heavier. So what shares words is near, as with a real model, and no model is needed.
"""

import hashlib
import json
import lzma
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.passages import cut_excerpts, cut_passages
from longsearch.engine.store.excerpts import packed
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, MetadataValue

DIM = 384
_DOCUMENTS_PER_TRANSACTION = 200
_TYPES = ("pdf", "pdf", "md", "txt", "docx")
_FOLDERS = ("papers", "contracts", "notes", "reports", "letters")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"[^\W\d_]{3,}")


def rows(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield (title, text) of each row of `.jsonl`, `.jsonl.xz` and of the corpus in a `.tar.xz`, or of each text."""
    for path in paths:
        if ".jsonl" not in path.name and not path.name.endswith(".tar.xz"):
            yield path.stem, path.read_text("utf-8", "replace")
            continue
        for line in _lines(path, ("corpus.jsonl", "docs.jsonl")):
            row = json.loads(line)
            yield str(row.get("title", "")), str(row.get("text") or row.get("contents") or row.get("p") or "")


def asked_in(paths: list[Path]) -> list[str]:
    """The queries that lie beside the texts, as `queries.jsonl` in the same folder or archive."""
    found: list[str] = []
    for path in paths:
        beside = path if path.name.endswith(".tar.xz") else path.with_name("queries.jsonl")
        found += (
            str(json.loads(line)["text"]) for line in (_lines(beside, ("queries.jsonl",)) if beside.exists() else ())
        )
    return found


def _lines(path: Path, names: tuple[str, ...]) -> list[bytes]:
    """The lines of a file; of an archive, those of its files with these names."""
    if not path.name.endswith(".tar.xz"):
        return (lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()).splitlines()
    with tarfile.open(path) as archive:
        files = [archive.extractfile(one) for one in archive.getmembers() if Path(one.name).name in names]
        return [line for file in files if file is not None for line in file.read().splitlines()]


@lru_cache(200_000)
def _direction(word: str) -> NDArray[np.float32]:
    seed = zlib.crc32(word.encode())
    weight = 1.0 if len(word) > 4 else 0.3  # short words are common
    return weight * np.random.default_rng(seed).standard_normal(DIM, np.float32)


def vector_of(text: str) -> NDArray[np.float32]:
    """(DIM,), unit length."""
    words = [word.casefold() for word in _WORD.findall(text)] or [text.casefold()]
    vector = np.sum([_direction(word) for word in words], axis=0)
    made: NDArray[np.float32] = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return made


def build(path: Path, n_passages: int, paths: list[Path]) -> dict[str, list[str]]:
    """Write an index with this many passages, or all that the texts have; return the queries of each class."""
    texts, n_done, n_files = ((title, text) for title, text in rows(paths) if text.strip()), 0, 0
    seen: list[str] = []
    with Store.open(path, root=path.parent / "real") as store:
        store.use_model("words", DIM)
        while n_done < n_passages and (batch := list(islice(texts, _DOCUMENTS_PER_TRANSACTION))):
            with store.changing():
                for title, text in batch:
                    if n_done < n_passages:
                        n_done += _add(store, title, text, n_files)
                        n_files += 1
                        seen += [text] if n_files % 7 == 0 and len(seen) < 400 else []
        store.tidy()
    return queries(seen, asked_in(paths))


def _add(store: Store, title: str, text: str, number: int) -> int:
    """Add one document; return the number of its passages."""
    starts = np.array([match.start() for match in _TOKEN.finditer(text)], np.int64)
    passages = cut_passages(text, starts)
    own = [text[one.start : one.stop] for one in passages]
    vectors, spans = np.stack([vector_of(one) for one in own]), [cut_excerpts(one) for one in own]
    excerpts = [
        packed(np.array([start for start, _ in cut]), np.stack([vector_of(one[slice(*span)]) for span in cut]))
        for one, cut in zip(own, spans, strict=True)
    ]
    values = (MetadataValue("date", f"{1990 + number % 35}-05-01", "front matter"),
              MetadataValue("author", ("Ann Lee", "Bo Li", "Carl Orff")[number % 3], "front matter"))  # fmt: skip
    name = f"{_FOLDERS[number % 5]}/{number % 97}/document {number}.{_TYPES[number // 5 % 5]}"
    document_id = store.add_document(
        FileStamp(name, len(text), number, number + 1),
        hashlib.sha256(b"%d" % number + text.encode("utf-8", "replace")).digest(),
        DocumentText(text, (), title, (), values),
        passages,
    )
    store.add_vectors(document_id, 0, vectors, len(starts), None, excerpts)
    store.finish_embedding(document_id, vector_of(text), len(starts))
    return len(passages)


def queries(texts: list[str], asked: list[str]) -> dict[str, list[str]]:
    """For each class of queries some that people might type about these texts."""
    found: dict[str, list[str]] = {}
    if asked:
        found["a question"] = asked[:200]
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
