"""Training text as it lies on the disk: (query, passage) pairs and long documents, streamed. Knows no tokens.

Read are .jsonl and .jsonl.xz files of objects with `q`, `p`, `k` (kind), `s` (source), `d` (document), or, for long
documents, `title`, `text`, `s`; and folders in BEIR format, whose judged (query, document) pairs become pairs.
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

from engine.errors import LongsearchError
from engine.evaluation.datasets import load_dataset


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and a passage that answers it."""

    query: str
    passage: str
    kind: str
    """What made the pair, such as `title2abstract` or `question2answer`."""
    source: str
    document: str
    """Id of the document within the source: pairs of one document are no negatives of each other."""


@dataclass(frozen=True, slots=True)
class LongDocument:
    """A document to be read in one stream."""

    title: str
    text: str
    source: str


def read_pairs(paths: list[Path]) -> Iterator[Pair]:
    """All pairs of files and BEIR folders, in order. Raises LongsearchError for what is neither."""
    for path in paths:
        if path.is_dir():
            yield from _beir_pairs(path)
            continue
        for record in _records(path, ("q", "p", "k", "s")):
            document = str(record.get("d", record["p"][:80]))
            yield Pair(record["q"], record["p"], record["k"], record["s"], document)


def record_of(pair: Pair) -> dict[str, str]:
    """As `read_pairs` reads it."""
    return {"q": pair.query, "p": pair.passage, "k": pair.kind, "s": pair.source, "d": pair.document}


def read_long_documents(paths: list[Path]) -> Iterator[LongDocument]:
    """All long documents of files, in order. Raises LongsearchError for a file that holds none."""
    for path in paths:
        for record in _records(path, ("title", "text", "s")):
            yield LongDocument(record["title"], record["text"], record["s"])


def document_hash(source: str, document: str) -> int:
    """Tells documents apart, the same on every machine; below 2**32."""
    return zlib.crc32(f"{source}\0{document}".encode("utf-8", "replace"))


def held_out_hash(hashes: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """Which documents, by hash, belong to the held-out split: all pairs of a document are on one side."""
    # multiplied by a prime: the CRC of like names is alike
    return (hashes * 2_654_435_761) % 2**32 < share * 2**32


def _records(path: Path, required: tuple[str, ...]) -> Iterator[dict[str, Any]]:
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
