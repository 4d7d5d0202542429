"""Reads training text from the disk as a stream: (query, passage) pairs and long documents. It does not tokenize.

Files are .jsonl or .jsonl.xz. A pair is an object with `q` (query), `p` (passage), `k` (kind), `s` (source) and
optionally `d` (document) and `n` (a list of hard negatives); a long document is an object with `title`, `text` and `s`.
A folder in BEIR format gives its judged (query, document) pairs.
"""

import json
import lzma
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.datasets import load_dataset


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and a passage that answers it."""

    query: str
    passage: str
    kind: str
    """How the pair was made, such as `title2abstract` or `question2answer`."""
    source: str
    document: str
    """Id of the document within the source. Pairs of one document are not negatives of each other."""
    hard_negatives: tuple[str, ...] = ()
    """Passages that look like answers to the query, but are none."""


@dataclass(frozen=True, slots=True)
class LongDocument:
    """A document to read in one stream."""

    title: str
    text: str
    source: str


def read_pairs(paths: list[Path]) -> Iterator[Pair]:
    """Yield all pairs of files and BEIR folders, in order. Raises LongsearchError for a path that is neither."""
    for path in paths:
        if path.is_dir():
            yield from _beir_pairs(path)
            continue
        for record in records(path, ("q", "p", "k", "s")):
            document, negatives = str(record.get("d", record["p"][:80])), record.get("n", [])
            if not isinstance(negatives, list) or not all(isinstance(text, str) for text in negatives):
                raise LongsearchError(f"{path}: `n` is not a list of texts: {negatives!r:.80}", "`n` is optional")
            yield Pair(record["q"], record["p"], record["k"], record["s"], document, tuple(negatives))


def record_of(pair: Pair) -> dict[str, str | list[str]]:
    """Return the JSON object that `read_pairs` reads `pair` from."""
    record: dict[str, str | list[str]] = {"q": pair.query, "p": pair.passage, "k": pair.kind, "s": pair.source}
    record["d"] = pair.document
    return record | ({"n": list(pair.hard_negatives)} if pair.hard_negatives else {})


def read_long_documents(paths: list[Path]) -> Iterator[LongDocument]:
    """Yield all long documents of files, in order. Raises LongsearchError for a line that is no long document."""
    for path in paths:
        for record in records(path, ("title", "text", "s")):
            yield LongDocument(record["title"], record["text"], record["s"])


def document_hash(source: str, document: str) -> int:
    """Hash a document's source and id to a number below 2**32, the same on every machine."""
    return zlib.crc32(f"{source}\0{document}".encode("utf-8", "replace"))


def held_out_hash(hashes: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """Return which documents, by hash, are held out. All pairs of a document are on the same side of the split."""
    # similar names have similar CRCs; multiplying by a prime spreads them
    return (hashes * 2_654_435_761) % 2**32 < share * 2**32


def records(path: Path, required: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines. Raises LongsearchError if one lacks a text that is `required`."""
    hint = f"each line is a JSON object with {', '.join(required)}"
    try:
        with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                record = json.loads(line)
                lacking = [name for name in required if not isinstance(record.get(name), str)]
                if lacking:
                    raise LongsearchError(f"{path}, line {number}: no text in {', '.join(lacking)}", hint)
                yield record
    except (OSError, UnicodeDecodeError, EOFError, lzma.LZMAError, AttributeError, json.JSONDecodeError) as error:
        raise LongsearchError(f"cannot read training text from {path}: {error}", hint) from error


def _beir_pairs(folder: Path) -> Iterator[Pair]:
    dataset = load_dataset(folder)
    texts = {document.id: document.full_text for document in dataset.documents}
    for query in dataset.queries:
        for document in dataset.qrels[query.id]:
            yield Pair(query.text, texts[document], "question2answer", dataset.name, query.id)
