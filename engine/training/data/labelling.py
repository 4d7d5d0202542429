"""Labels shards: computes the teacher's vectors of every query and passage once, and stores them.

It reads as many tokens of a text as the shards keep (160 by default), at most as many as the teacher can. Both sides of
a translation get the vector of the English side. A text that occurs again in the same call is not read again.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError
from longsearch.engine.training.data.shards import load_shard, save_teacher, shard_paths, teacher_path, tokenizer_hash
from longsearch.engine.training.data.translations import shared_side


class Labeller(Protocol):
    """Reads the texts of shards: a BERT, or a longsearch model."""

    tokenizer: Tokenizer

    @property
    def before(self) -> Sequence[int]:
        """The tokens in front of each text."""

    @property
    def positions(self) -> int:
        """The tokens that it can read, those around the text included."""

    def encode_ids(self, ids: list[NDArray[np.int64]], max_tokens: int) -> Vectors:
        """Return unit vectors (n, dim) of the texts' first tokens, at most `max_tokens` with those around them."""


def label_shards(folder: Path, teacher: Labeller) -> Iterator[tuple[Path, int]]:
    """Label every unlabelled shard of `folder`; yields its path and the number of tokens read.

    Raises LongsearchError if a shard was not made with the teacher's tokenizer.
    """
    ours, reading = tokenizer_hash(teacher.tokenizer), _Reading(teacher)
    for path in shard_paths(folder):
        if teacher_path(path).exists():
            continue
        arrays, metadata = load_shard(path)
        if metadata.get("tokenizer") != ours:
            hint = "tokenize with the teacher's vocabulary, or copy its vectors by --vectors-of"
            raise LongsearchError(f"{path} was made with another tokenizer than the teacher's", hint)
        queries, passages = (rows_of(arrays[f"{n}_ids"], arrays[f"{n}_stops"]) for n in ("query", "passage"))
        sides = [shared_side(kind) for kind in json.loads(metadata["kinds"])]
        of_kinds = [sides[kind] for kind in arrays["kinds"]]
        queries_to_read = [
            p if side == "passage" else q for q, p, side in zip(queries, passages, of_kinds, strict=True)
        ]
        passages_to_read = [q if side == "query" else p for q, p, side in zip(queries, passages, of_kinds, strict=True)]
        vectors = reading(queries_to_read + passages_to_read)
        save_teacher(path, vectors[: len(queries_to_read)], vectors[len(queries_to_read) :])
        yield path, reading.n_tokens


class _Reading:
    """Reads each distinct text once."""

    def __init__(self, teacher: Labeller) -> None:
        self._teacher = teacher
        self._known: dict[bytes, Vectors] = {}
        self.n_tokens = 0
        """Tokens read in the last call."""

    def __call__(self, texts: list[NDArray[np.int64]]) -> Vectors:
        keys = [ids.tobytes() for ids in texts]
        new = {key: ids for key, ids in zip(keys, texts, strict=True) if key not in self._known}
        self.n_tokens = sum(len(ids) for ids in new.values())
        if new:
            longest = max(len(ids) for ids in new.values()) + len(self._teacher.before) + 1
            vectors = self._teacher.encode_ids(list(new.values()), min(longest, self._teacher.positions))
            self._known |= dict(zip(new, vectors, strict=True))
        return np.stack([self._known[key] for key in keys])


def copy_vectors(folder: Path, labelled: Path) -> int:
    """Copy the teacher's vectors from shards in `labelled` to shards of the same pairs, but another tokenizer.

    Returns the number of labelled shards. Raises LongsearchError if a shard has other pairs.
    """
    count = 0
    for path in shard_paths(folder):
        same = labelled / path.name
        if not teacher_path(same).exists():
            continue
        documents, theirs = (load_shard(shard)[0]["documents"] for shard in (path, same))
        if not np.array_equal(documents, theirs):
            hint = "make both from the same sources, in the same order"
            raise LongsearchError(f"{same} and {path} hold different pairs", hint)
        if not teacher_path(path).exists():
            shutil.copyfile(teacher_path(same), teacher_path(path))
        count += 1
    return count


def rows_of(ids: NDArray[np.int64], stops: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Split texts that lie end to end into one array each."""
    return [row.astype(np.int64) for row in np.split(ids, stops[:-1])]
