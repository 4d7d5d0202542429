"""A student made from layers of a BERT equals that BERT except for its attention."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from transformers import BertModel

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.training import commands, preparing
from longsearch.engine.training.data.shards import write_shards
from longsearch.engine.training.student.from_teacher import config_like, student_of
from longsearch.engine.training.student.saving import load_student
from tests.engine.training.training_helpers import FakeTeacher, make_bert, make_pairs, make_tokenizer

LAYERS = [0, 2, 3]


@pytest.fixture
def bert() -> BertModel:
    return make_bert()


def student(bert: BertModel) -> Mamba2:
    sample = torch.randint(1, 66, (8, 20), generator=torch.Generator().manual_seed(1))
    return student_of(bert, config_like(bert, len(LAYERS), d_state=8, head_dim=8), LAYERS, sample, seed=0)


def without_attention(bert: BertModel, tokens: torch.Tensor) -> torch.Tensor:
    """Run the copied layers by hand, with the student's activation; attention adds only the bias of its output."""
    e = bert.embeddings
    hidden = e.LayerNorm(
        e.word_embeddings(tokens) + e.position_embeddings.weight[1:100].mean(0) + e.token_type_embeddings.weight[0]
    )
    for number in LAYERS:
        layer = bert.encoder.layer[number]
        hidden = layer.attention.output.LayerNorm(hidden + layer.attention.output.dense.bias)
        inner = F.hardswish(1.702 * layer.intermediate.dense(hidden)) / 1.702
        hidden = layer.output.LayerNorm(hidden + layer.output.dense(inner))
    return hidden


def test_a_student_with_mixers_that_add_nothing_equals_the_bert_without_attention(bert):
    model, tokens = student(bert), torch.randint(1, 66, (2, 17))
    with torch.no_grad():
        for block in model.layers:
            block.mixer.norm.weight.zero_()
        torch.testing.assert_close(model(tokens), without_attention(bert, tokens), atol=1e-4, rtol=1e-4)


def test_mixers_copy_the_values_and_outputs_of_attention(bert):
    model, inner = student(bert), 32
    for block, number in zip(model.layers, LAYERS, strict=True):
        attention = bert.encoder.layer[number].attention
        assert torch.equal(block.mixer.in_proj.weight[inner : 2 * inner], attention.self.value.weight)
        assert torch.equal(block.mixer.in_proj.bias[inner : 2 * inner], attention.self.value.bias)
        assert torch.equal(block.mixer.out_proj.weight, attention.output.dense.weight)


def test_the_mlp_channels_that_matter_most_come_first(bert):
    """The first half of the channels approximates the whole MLP better than the last half."""
    model = student(bert)
    tokens = torch.randint(1, 66, (4, 30))
    with torch.no_grad():
        hidden = model.embeddings(tokens)
        mlp = model.layers[0].mlp
        whole = mlp(hidden) - mlp.down.bias
        inner = F.hardswish(mlp.up(hidden))
        first, last = (inner[..., part] @ mlp.down.weight[:, part].T for part in (slice(24), slice(24, None)))
    assert (first - whole).norm() < (last - whole).norm()


def test_the_same_seed_gives_the_same_model(bert):
    one, other = student(bert).state_dict(), student(bert).state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture
def teacher(bert, monkeypatch):
    fake = SimpleNamespace(model=bert, tokenizer=make_tokenizer(), centre=None)
    monkeypatch.setattr(preparing, "open_teacher", lambda *_: fake)
    small = lambda bert, n_layers: config_like(bert, n_layers, d_state=8, head_dim=8)  # noqa: E731
    monkeypatch.setattr(preparing, "config_like", small)


def test_the_command_writes_a_checkpoint_that_opens_at_full_width_and_trains(bert, teacher, tmp_path):
    write_shards(make_pairs(60), make_tokenizer(), tmp_path / "shards")
    shards, layers = str(tmp_path / "shards"), ["--teacher-layers", "0", "2", "3"]
    assert commands.run(["new", "--shards", shards, "--out", str(tmp_path / "new"), *layers]) == 0
    trained, _ = load_student(tmp_path / "new", "cpu", torch.float32)
    assert trained.model.config.d_mlp == 48
    assert trained.model.config.dt_max == 1.0
    vector = Encoder.open(tmp_path / "new", device="cpu", dtype="float32").encode_query("w1 w2 w3")
    assert np.isclose(np.linalg.norm(vector), 1, atol=1e-5)
    with pytest.raises(ModelError, match="trained at its full width alone"):
        Encoder.open(tmp_path / "new", device="cpu", width=0.25)
    options = ["--shards", shards, "--model", str(tmp_path / "new"), "--out", str(tmp_path / "run")]
    assert commands.run(["contrast", *options, "--steps", "2", "--without-teacher", "--dtype", "float32"]) == 0
    quarter = Encoder.open(tmp_path / "run", device="cpu", dtype="float32", width=0.25)
    assert np.isclose(np.linalg.norm(quarter.encode_query("w1 w2 w3")), 1, atol=1e-5)


def test_missing_layers_are_refused(bert, teacher, tmp_path, capsys):
    write_shards(make_pairs(20), FakeTeacher().tokenizer, tmp_path / "shards")
    folders = ["--shards", str(tmp_path / "shards"), "--out", str(tmp_path / "new")]
    assert commands.run(["new", *folders, "--teacher-layers", "9"]) == 1
    assert "layers 0 to 3" in capsys.readouterr().err
