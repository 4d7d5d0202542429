"""LoRA: adapters are trained beside a frozen model, and merged into it when it is saved."""

import json
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.training import commands
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.papers.lora import load_lora_student
from longsearch.engine.training.stages.loop import LoopOptions, run
from longsearch.engine.training.stages.pair_stages import Contrast, PairOptions
from longsearch.engine.training.student.saving import save_model
from longsearch.engine.training.student.student import Padded, Rates
from tests.engine.training.training_helpers import make_pairs, make_tokenizer, write_checkpoint, write_eos_checkpoint

pytest.importorskip("peft")


def make_student(tmp_path):
    folder = tmp_path / "start"
    if not folder.exists():
        write_eos_checkpoint(folder)
    return folder, *load_lora_student(folder, "cpu", torch.float32, rank=4)


def test_with_untrained_adapters_the_vectors_equal_the_encoders(tmp_path):
    folder, student, tokenizer = make_student(tmp_path)
    encoder = Encoder.open(folder, device="cpu", dtype="float32")
    texts = ["w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11", "w3"]
    rows = [np.array(tokenizer.encode(text).ids) for text in texts]
    vectors = student(Padded.of(rows, "cpu")).detach().numpy()
    assert np.allclose(vectors, [encoder.encode_query(text) for text in texts], atol=1e-5)


