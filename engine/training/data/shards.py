"""Stores pairs as token ids in shards, with the teacher's vectors beside them.

`pairs-00000.safetensors` holds ids, sources and kinds, and hard negatives if its pairs have some;
`pairs-00000.teacher.safetensors` holds the teacher's vectors of queries and passages in float16. A shard without
vectors can be labelled later, on another machine. This module uses no model.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from longsearch.engine.errors import LongsearchError
from longsearch.engine.inference.tokens import special_tokens_as_text
from longsearch.engine.training.data.pairs import Pair, document_hash

SHARD_PAIRS = 4096
MAX_QUERY_TOKENS, MAX_PASSAGE_TOKENS = 64, 160
_MAX_TOKENS = "max_tokens"  # in a shard's metadata; shards without it have the two limits above


@dataclass(frozen=True, slots=True)
class Texts:
    """The token ids of many texts, end to end."""

    ids: NDArray[np.uint16] | NDArray[np.uint32]
    """(n_tokens,)"""
    stops: NDArray[np.int64]
    """(n_texts,) where each text ends in `ids`."""

    def __len__(self) -> int:
        return len(self.stops)

    def __getitem__(self, index: int) -> NDArray[np.int64]:
        start = int(self.stops[index - 1]) if index else 0
        return self.ids[start : int(self.stops[index])].astype(np.int64)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n_texts,) in tokens."""
        return np.diff(self.stops, prepend=0)


@dataclass(frozen=True, slots=True)
class HardNegatives:
    """The hard negatives of many pairs; a pair has any number of them."""

    texts: Texts
    stops: NDArray[np.int64]
    """(n_pairs,) where the negatives of each pair end in `texts`."""

    def of(self, row: int) -> list[NDArray[np.int64]]:
        """Return the token ids of the hard negatives of pair `row`."""
        start = int(self.stops[row - 1]) if row else 0
        return [self.texts[i] for i in range(start, int(self.stops[row]))]


@dataclass(frozen=True, slots=True)
class PairSet:
    """Pairs in memory; row i of every field belongs to pair i."""

    queries: Texts
    passages: Texts
    sources: NDArray[np.int64]
    """(n,) index into `source_names`."""
    kinds: NDArray[np.int64]
    """(n,) index into `kind_names`."""
    documents: NDArray[np.int64]
    """(n,) hash of source and document."""
    source_names: tuple[str, ...]
    kind_names: tuple[str, ...]
    query_vectors: NDArray[np.float16] | None
    """(n, dim) of the teacher; None if the shards are not labelled."""
    passage_vectors: NDArray[np.float16] | None
    hard_negatives: HardNegatives
    max_tokens: tuple[int, int]
    """Tokens at most that the shards keep of a query and of a passage."""

    def __len__(self) -> int:
        return len(self.queries)


def write_shards(
    pairs: Iterator[Pair],
    tokenizer: Tokenizer,
    folder: Path,
    shard_pairs: int = SHARD_PAIRS,
    max_tokens: tuple[int, int] = (MAX_QUERY_TOKENS, MAX_PASSAGE_TOKENS),
) -> int:
    """Tokenize `pairs` into shards in `folder`, and keep existing shards. Returns the number of shards.

    A shard keeps the first `max_tokens` tokens of each query and of each passage.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    number = 0
    while batch := list(islice(pairs, shard_pairs)):
        path = folder / f"pairs-{number:05}.safetensors"
        if not path.exists():
            _save(path, *_tokenised(batch, tokenizer, max_tokens))
        number += 1
    return number


def shard_paths(folder: Path) -> list[Path]:
    """Return the shards of a folder, in order. Raises LongsearchError if there are none."""
    paths = sorted(path for path in folder.glob("pairs-*.safetensors") if ".teacher." not in path.name)
    if not paths:
        raise LongsearchError(f"no shards in {folder}", "make them with `python -m longsearch.engine.training label`")
    return paths


def teacher_path(shard: Path) -> Path:
    """Return the path of a shard's teacher vectors."""
    return shard.with_suffix(".teacher.safetensors")


def save_teacher(shard: Path, queries: NDArray[np.float32], passages: NDArray[np.float32]) -> None:
    """Write the teacher's vectors (n, dim) of a shard's queries and passages."""
    vectors = {"queries": queries.astype(np.float16), "passages": passages.astype(np.float16)}
    _save(teacher_path(shard), vectors, {})


def load_shard(path: Path) -> tuple[dict[str, NDArray[np.int64]], dict[str, str]]:
    """Return a shard's arrays and metadata. Raises LongsearchError for a damaged file."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
        return load_file(path), metadata
    except (OSError, SafetensorError) as error:
        raise LongsearchError(f"cannot read the shard {path}: {error}", "delete it and label again") from error


def read_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of the model in `folder`. Raises LongsearchError if it cannot be read."""
    path = folder / "tokenizer.json"
    try:
        return special_tokens_as_text(Tokenizer.from_file(str(path)))
    except Exception as error:  # the library raises bare Exception
        hint = "give the folder of a model, with tokenizer.json"
        raise LongsearchError(f"cannot read the tokenizer {path}: {error}", hint) from error


