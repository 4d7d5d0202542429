"""The student, the training loop, its checkpoints, and resuming."""

import json
import math
import os
import signal
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
import torch

from longsearch.engine.errors import LongsearchError, ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.labelling import label_shards
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.stages.loop import LoopOptions, run
from longsearch.engine.training.stages.pair_stages import Contrast, Distillation, Mixture, PairOptions
from longsearch.engine.training.stages.probe import HeldOut
from longsearch.engine.training.student.optimiser import InFloat32, Optimiser, rate_factor
from longsearch.engine.training.student.saving import load_student, save_model
from longsearch.engine.training.student.student import Padded, Rates, Schedule
from tests.engine.training.training_helpers import FakeTeacher, log_of, make_pairs, make_tokenizer, write_checkpoint


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


def train(tmp_path, name, steps, kind=Distillation, **options):
    student, stage = make_stage(tmp_path, kind)
    run(student, stage, LoopOptions(tmp_path / name, tmp_path / "start", steps=steps, **options))
    return student


def test_the_students_vectors_equal_the_encoders_of_its_checkpoint(tmp_path):
    folder = write_checkpoint(tmp_path / "model")
    student, tokenizer = load_student(folder, "cpu", torch.float32)
    for name, parameter in student.model.named_parameters():
        if name.endswith("out_proj.weight"):
            torch.nn.init.normal_(parameter, std=0.2, generator=torch.Generator().manual_seed(1))
    texts = ["w1 w2 w3", "w4", "w5 w6 w7 w8 w9 w10 w11 w12 w13"]
    save_model(student, folder, tmp_path / "saved", {"widths": [1.0, 0.5]})
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


def test_without_a_teacher_a_collapsed_encoder_is_punished(tmp_path):
    """Every vector is the same, so the loss is the mean of ln(fair passages); the model is static, out_proj is zero."""
    write_checkpoint(tmp_path / "start")
    write_shards(make_pairs(200), make_tokenizer(), tmp_path / "shards")
    student, tokenizer = load_student(tmp_path / "start", "cpu", torch.float32)
    with torch.no_grad():
        student.model.embeddings.weight.fill_(1.0)
    pairs = load_pairs(tmp_path / "shards", tokenizer, labelled_only=False)
    stage = Contrast(student, pairs, PairOptions(batch_tokens=300, max_pairs=16), Prompter(tokenizer, 0))
    rows = stage.batches.draw(0, 300, 16, 0.5)
    fair = [sum(i == j or pairs.documents[i] != pairs.documents[j] for j in rows) for i in rows]
    assert min(fair) > 1
    assert stage(0, 1.0).parts["nce"] == pytest.approx(np.mean(np.log(fair)), rel=1e-4)


def test_runs_are_equal_with_the_same_seed_and_differ_with_another(tmp_path):
    logs = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        student, stage = make_stage(tmp_path, Contrast, seed)
        run(student, stage, LoopOptions(tmp_path / name, tmp_path / "start", steps=4, seed=seed))
        logs.append([(record["loss"], record["width"]) for record in log_of(tmp_path / name)])
    assert logs[0] == logs[1] != logs[2]


def gradient_of(student, width, stage):
    """The gradient of one width's loss at step 0, by parameter."""
    student.zero_grad(set_to_none=True)
    stage(0, width).loss.backward()
    return {name: (0 if p.grad is None else p.grad.to_dense()) for name, p in student.named_parameters()}


def test_a_joint_step_has_the_mean_of_all_widths_gradients_and_updates_once(tmp_path):
    """Equation 7 of MatMamba with lambda_i = 1 / g."""
    widths = (1.0, 0.5, 0.25, 0.125)
    twin, twin_stage = make_stage(tmp_path, Contrast)
    gradients = [gradient_of(twin, width, twin_stage) for width in widths]
    losses = [twin_stage(0, width).loss.item() for width in widths]

    student, stage = make_stage(tmp_path, Contrast)
    found = {}
    for name, parameter in student.named_parameters():  # seen before the optimiser clips it
        parameter.register_post_accumulate_grad_hook(
            lambda p, name=name: found.update({name: p.grad.to_dense().clone()})
        )
    run(student, stage, LoopOptions(tmp_path / "out", tmp_path / "start", steps=1, widths=widths, joint=True))

    assert found.keys() == dict(student.named_parameters()).keys()
    for name, gradient in found.items():
        mean = sum(of_width[name] for of_width in gradients) / 4
        torch.testing.assert_close(gradient, mean, atol=1e-6, rtol=1e-4, msg=name)
    (record,) = [record for record in log_of(tmp_path / "out") if "loss" in record]
    assert [record[f"loss@{width:g}"] for width in widths] == pytest.approx(losses, abs=1e-4)
    assert record["loss"] == pytest.approx(np.mean(losses), abs=1e-4)
    assert record["tokens"] == twin_stage(0, 1.0).n_tokens


