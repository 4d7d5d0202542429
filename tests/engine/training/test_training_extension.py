"""MiniLM with a longer context learns: new positions by skips, rotary positions from MiniLM itself."""

from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn import functional as F

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.extension.bert import Bert, plain_attention
from longsearch.engine.evaluation.extension.positions import interpolated_table
from longsearch.engine.training import commands
from longsearch.engine.training.data.labelling import label_shards
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.papers import longer_commands
from longsearch.engine.training.papers.longer_minilm import NewPositions, Rotary
from longsearch.engine.training.papers.longer_stages import SelfDistillation, Tuning
from longsearch.engine.training.papers.rotary_start import turn_least
from longsearch.engine.training.student.student import Padded, Rates
from tests.engine.training.training_helpers import FakeTeacher, log_of, make_bert, make_pairs, make_tokenizer

POSITIONS, LENGTH = 128, 1024  # of the small BERT, and to be had


@pytest.fixture
def small():
    """What the students need of MiniLM: a random BertModel of 128 positions, and the ids of the marks."""
    return SimpleNamespace(model=make_bert(2), tokenizer=make_tokenizer(), cls=4, sep=5, device="cpu")


@pytest.fixture
def shards(tmp_path):
    write_shards(make_pairs(100), make_tokenizer(), tmp_path / "shards")
    list(label_shards(tmp_path / "shards", FakeTeacher(32)))
    return tmp_path / "shards"


def texts_of(*lengths: int) -> Padded:
    random = np.random.default_rng(0)
    return Padded.of([random.integers(6, 60, n) for n in lengths], "cpu")


def own_vectors(small, texts: Padded):
    """transformers' vectors of each text between its marks."""
    vectors = []
    for ids, mask in zip(texts.tokens, texts.mask, strict=True):
        marked = torch.tensor([[small.cls, *ids[: int(mask.sum())].tolist(), small.sep]])
        vectors.append(F.normalize(small.model(marked).last_hidden_state.mean(1), dim=-1)[0])
    return torch.stack(vectors)


def test_texts_that_fit_keep_their_vectors_while_new_positions_learn(small):
    student = NewPositions(small, LENGTH)
    with torch.no_grad():
        student.new.add_(torch.randn(student.new.shape))
        found = student(texts_of(126, 3, 50))
    assert torch.allclose(found, own_vectors(small, texts_of(126, 3, 50)), atol=1e-5)