def tokenizer_hash(tokenizer: Tokenizer) -> str:
    """Return a hash of the tokenizer's vocabulary."""
    vocabulary = sorted(tokenizer.get_vocab().items())
    return hashlib.blake2b(json.dumps(vocabulary).encode(), digest_size=16).hexdigest()


def load_pairs(folder: Path, tokenizer: Tokenizer, labelled_only: bool) -> PairSet:
    """Load all shards of `folder`, or only the labelled ones.

    Raises LongsearchError if there are none, or if they were made with another tokenizer.
    """
    paths = [p for p in shard_paths(folder) if not labelled_only or teacher_path(p).exists()]
    shards = [load_shard(path) for path in paths]
    if not shards:
        raise LongsearchError(
            f"no shard in {folder} is labelled", "run `python -m longsearch.engine.training label` first"
        )
    if any(metadata.get("tokenizer") != tokenizer_hash(tokenizer) for _, metadata in shards):
        raise LongsearchError(
            f"the shards in {folder} were made with another tokenizer", "label again with this model's"
        )
    names: dict[str, dict[str, int]] = {"sources": {}, "kinds": {}}
    for arrays, metadata in shards:
        for field, table in names.items():
            local = [table.setdefault(name, len(table)) for name in json.loads(metadata[field])]
            arrays[field] = np.array(local)[arrays[field]]
    labelled = all(teacher_path(path).exists() for path in paths)
    vectors = [load_shard(teacher_path(path))[0] for path in paths] if labelled else []
    queries, passages = (_joined(shards, name) for name in ("query", "passage"))
    sources, kinds, documents = (np.concatenate([a[n] for a, _ in shards]) for n in ("sources", "kinds", "documents"))
    return PairSet(
        queries, passages, sources, kinds, documents, tuple(names["sources"]), tuple(names["kinds"]),
        np.concatenate([v["queries"] for v in vectors]) if vectors else None,
        np.concatenate([v["passages"] for v in vectors]) if vectors else None,
        _joined_negatives(shards),
        _limits([metadata for _, metadata in shards]),
    )  # fmt: skip


def _tokenised(
    pairs: list[Pair], tokenizer: Tokenizer, max_tokens: tuple[int, int]
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    dtype = np.uint16 if tokenizer.get_vocab_size() <= 1 << 16 else np.uint32
    arrays: dict[str, NDArray[Any]] = {}
    queries, passages = [pair.query for pair in pairs], [pair.passage for pair in pairs]
    columns = [("query", queries, max_tokens[0]), ("passage", passages, max_tokens[1])]
    if negatives := [text for pair in pairs for text in pair.hard_negatives]:
        columns.append(("negative", negatives, max_tokens[1]))
        arrays["negative_counts"] = np.array([len(pair.hard_negatives) for pair in pairs], dtype=np.int64)
    for name, texts, limit in columns:
        rows = [e.ids[:limit] for e in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        arrays[f"{name}_ids"] = np.concatenate([np.array(row, dtype) for row in rows])
        arrays[f"{name}_stops"] = np.cumsum([len(row) for row in rows], dtype=np.int64)
    metadata = {"tokenizer": tokenizer_hash(tokenizer), _MAX_TOKENS: json.dumps(max_tokens)}
    for name, values in (("sources", [p.source for p in pairs]), ("kinds", [p.kind for p in pairs])):
        table = {value: i for i, value in enumerate(dict.fromkeys(values))}
        arrays[name] = np.array([table[value] for value in values], dtype=np.int64)
        metadata[name] = json.dumps(list(table))
    arrays["documents"] = np.array([document_hash(p.source, p.document) for p in pairs], dtype=np.int64)
    return arrays, metadata


def _joined(shards: list[tuple[dict[str, NDArray[np.int64]], dict[str, str]]], name: str) -> Texts:
    ids = np.concatenate([arrays[f"{name}_ids"] for arrays, _ in shards])
    lengths = np.concatenate([np.diff(arrays[f"{name}_stops"], prepend=0) for arrays, _ in shards])
    return Texts(ids, np.cumsum(lengths))


def _limits(metadata: list[dict[str, str]]) -> tuple[int, int]:
    """Return the smallest limits of all shards."""
    default = json.dumps((MAX_QUERY_TOKENS, MAX_PASSAGE_TOKENS))
    limits = [json.loads(entry.get(_MAX_TOKENS, default)) for entry in metadata]
    return min(query for query, _ in limits), min(passage for _, passage in limits)


def _joined_negatives(shards: list[tuple[dict[str, NDArray[np.int64]], dict[str, str]]]) -> HardNegatives:
    having = [shard for shard in shards if "negative_ids" in shard[0]]
    texts = _joined(having, "negative") if having else Texts(np.empty(0, np.uint16), np.empty(0, np.int64))
    none = [np.zeros(len(arrays["documents"]), np.int64) for arrays, _ in shards]
    counts = [arrays.get("negative_counts", zeros) for (arrays, _), zeros in zip(shards, none, strict=True)]
    return HardNegatives(texts, np.cumsum(np.concatenate(counts)))


def _save(path: Path, arrays: Mapping[str, NDArray[Any]], metadata: dict[str, str]) -> None:
    """Write a file whole or not at all: a killed run leaves no partial shard under the final name."""
    temporary = path.with_suffix(".part")
    save_file(dict(arrays), temporary, metadata)
    temporary.replace(path)
