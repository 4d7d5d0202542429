"""Training for the generative readout: gradients through soft tokens, and the losses of GIRCSE by hand."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.training.commands import run
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.papers.generative import GenerativeStudent
from longsearch.engine.training.papers.opening import open_student
from longsearch.engine.training.papers.refine import Refine, RefineOptions
from longsearch.engine.training.stages.losses import info_nce, refinement, stepwise
from longsearch.engine.training.stages.pair_stages import PairOptions
from longsearch.engine.training.student.saving import save_model
from longsearch.engine.training.student.student import Padded
from tests.engine.training.test_training_eos import TEXTS, padded, write_base
from tests.engine.training.training_helpers import log_of, make_pairs, make_tokenizer


def open_generative(folder: Path) -> tuple[GenerativeStudent, Tokenizer]:
    student, tokenizer = open_student(folder, "cpu", torch.float32, "generative")
    assert isinstance(student, GenerativeStudent)
    for layer in student.model.layers:  # a new model is static: its mixers add nothing
        torch.nn.init.normal_(layer.mixer.out_proj.weight, std=0.1)
    torch.nn.init.normal_(student.soft.mixing, std=0.3)  # a new head gives every text the same soft tokens
    return student, tokenizer


def literal(student: GenerativeStudent, ids: list[int]) -> torch.Tensor:
    """Return z_1 .. z_K (K, d_model) of one text by Algorithm 1 of the paper: every step reads all tokens again."""
    E, A, b = student.model.embeddings.weight, student.soft.mixing, student.soft.bias
    X, D = E[torch.tensor([*ids, student.eos_id])], list[torch.Tensor]()
    for _ in range(student.steps):
        H, _ = student.model.step_embedded(torch.cat((X, *D))[None], student.model.initial_state())
        s = torch.softmax((E @ A) @ H[0, -1] + b, dim=0)
        D.append((s @ E)[None])
    H, _ = student.model.step_embedded(torch.cat((X, *D))[None], student.model.initial_state())
    G = H[0, len(X) :]
    z = torch.stack([G[:k].mean(0) for k in range(1, student.steps + 1)])
    return z / z.norm(dim=1, keepdim=True)


def test_the_vectors_of_padded_texts_are_those_of_algorithm_1_for_each_text_alone(tmp_path):
    student, tokenizer = open_generative(write_base(tmp_path / "base"))
    torch.nn.init.normal_(student.soft.bias)
    found = student.refinements(padded(tokenizer))
    assert found.shape == (len(TEXTS), 5, 16)
    for row, text in enumerate(TEXTS):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        torch.testing.assert_close(found[row], literal(student, ids), atol=1e-5, rtol=0)
    torch.testing.assert_close(student(padded(tokenizer)), found[:, -1])


def test_the_states_at_the_ends_of_padded_texts_are_those_of_each_text_alone(tmp_path):
    student, tokenizer = open_generative(write_base(tmp_path / "base"))
    _, states = student.read_to_end(padded(tokenizer))
    for row, text in enumerate(TEXTS):
        ids = [*tokenizer.encode(text, add_special_tokens=False).ids, student.eos_id]
        _, alone = student.model.step(torch.tensor([ids]), student.model.initial_state())
        for name, tensor in alone.tensors().items():
            torch.testing.assert_close(states.tensors()[name][row : row + 1], tensor, atol=1e-5, rtol=0)


def test_a_model_trained_for_soft_tokens_is_opened_with_the_students_own_vectors(tmp_path):
    base = write_base(tmp_path / "base")
    student, tokenizer = open_generative(base)
    torch.nn.init.normal_(student.soft.bias)
    with torch.no_grad():
        for weight in student.parameters():  # the checkpoint holds float16
            weight.copy_(weight.half())
    save_model(student, base, tmp_path / "made", {})
    encoder = Encoder.open(tmp_path / "made", device="cpu", dtype="float32")
    assert (encoder.readout.readout, encoder.readout.soft_tokens) == ("generative", 5)
    with torch.no_grad():
        trained = student(padded(tokenizer)).numpy()
    found = np.stack([encoder.encode_query(text, "") for text in TEXTS])
    np.testing.assert_allclose(found, trained, atol=1e-4)
    again, _ = open_student(tmp_path / "made", "cpu", torch.float32)
    assert isinstance(again, GenerativeStudent)
    torch.testing.assert_close(again(padded(tokenizer)).detach().numpy(), trained, atol=1e-4, rtol=0)


def test_gradients_reach_the_head_the_table_and_every_layer(tmp_path):
    student, tokenizer = open_generative(write_base(tmp_path / "base"))
    student(padded(tokenizer))[:, 0].sum().backward()
    assert student.soft.mixing.grad.abs().sum() > 0
    assert student.soft.bias.grad.abs().sum() > 0
    assert student.model.embeddings.weight.grad.coalesce().values().abs().sum() > 0
    for layer in range(student.model.config.n_layers):
        assert student.model.layers[layer].mixer.in_proj.weight.grad.abs().sum() > 0


def test_the_bias_of_a_new_head_is_the_log_frequency_and_that_of_a_trained_head_is_kept(tmp_path):
    student, _ = open_generative(write_base(tmp_path / "base"))
    counts = torch.zeros(len(student.soft.bias))
    counts[7] = 3
    student.count(counts)
    assert student.soft.bias[7].exp().item() == pytest.approx(4 / (3 + len(counts)))
    assert student.soft.bias.exp().sum().item() == pytest.approx(1)
    student.is_new = False
    student.count(counts * 9)
    assert student.soft.bias[7].exp().item() == pytest.approx(4 / (3 + len(counts)))


def test_the_soft_tokens_of_a_new_head_are_the_mean_of_all_tokens_by_frequency_until_a_gradient_comes(tmp_path):
    student, tokenizer = open_student(write_base(tmp_path / "base"), "cpu", torch.float32, "generative")
    assert isinstance(student, GenerativeStudent)
    counts = torch.arange(len(student.soft.bias))
    student.count(counts)
    table = student.model.embeddings.weight.detach()
    mean = ((counts + 1)[:, None] * table).sum(0) / (counts + 1).sum()
    torch.testing.assert_close(student.soft.next(torch.randn(2, 16), table), mean.expand(2, -1), atol=1e-5, rtol=1e-4)
    for layer in student.model.layers:
        torch.nn.init.normal_(layer.mixer.out_proj.weight, std=0.1)
    student(padded(tokenizer))[:, 0].sum().backward()
    assert student.soft.mixing.grad.abs().sum() > 0


def test_the_stepwise_loss_is_the_sum_over_the_steps():
    assert stepwise(torch.tensor([3.0, 2.0, 0.5])).item() == 5.5


def test_the_regulariser_by_hand():
    losses = [2.0, 3.0, 1.0, 1.5]
    by_hand = (math.log(3 / 2) + 0 + math.log(1.5)) / 3
    assert refinement(torch.tensor(losses)).item() == pytest.approx(by_hand)


@pytest.mark.parametrize("losses", [[3.0, 2.0, 2.0, 1.0], [1.0], [0.5, 0.0, 0.0]])
def test_the_regulariser_is_0_if_no_step_makes_the_loss_worse(losses: list[float]):
    assert refinement(torch.tensor(losses)).item() == 0


def test_the_regulariser_of_a_solved_batch_is_finite_and_so_is_its_gradient():
    losses = torch.tensor([0.0, 1e-3], requires_grad=True)
    penalty = refinement(losses)
    penalty.backward()
    assert penalty.item() == pytest.approx(math.log(1e3), rel=1e-4)
    assert losses.grad.isfinite().all()


def make_refine(tmp_path: Path, options: RefineOptions) -> tuple[GenerativeStudent, Refine]:
    base = write_base(tmp_path / "base")
    student, tokenizer = open_generative(base)
    write_shards(make_pairs(80), make_tokenizer(), tmp_path / "shards")
    pairs = load_pairs(tmp_path / "shards", make_tokenizer(), labelled_only=False)
    of_pairs = PairOptions(batch_tokens=10_000, max_pairs=8, contrast_weight=1.0, both_ways=False)
    return student, Refine(student, pairs, of_pairs, Prompter(tokenizer, 0), refine=options)


@pytest.mark.parametrize("regulariser", [0.0, 1.0, 2.0])
def test_the_stage_adds_info_nce_of_every_step_and_the_regulariser(tmp_path, regulariser: float):
    student, stage = make_refine(tmp_path, RefineOptions(regulariser=regulariser))
    rows = stage.batches.draw(0, 10_000, 8, 0.5)
    pairs = stage._pairs
    q, p = (student.refinements(Padded.of([t[row] for row in rows], "cpu")) for t in (pairs.queries, pairs.passages))
    documents = pairs.documents[rows]
    same = torch.from_numpy(documents[:, None] == documents[None, :])
    losses = torch.stack([info_nce(q[:, k], p[:, k], same, both_ways=False) for k in range(5)])
    expected = losses.sum() + regulariser * refinement(losses)
    torch.testing.assert_close(stage(0, 1.0).loss, expected)


def test_the_stage_can_compare_the_last_step_alone(tmp_path):
    student, stage = make_refine(tmp_path, RefineOptions(every_step=False))
    assert set(stage(0, 1.0).parts) == {"nce", "pairs"}
    student.steps = 1  # then the last step is the only one
    alone = stage(0, 1.0).loss
    stage._refine = RefineOptions(every_step=True)
    torch.testing.assert_close(stage(0, 1.0).loss, alone)


def test_pieces_of_a_batch_give_the_gradient_of_the_whole_batch(tmp_path):
    from dataclasses import replace

    student, stage = make_refine(tmp_path, RefineOptions())
    gradients = []
    for pieces in (1, 3):
        stage._options = replace(stage._options, accumulate=pieces)
        student.zero_grad()
        stage(0, 1.0).loss.backward()
        gradients.append(student.soft.mixing.grad.clone())
    size = gradients[0].abs().max().item()
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-3 * size, rtol=0)


def test_the_command_trains_a_generative_model_that_the_encoder_opens(tmp_path):
    base = write_base(tmp_path / "base")
    write_shards(make_pairs(120), make_tokenizer_with_end(base), tmp_path / "shards")
    command = ["contrast", "--readout", "generative", "--soft-tokens", "3", "--shards", str(tmp_path / "shards")]
    options = ["--without-teacher", "--steps", "2", "--widths", "1", "--width-weights", "1", "--dtype", "float32"]
    assert run([*command, *options, "--model", str(base), "--out", str(tmp_path / "out")]) == 0
    assert {"nce", "refinement"} < set(log_of(tmp_path / "out")[0])
    encoder = Encoder.open(tmp_path / "out")
    assert encoder.readout.soft_tokens == 3
    assert not np.allclose(encoder.encode_query("w1 w2"), encoder.encode_query("w1 w2", steps=0))


def make_tokenizer_with_end(base: Path) -> Tokenizer:
    return Tokenizer.from_file(str(base / "tokenizer.json"))