def test_training_changes_only_the_adapters_and_the_merged_checkpoint_gives_the_same_vectors(tmp_path):
    folder, student, tokenizer = make_student(tmp_path)
    write_shards(make_pairs(120), make_tokenizer(), tmp_path / "shards")
    before = {name: tensor.clone() for name, tensor in student.state_dict().items()}
    pairs = load_pairs(tmp_path / "shards", tokenizer, labelled_only=False)
    stage = Contrast(student, pairs, PairOptions(batch_tokens=300, max_pairs=16), Prompter(tokenizer, 0.2))
    options = LoopOptions(
        tmp_path / "out", folder, steps=30, rates=Rates(blocks=2e-2), widths=(1.0,), width_weights=(1.0,)
    )
    run(student, stage, options)
    moved = {name for name, tensor in student.state_dict().items() if not torch.equal(tensor, before[name])}
    assert moved and all(".lora_" in name for name in moved)
    losses = [json.loads(line)["loss"] for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    assert np.mean(losses[-6:]) < np.mean(losses[:6])
    encoder = Encoder.open(tmp_path / "out", device="cpu", dtype="float32")
    vector = student(Padded.of([np.array(tokenizer.encode("w1 w2 w3").ids)], "cpu"))[0].detach().numpy()
    assert np.abs(encoder.encode_query("w1 w2 w3") - vector).max() < 5e-3  # float16 weights
    assert np.abs(Encoder.open(folder, device="cpu").encode_query("w1 w2 w3") - vector).max() > 1e-2


def test_a_run_resumes_from_its_adapters_and_refuses_others(tmp_path):
    _, student, _ = make_student(tmp_path)
    _, other, _ = make_student(tmp_path)
    with torch.no_grad():
        for parameter in student.trained().values():
            parameter.add_(0.1)
    other.load_trained(student.trained())
    for name, tensor in student.tensors().items():
        assert torch.equal(other.tensors()[name], tensor)
    with pytest.raises(ValueError, match="other adapters"):
        other.load_trained({})


def test_a_saved_model_has_the_layout_of_the_original(tmp_path):
    folder, student, _ = make_student(tmp_path)
    save_model(student, folder, tmp_path / "saved", {})
    assert (tmp_path / "saved" / "tokenizer_config.json").exists()
    assert not any("base_layer" in name or "lora" in name for name in student.tensors())


def test_other_widths_and_other_readouts_are_refused(tmp_path):
    _, student, _ = make_student(tmp_path)
    with pytest.raises(ValueError, match="full width"):
        student(Padded.of([np.array([7])], "cpu"), 0.5)
    mean = write_checkpoint(tmp_path / "mean")
    with pytest.raises(ModelError, match="no end-of-sequence readout"):
        load_lora_student(mean, "cpu", torch.float32, rank=4)


def test_the_command_trains_adapters_without_a_teacher(tmp_path, capsys):
    folder = write_eos_checkpoint(tmp_path / "start")
    write_shards(make_pairs(60), make_tokenizer(), tmp_path / "shards")
    options = ["--model", str(folder), "--out", str(tmp_path / "out"), "--shards", str(tmp_path / "shards")]
    options += ["--lora", "2", "--steps", "2", "--device", "cpu", "--dtype", "float32"]
    assert commands.run(["contrast", *options]) == 1
    assert "is labelled" in capsys.readouterr().err
    widths = ["--widths", "1", "--width-weights", "1"]
    assert commands.run(["contrast", *options, "--without-teacher", *widths]) == 0


def test_the_command_trains_adapters_of_a_4_bit_model_and_refuses_4_bits_without_them(tmp_path, capsys):
    pytest.importorskip("bitsandbytes")
    folder = write_eos_checkpoint(tmp_path / "start", dim=64, head_dim=8)
    write_shards(make_pairs(60), make_tokenizer(), tmp_path / "shards")
    options = ["--model", str(folder), "--out", str(tmp_path / "out"), "--shards", str(tmp_path / "shards")]
    options += ["--base-bits", "4", "--steps", "2", "--device", "cpu", "--dtype", "float32", "--without-teacher"]
    assert commands.run(["contrast", *options, "--widths", "1", "--width-weights", "1", "--lora", "2"]) == 0
    assert Encoder.open(tmp_path / "out", device="cpu", dtype="float32").encode_query("w1").shape == (64,)
    assert commands.run(["contrast", *options]) == 1
    assert "give --lora" in capsys.readouterr().err


def make_four_bit_student(tmp_path, dtype=torch.float32):
    pytest.importorskip("bitsandbytes")
    folder = tmp_path / "start"
    if not folder.exists():
        write_eos_checkpoint(folder, dim=64, head_dim=8)
    return folder, *load_lora_student(folder, "cpu", dtype, rank=4, base_bits=4)


def packed_weights(student):
    return {name: p.detach().clone() for name, p in student.named_parameters() if p.dtype == torch.uint8}


def test_a_4_bit_model_is_held_in_4_bits_and_gives_the_vectors_of_its_rounded_matrices(tmp_path):
    folder, student, tokenizer = make_four_bit_student(tmp_path)
    whole = load_file(folder / "model.safetensors")
    rounded = {name: whole[name] for name in whole if name.endswith("_proj.weight")}
    assert sum(p.numel() for p in packed_weights(student).values()) == sum(w.numel() for w in rounded.values()) / 2
    save_model(student, folder, tmp_path / "saved", {})
    saved = load_file(tmp_path / "saved" / "model.safetensors")
    for name, weight in saved.items():
        distance = (weight.float() - whole[name].float()).norm() / whole[name].float().norm()
        assert (0.08 < distance < 0.11) if name in rounded else distance < 1e-3, name  # NF4 of normal weights: .09
    vector = student(Padded.of([np.array(tokenizer.encode("w1 w2 w3").ids)], "cpu"))[0].detach().numpy()
    encoder = Encoder.open(tmp_path / "saved", device="cpu", dtype="float32")
    assert np.abs(encoder.encode_query("w1 w2 w3") - vector).max() < 5e-3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_adapters_of_a_4_bit_model_learn_and_merge_while_the_model_stays(tmp_path, dtype):
    folder, student, tokenizer = make_four_bit_student(tmp_path, dtype)
    write_shards(make_pairs(120), make_tokenizer(), tmp_path / "shards")
    before = packed_weights(student)
    pairs = load_pairs(tmp_path / "shards", tokenizer, labelled_only=False)
    stage = Contrast(student, pairs, PairOptions(batch_tokens=150, max_pairs=12), Prompter(tokenizer, 0.2))
    options = LoopOptions(
        tmp_path / "out", folder, steps=20, rates=Rates(blocks=2e-2), widths=(1.0,), width_weights=(1.0,)
    )
    run(student, stage, options)
    losses = [json.loads(line)["loss"] for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    assert np.mean(losses[-5:]) < np.mean(losses[:5])
    after = packed_weights(student)
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)
    encoder = Encoder.open(tmp_path / "out", device="cpu", dtype="float32")
    vector = student(Padded.of([np.array(tokenizer.encode("w1 w2 w3").ids)], "cpu"))[0].detach().numpy()
    assert encoder.encode_query("w1 w2 w3") @ vector > (0.9999 if dtype == torch.float32 else 0.99)
    _, other, _ = make_four_bit_student(tmp_path, dtype)
    other.load_trained(student.trained())
    for name, tensor in student.tensors().items():
        assert torch.equal(other.tensors()[name], tensor), name


def test_row_lengths_that_4_bits_cannot_hold_are_refused(tmp_path):
    pytest.importorskip("bitsandbytes")
    folder = write_eos_checkpoint(tmp_path / "start")
    with pytest.raises(ModelError, match="rows of 16 and 32 numbers"):
        load_lora_student(folder, "cpu", torch.float32, rank=4, base_bits=4)


def test_a_missing_package_for_4_bits_is_named(tmp_path, monkeypatch):
    folder = write_eos_checkpoint(tmp_path / "start")
    monkeypatch.setitem(sys.modules, "bitsandbytes.nn", None)
    with pytest.raises(ModelError, match="needs the package bitsandbytes"):
        load_lora_student(folder, "cpu", torch.float32, rank=4, base_bits=4)
