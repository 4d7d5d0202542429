"""Shards and models of another vocabulary than the teacher's."""

import json

import numpy as np
import pytest
from tokenizers import Tokenizer

from longsearch.engine.errors import LongsearchError
from longsearch.engine.training import commands, stage_makers
from longsearch.engine.training.data.labelling import copy_vectors
from longsearch.engine.training.data.shards import (
    load_pairs,
    load_shard,
    save_teacher,
    shard_paths,
    teacher_path,
    write_shards,
)
from tests.engine.training.training_helpers import FakeTeacher, make_pairs, make_tokenizer, write_checkpoint


def other_tokenizer() -> Tokenizer:
    """The tiny tokenizer with one more token."""
    tokenizer = make_tokenizer()
    tokenizer.add_tokens(["one more"])
    return tokenizer


def test_the_teachers_vectors_are_copied_to_shards_of_the_same_pairs_only(tmp_path):
    own = other_tokenizer()
    for name, tokenizer in (("theirs", make_tokenizer()), ("own", own)):
        write_shards(make_pairs(30), tokenizer, tmp_path / name, shard_pairs=16)
    assert copy_vectors(tmp_path / "own", tmp_path / "theirs") == 0
    for path in shard_paths(tmp_path / "theirs"):
        vectors = np.random.default_rng(0).normal(size=(len(load_shard(path)[0]["documents"]), 4)).astype(np.float32)
        save_teacher(path, vectors, -vectors)
    assert copy_vectors(tmp_path / "own", tmp_path / "theirs") == 2
    pairs = load_pairs(tmp_path / "own", own, labelled_only=True)
    assert pairs.query_vectors is not None
    assert pairs.query_vectors.shape == (30, 4)
    write_shards(make_pairs(30, seed=1), own, tmp_path / "few", shard_pairs=8)
    with pytest.raises(LongsearchError, match="hold different pairs"):
        copy_vectors(tmp_path / "few", tmp_path / "theirs")
    assert not teacher_path(shard_paths(tmp_path / "few")[0]).exists()


def test_a_missing_vocabulary_is_an_error_of_one_line(tmp_path, capsys):
    arguments = ["label", "--shards", str(tmp_path), "--model", str(tmp_path / "none"), "--tokens-only"]
    assert commands.run(arguments) == 1
    assert "cannot read the tokenizer" in capsys.readouterr().err


def test_streams_refuse_a_teacher_of_another_vocabulary(tmp_path, capsys, monkeypatch):
    class OtherTeacher(FakeTeacher):
        def __init__(self) -> None:
            super().__init__()
            self.tokenizer = other_tokenizer()

    monkeypatch.setattr(stage_makers, "open_teacher", lambda *_: OtherTeacher())
    write_checkpoint(tmp_path / "model")
    (tmp_path / "long.jsonl").write_text(json.dumps({"title": "w1", "text": "w1 w2. " * 300, "s": "made"}))
    arguments = ["streams", str(tmp_path / "long.jsonl"), "--model", str(tmp_path / "model"), "--teacher"]
    assert commands.run([*arguments, "--out", str(tmp_path / "out"), "--device", "cpu", "--steps", "1"]) == 1
    assert "another vocabulary" in capsys.readouterr().err
