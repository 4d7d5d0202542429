"""Labels shards: computes the teacher's vectors of every query and passage once, and stores them.

The teacher is all-MiniLM-L6-v2. It reads as many tokens of a text as the shards keep (160 by default), at most 510.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.minilm import MiniLM
from longsearch.engine.training.data.shards import load_shard, save_teacher, shard_paths, teacher_path, tokenizer_hash

_POSITIONS = 512  # tokens that the teacher can read, with [CLS] and [SEP]


def label_shards(folder: Path, teacher: MiniLM) -> Iterator[tuple[Path, int]]:
    """Label every unlabelled shard of `folder`; yields its path and the number of tokens read.

    Raises LongsearchError if a shard was not made with the teacher's tokenizer.
    """
    ours = tokenizer_hash(teacher.tokenizer)
    for path in shard_paths(folder):
        if teacher_path(path).exists():
            continue
        arrays, metadata = load_shard(path)
        if metadata.get("tokenizer") != ours:
            hint = "tokenize with the teacher's vocabulary, or copy its vectors by --vectors-of"
            raise LongsearchError(f"{path} was made with another tokenizer than the teacher's", hint)
        queries, passages = (rows_of(arrays[f"{n}_ids"], arrays[f"{n}_stops"]) for n in ("query", "passage"))
        longest = min(max(len(row) for row in (*queries, *passages)) + 2, _POSITIONS)
        vectors = teacher.encode_ids(queries + passages, longest)
        save_teacher(path, vectors[: len(queries)], vectors[len(queries) :])
        yield path, sum(len(row) for row in (*queries, *passages))


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