def test_a_step_of_tuning_changes_new_positions_and_nothing_else(small, shards):
    student = NewPositions(small, LENGTH)
    before = {name: tensor.clone() for name, tensor in small.model.state_dict().items()}
    pairs = load_pairs(shards, small.tokenizer, True)
    stage = Tuning(student, pairs, 0, 256, 16)
    optimiser = torch.optim.AdamW(student.groups(Rates(1e-2)))
    for step in range(3):
        stage(step, 1.0).loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    table, start = student.table(), interpolated_table(student.bert.table, LENGTH)
    changed = (table != start).any(1)
    assert changed.any() and not changed[:: LENGTH // POSITIONS].any()
    assert all(torch.equal(tensor, before[name]) for name, tensor in small.model.state_dict().items())


def test_skips_put_a_text_at_the_positions_from_its_start(small):
    student = NewPositions(small, LENGTH)
    texts, starts = texts_of(20, 20), torch.tensor([0, 700])
    found = student.skipped(texts, starts)
    marked = student.marked(texts)
    table = interpolated_table(student.bert.table, LENGTH)
    for i, start in enumerate((0, 700)):
        hidden = student.bert(
            marked.tokens[i : i + 1], marked.mask[i : i + 1], table[start : start + 22], plain_attention
        )
        assert torch.allclose(found[i], F.normalize(hidden.mean(1), dim=-1)[0], atol=1e-5)


def test_skips_are_drawn_from_zero_to_the_last_place_where_a_whole_window_fits(small, shards, monkeypatch):
    student = NewPositions(small, LENGTH)
    stage = Tuning(student, load_pairs(shards, small.tokenizer, True), 0, 256, 16)
    drawn: list[int] = []
    inner = student.skipped
    monkeypatch.setattr(student, "skipped", lambda texts, starts: drawn.extend(starts.tolist()) or inner(texts, starts))
    for step in range(40):
        stage(step, 1.0)
    assert 0 <= min(drawn) < 100 and 800 < max(drawn) <= LENGTH - POSITIONS
    assert len(set(drawn)) > len(drawn) / 2


def test_tuning_refuses_pairs_without_vectors(small, tmp_path):
    write_shards(make_pairs(20), make_tokenizer(), tmp_path / "shards")
    with pytest.raises(LongsearchError, match="MiniLM's vectors"):
        Tuning(NewPositions(small, LENGTH), load_pairs(tmp_path / "shards", small.tokenizer, False), 0, 256, 16)


def test_the_rotary_student_starts_without_a_table_and_comes_nearer_to_its_teacher(small, shards):
    student, teacher = Rotary(small, texts_of(30, 12, 20)), Bert(small.model)
    assert not student.bert.table.any() and small.model.embeddings.position_embeddings.weight.any()
    stage = SelfDistillation(student, teacher, load_pairs(shards, small.tokenizer, True), 0, 512)
    optimiser = torch.optim.AdamW(student.groups(Rates(3e-3)))
    distances = []
    for step in range(12):
        result = stage(step % 2, 1.0)
        distances.append(result.parts["cosine_distance"])
        result.loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    assert distances[-1] + distances[-2] < 0.7 * (distances[0] + distances[1])


def test_turning_least_keeps_the_scores_of_heads_and_sorts_the_coordinates_by_size(small):
    layer, inputs = deepcopy(small.model.encoder.layer[0]), torch.randn(400, 32) @ torch.randn(32, 32)

    def parts(layer):
        q, k = (f(inputs).unflatten(-1, (4, 8)) for f in (layer.attention.self.query, layer.attention.self.key))
        return q, k

    q, k = parts(layer)
    turn_least(layer, inputs)
    new_q, new_k = parts(layer)
    before, after = (torch.einsum("nhd,mhd->hnm", *pair) for pair in ((q, k), (new_q, new_k)))
    assert torch.allclose(before, after, rtol=1e-3, atol=1e-3 * float(before.detach().abs().max()))
    sizes = new_q.detach().square().mean((0, 1)) * new_k.detach().square().mean((0, 1))
    assert (sizes.sort().values == sizes).all()


def test_the_rotary_student_knows_the_order_of_words_only_by_their_distances(small):
    student = Rotary(small, texts_of(30, 12, 20))
    tokens = texts_of(20).tokens
    same = student.hidden(Padded(tokens, torch.ones(1, 20)))[0]
    turned = student.hidden(Padded(tokens.flip(1), torch.ones(1, 20)))[0]
    assert not torch.allclose(same, turned.flip(0), atol=1e-3)  # distances have a sign
    padded = student.hidden(Padded(F.pad(tokens, (3, 0)), F.pad(torch.ones(1, 20), (3, 0))))[0, 3:]
    assert torch.allclose(same, padded, atol=1e-4)  # a shift of all positions changes nothing


@pytest.mark.parametrize("name", ["tuned", "rope"])
def test_a_command_trains_resumes_and_writes_what_the_evaluation_reads(name, small, shards, tmp_path, monkeypatch):
    monkeypatch.setattr(longer_commands, "MiniLM", lambda device: small)
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.json").write_text("{}")
    monkeypatch.setattr(longer_commands, "minilm_folder", lambda: tmp_path / "base")
    options = [name, "--shards", str(shards), "--out", str(tmp_path / name), "--batch-tokens", "256", "--device", "cpu"]
    options += ["--length", "1024"] if name == "tuned" else []
    for steps in ("2", "4"):
        assert commands.run([*options, "--steps", steps]) == 0
    assert [record["step"] for record in log_of(tmp_path / name) if "loss" in record] == [1, 2, 3, 4]
    written = load_file(tmp_path / name / "model.safetensors")
    expected = {"positions"} if name == "tuned" else set(small.model.state_dict())
    assert set(written) == expected
