"""A MatMamba checkpoint runs at any width it was trained for, or one for each layer, and at no other."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.mamba2 import Mamba2
from tests.engine.tiny_models import PROSE, save_embedder

HEADS, LAYERS, HEAD_DIM, D_STATE = 4, 2, 8, 8
NESTED = (1.0, 0.5, 0.25)


def kept_by_hand(tensors: dict[str, torch.Tensor], layer: int, heads: int) -> dict[str, torch.Tensor]:
    """Return a layer's tensors with only its first heads: in_proj is [z, x, B, C, dt], conv1d is [x, B, C]."""
    full, k, bc = HEADS * HEAD_DIM, heads * HEAD_DIM, 2 * D_STATE
    rows = [
        *range(k),
        *range(full, full + k),
        *range(2 * full, 2 * full + bc),
        *range(2 * full + bc, 2 * full + bc + heads),
    ]
    channels = [*range(k), *range(full, full + bc)]
    picks = {"in_proj.weight": rows, "conv1d.weight": channels, "conv1d.bias": channels, "mixer.norm.weight": range(k)}
    picks |= dict.fromkeys(("dt_bias", "A_log", "D"), range(heads))
    kept = {}
    for name, tensor in tensors.items():
        if name.startswith(f"layers.{layer}."):
            for suffix, index in picks.items():
                tensor = tensor[list(index)] if name.endswith(suffix) else tensor
            kept[name] = tensor[:, :k] if name.endswith("out_proj.weight") else tensor
    for norm, matrix in (("norm.weight", "mixer.in_proj.weight"), ("mixer.norm.weight", "mixer.out_proj.weight")):
        norm, matrix = (f"layers.{layer}.{name}" for name in (norm, matrix))
        kept[matrix] = kept[matrix].float() * kept[norm].float()  # folded, as `QuickMamba2` does on a CPU
        kept[norm] = torch.ones_like(kept[norm])
    return kept


@pytest.mark.parametrize("width", [(1.0, 0.5), (0.25, 1.0), (0.5, 0.25), 0.5])
def test_a_model_at_a_width_equals_the_small_model_made_of_its_slices(
    width: float | tuple[float, ...], tmp_path: Path
) -> None:
    folder = save_embedder(tmp_path / "model", "mean", widths=NESTED)
    narrow = Encoder.open(folder, device="cpu", dtype="float32", width=width)
    fractions = width if isinstance(width, tuple) else (width,) * LAYERS
    heads = tuple(round(fraction * HEADS) for fraction in fractions)
    stored = {name.removeprefix("backbone."): t for name, t in load_file(folder / "model.safetensors").items()}
    found = narrow.model.state_dict()
    for layer, n in enumerate(heads):
        expected = kept_by_hand(stored, layer, n)
        assert expected
        for name, tensor in expected.items():
            assert torch.equal(found[name], tensor), name
    assert [
        tensor.shape[1] for name, tensor in narrow.model.initial_state().tensors().items() if "ssm" in name
    ] == list(heads)


def test_full_width_for_each_layer_is_the_full_model_and_all_widths_share_its_fingerprint(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "mean", widths=NESTED)
    full, mixed, ones = (
        Encoder.open(folder, device="cpu", dtype="float32", width=w) for w in (1.0, (1.0, 0.5), (1.0, 1.0))
    )
    text = PROSE[:2000]
    assert full.fingerprint == mixed.fingerprint == ones.fingerprint
    np.testing.assert_array_equal(full.encode_document(text).vector, ones.encode_document(text).vector)


@pytest.mark.parametrize("width", [(), (1.0,), (1.0, 0.5, 0.5), (0.0, 1.0), (1.0, 1.5), 0.0, -1.0, 2.0, float("nan")])
def test_widths_that_do_not_fit_are_refused(width: float | tuple[float, ...], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="width"):
        Encoder.open(save_embedder(tmp_path / "model", "mean", widths=NESTED), device="cpu", width=width)


@pytest.mark.parametrize("width", [0.5, (1.0, 0.25)])
def test_a_model_that_was_never_trained_nested_opens_at_full_width_alone(
    width: float | tuple[float, ...], tmp_path: Path
) -> None:
    folder = save_embedder(tmp_path / "model", "mean")
    with pytest.raises(ModelError, match="trained at its full width alone"):
        Encoder.open(folder, device="cpu", width=width)
    assert Encoder.open(folder, device="cpu", width=(1.0, 1.0)).fingerprint


def test_a_width_between_trained_widths_opens_and_one_below_them_is_refused(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "mean", widths=(1.0, 0.5))
    between = Encoder.open(folder, device="cpu", width=0.75)
    assert isinstance(between.model, Mamba2)
    assert between.model.heads == (3, 3)
    with pytest.raises(ModelError, match=r"down to 0\.5, not at width 0\.25"):
        Encoder.open(folder, device="cpu", width=0.25)


def test_a_width_that_gives_no_whole_heads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"width 0\.3 does not divide this model's 4 heads"):
        Encoder.open(save_embedder(tmp_path / "model", "mean", widths=NESTED), device="cpu", width=0.3)