def test_an_interrupted_and_resumed_run_equals_an_unbroken_one(tmp_path):
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_a_signal_ends_is_saved_after_its_step(tmp_path, number):
    student, stage = make_stage(tmp_path)

    def asked_at_three(step, width):
        if step == 2:
            os.kill(os.getpid(), number)
        return stage(step, width)

    options = LoopOptions(tmp_path / "cut", tmp_path / "start", steps=8)  # it would be saved every five minutes
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as stopped:
        run(student, asked_at_three, options)
    assert stopped.value.code == 128 + number
    assert signal.getsignal(number) is before
    resumed, stage = make_stage(tmp_path)
    assert run(resumed, stage, options).step == 8
    assert [record["step"] for record in log_of(tmp_path / "cut")] == list(range(1, 9))


def test_a_checkpoint_is_a_model_that_names_the_widths_it_was_trained_at(tmp_path):
    train(tmp_path, "out", 2, widths=(1.0, 0.5), width_weights=(1, 1))
    encoder = Encoder.open(tmp_path / "out", device="cpu", width=0.5)
    assert encoder.readout.widths == (1.0, 0.5)
    assert np.isfinite(encoder.encode_document("w1 w2 . w3").vector).all()


def test_the_log_has_the_mrr_of_held_out_pairs(tmp_path):
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


def test_a_run_ends_after_its_minutes(tmp_path):
    student, stage = make_stage(tmp_path)
    progress = run(student, stage, LoopOptions(tmp_path / "out", tmp_path / "start", minutes=0.002))
    assert 0 < progress.step < 1000
    assert progress.elapsed_s >= 0.12


def test_a_loss_that_is_not_finite_changes_no_weight(tmp_path):
    student, stage = make_stage(tmp_path)
    before = {name: tensor.clone() for name, tensor in student.state_dict().items()}
    optimiser = Optimiser(student, Rates())
    (stage(0, 1.0).loss * math.nan).backward()
    assert math.isnan(optimiser.step(1.0))
    assert all(torch.equal(student.state_dict()[name], tensor) for name, tensor in before.items())


def test_only_the_embedding_rows_that_were_read_are_updated(tmp_path):
    student, _ = load_student(write_checkpoint(tmp_path / "model"), "cpu", torch.float32)
    before = student.model.embeddings.weight.detach().clone()
    optimiser = Optimiser(student, Rates())
    (student(Padded.of([np.array([7, 9])], "cpu")) * torch.arange(16)).sum().backward()
    optimiser.step(1.0)
    changed = (student.model.embeddings.weight.detach() != before).any(1).nonzero().flatten()
    assert changed.tolist() == [7, 9]


def test_a_matrix_moves_by_the_orthogonal_matrix_nearest_to_its_gradient(tmp_path):
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


def test_the_linear_schedule_is_that_of_transformers():
    from transformers import get_linear_schedule_with_warmup  # seconds to import

    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = get_linear_schedule_with_warmup(optimiser, num_warmup_steps=100, num_training_steps=730)
    for step in range(730):
        factor = rate_factor(step / 730, 100 / 730, Schedule.LINEAR)
        assert factor == pytest.approx(optimiser.param_groups[0]["lr"], abs=1e-9)
        optimiser.step()
        theirs.step()


def test_resuming_from_a_damaged_file_is_refused(tmp_path):
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


def test_load_student_refuses_a_model_without_the_mean_readout(tmp_path):
    folder = write_checkpoint(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config["longsearch"]["readout"] = "eos"
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="reads out 'eos'"):
        load_student(folder, "cpu", torch.float32)


def test_a_mixture_runs_each_stage_with_its_share_of_steps():
    ran = []
    mixture = Mixture(lambda step, width: ran.append("main"), lambda step, width: ran.append("other"), 0.25, seed=0)
    for step in range(400):
        mixture(step, 1.0)
    assert 70 < ran.count("other") < 130


def test_muon_in_float32_makes_the_update_that_it_makes_in_bfloat16():
    updates = []
    for products in (InFloat32(), nullcontext()):
        torch.manual_seed(0)
        matrix = torch.nn.Parameter(torch.zeros(24, 16))
        matrix.grad = torch.randn(24, 16)
        with products:
            torch.optim.Muon([matrix], lr=1.0, adjust_lr_fn="match_rms_adamw").step()
        updates.append(matrix.detach())
    in_float32, in_bfloat16 = updates
    assert (in_float32 - in_bfloat16).norm() < 0.02 * in_bfloat16.norm()
    assert in_float32.ne(in_float32.bfloat16().float()).any(), "the update still went through bfloat16"
