"""`contrast --recipe paper`: the values of arXiv 2604.18199, appendix F.2, and the options that they need."""

import json

import pytest
import torch

from longsearch.engine.training import commands
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.papers.lora import load_lora_student
from longsearch.engine.training.student.student import Rates
from tests.engine.training.training_helpers import (
    log_of,
    make_pairs,
    make_tokenizer,
    write_checkpoint,
    write_eos_checkpoint,
    write_pairs,
)

NEEDED = ["contrast", "--out", "out", "--shards", "shards"]


def options_of(monkeypatch, *options):
    """Return the arguments that `run` hands to the command `contrast`."""
    seen = []
    monkeypatch.setattr(commands, "_train", lambda make_stage, arguments: seen.append(arguments) or 0)
    assert commands.run([*NEEDED, *options]) == 0
    return seen[0]


def test_the_recipe_has_the_papers_values(monkeypatch):
    o = options_of(monkeypatch, "--recipe", "paper")
    assert (o.lora, o.alpha, o.base_bits, o.dtype) == (16, 16, 4, "bfloat16")  # QLoRA, r = alpha = 16
    assert (o.rate, o.weight_decay, o.schedule, o.warm_up_steps, o.epochs) == (4e-4, 0.1, "linear", 100, 1)
    assert o.max_pairs == 2048
    assert o.batch_tokens >= 2048 * 512
    assert o.text_tokens + 1 == 512  # and the end-of-sequence token
    assert (o.source_power, o.question_weight, o.mixed_lengths) == (1, 1, True)
    assert o.one_way and o.without_teacher
    assert o.contrast_weight == o.instruction_share == 1
    assert tuple(o.widths) == tuple(o.width_weights) == (1,)


@pytest.mark.parametrize(
    "options",
    [
        ["--recipe", "paper", "--rate", "2.4e-3", "--base-bits", "16"],
        ["--rate", "2.4e-3", "--base-bits", "16", "--recipe", "paper"],  # 16 is what it would be without the recipe
    ],
)
def test_options_of_the_command_line_override_the_recipe_in_any_order(monkeypatch, options):
    o = options_of(monkeypatch, *options)
    assert (o.rate, o.base_bits, o.weight_decay) == (2.4e-3, 16, 0.1)


def test_without_the_recipe_the_defaults_stay(monkeypatch):
    o = options_of(monkeypatch)
    assert (o.lora, o.alpha, o.weight_decay, o.schedule, o.accumulate, o.epochs) == (0, None, None, "cosine", 1, None)
    assert (o.source_power, o.question_weight, o.mixed_lengths, o.one_way, o.text_tokens) == (
        0.6,
        2,
        False,
        False,
        None,
    )


def test_the_recipe_trains_a_tiny_model_for_an_epoch(tmp_path, capsys):
    pytest.importorskip("peft")
    folder = write_eos_checkpoint(tmp_path / "start")
    write_shards(make_pairs(60), make_tokenizer(), tmp_path / "shards")
    options = ["--model", str(folder), "--out", str(tmp_path / "out"), "--recipe", "paper", "--base-bits", "16"]
    options += ["--device", "cpu", "--dtype", "float32", "--max-pairs", "16", "--accumulate", "4"]
    assert commands.run(["contrast", *options, "--shards", str(tmp_path / "shards")]) == 1
    assert "64 tokens of a query and 160 of a passage, not 511" in capsys.readouterr().err
    pairs = str(write_pairs(tmp_path / "pairs.jsonl", 60))
    label = ["label", pairs, "--model", str(folder), "--tokens-only", "--max-tokens", "512"]
    assert commands.run([*label, "--shards", str(tmp_path / "long")]) == 0
    assert commands.run(["contrast", *options, "--shards", str(tmp_path / "long")]) == 0
    records = [record for record in log_of(tmp_path / "out") if "loss" in record]
    assert len(records) == 4  # 60 pairs, few of them held out, in batches of 16
    assert [record["factor"] for record in records] == pytest.approx([0, 0.01, 0.02, 0.03])  # 100 steps of warm-up
    assert {record["pairs"] for record in records} == {16}


def test_label_keeps_as_many_tokens_as_it_is_told(tmp_path):
    record = {"q": "w1 " * 600, "p": "w2 " * 600, "k": "title2page", "s": "a", "n": ["w3 " * 600]}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(record))
    write_checkpoint(tmp_path / "model")
    label = ["label", str(tmp_path / "pairs.jsonl"), "--model", str(tmp_path / "model"), "--tokens-only", "--shards"]
    for name, options, limits in (("usual", [], (64, 160)), ("long", ["--max-tokens", "512"], (512, 512))):
        assert commands.run([*label, str(tmp_path / name), *options]) == 0
        pairs = load_pairs(tmp_path / name, make_tokenizer(), labelled_only=False)
        assert pairs.max_tokens == limits
        assert (len(pairs.queries[0]), len(pairs.passages[0])) == limits
        assert len(pairs.hard_negatives.of(0)[0]) == limits[1]


def test_steps_of_warm_up_need_to_know_the_steps_of_the_run(tmp_path, capsys):
    write_checkpoint(tmp_path / "start")
    write_shards(make_pairs(60), make_tokenizer(), tmp_path / "shards")
    options = ["--model", str(tmp_path / "start"), "--out", str(tmp_path / "out"), "--shards", str(tmp_path / "shards")]
    options += ["--without-teacher", "--device", "cpu", "--warm-up-steps", "10", "--minutes", "1"]
    assert commands.run(["contrast", *options]) == 1
    assert "--warm-up-steps needs --steps or --epochs" in capsys.readouterr().err


def test_adapters_add_alpha_over_rank_times_their_product_and_decay(tmp_path):
    pytest.importorskip("peft")
    folder, product = write_eos_checkpoint(tmp_path / "start"), {}
    for alpha in (16.0, None):
        student, _ = load_lora_student(folder, "cpu", torch.float32, rank=4, alpha=alpha)
        before = {name: tensor.clone() for name, tensor in student.tensors().items()}
        torch.manual_seed(0)
        with torch.no_grad():
            for parameter in student.trained().values():
                parameter.normal_()
        A, B = (
            next(p for n, p in student.trained().items() if f"layers.0.mixer.in_proj.lora_{side}" in n) for side in "AB"
        )
        name = "backbone.layers.0.mixer.in_proj.weight"
        product[alpha] = student.tensors()[name] - before[name]
        scale = 16 / 4 if alpha else 2  # the default alpha is twice the rank
        torch.testing.assert_close(product[alpha], scale * B @ A, atol=1e-4, rtol=1e-4)
        (group,) = student.groups(Rates(weight_decay=0.1))
        assert group["weight_decay"] == 0.1
