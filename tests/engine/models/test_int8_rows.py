"""A table of token vectors in 8 bits is read as the floats that it stands for."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.config import read_config
from longsearch.engine.models.embedding import SCALE, from_int8_rows, to_int8_rows
from longsearch.engine.models.weights import load_mamba2
from longsearch.engine.training import commands
from tests.engine.tiny_models import save_embedder

TABLE = "backbone.embeddings.weight"


def opened(folder: Path) -> Encoder:
    return Encoder.open(folder, device="cpu", dtype="float32")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_embedder(tmp_path / "model", "mean")


@pytest.fixture
def compact(folder: Path, tmp_path: Path) -> Path:
    assert commands.run(["compact", "--model", str(folder), "--out", str(tmp_path / "compact")]) == 0
    return tmp_path / "compact"


def table_name(folder: Path) -> str:
    return next(name for name in load_file(folder / "model.safetensors") if name.endswith("embeddings.weight"))


def test_no_number_is_off_by_more_than_a_scale_and_a_row_of_zeros_stays():
    matrix = torch.randn(50, 24, generator=torch.Generator().manual_seed(1)) * torch.logspace(-3, 2, 50)[:, None]
    matrix[7] = 0
    rows, scales = to_int8_rows(matrix)
    assert rows.dtype == torch.int8
    assert scales.dtype == torch.float16
    back = from_int8_rows("table", rows, scales)
    assert torch.all((back - matrix).abs() <= scales.float()[:, None])
    assert torch.equal(back[7], torch.zeros(24))
    assert torch.nn.functional.cosine_similarity(back, matrix).sort().values[1] > 0.999  # [0] is the row of zeros


def test_the_loader_gives_exactly_scale_times_row(compact: Path):
    stored = load_file(compact / "model.safetensors")
    name = table_name(compact)
    model, _ = load_mamba2(compact, read_config(compact / "config.json")[0], "cpu", torch.float32)
    expected = stored[name].float() * stored[name + SCALE].float()[:, None]
    assert stored[name].dtype == torch.int8
    assert torch.equal(model.embeddings.weight, expected)


def test_a_compact_model_equals_one_with_the_same_table_in_floats(compact: Path, tmp_path: Path):
    stored, name = load_file(compact / "model.safetensors"), table_name(compact)
    stored[name] = from_int8_rows(name, stored[name], stored.pop(name + SCALE))
    shutil.copytree(compact, tmp_path / "floats")
    save_file(stored, tmp_path / "floats" / "model.safetensors")
    text = "w1 w2 w3 w4 w5 w6"
    vectors = [opened(path).encode_query(text) for path in (compact, tmp_path / "floats")]
    np.testing.assert_allclose(*vectors, atol=1e-6)


def test_vectors_change_little_and_the_other_weights_not_at_all(folder: Path, compact: Path):
    before, after = load_file(folder / "model.safetensors"), load_file(compact / "model.safetensors")
    assert before.keys() | {table_name(folder) + SCALE} == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before if name != table_name(folder))
    text = "w1 w2 w3 w4 w5 w6"
    assert opened(folder).encode_query(text) @ opened(compact).encode_query(text) > 0.999


@pytest.mark.parametrize("change", ["missing", "short"])
def test_rows_without_fitting_scales_are_refused(compact: Path, change: str):
    stored, name = load_file(compact / "model.safetensors"), table_name(compact)
    scales = stored.pop(name + SCALE)
    if change == "short":
        stored[name + SCALE] = scales[:-1].clone()
    save_file(stored, compact / "model.safetensors")
    with pytest.raises(ModelError, match="of 8 bits, but"):
        opened(compact)


def test_a_compact_model_is_not_made_twice_or_over_itself(folder: Path, compact: Path, capsys):
    assert commands.run(["compact", "--model", str(compact), "--out", str(folder.parent / "again")]) == 1
    assert "no table of token vectors in floats" in capsys.readouterr().err
    assert commands.run(["compact", "--model", str(folder), "--out", str(folder)]) == 1
    assert "is the model itself" in capsys.readouterr().err
    assert json.loads((compact / "config.json").read_text("utf-8"))["model_type"] == "mamba2"
