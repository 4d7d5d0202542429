"""A checkpoint that cannot be loaded raises an error that says why. Pickles are never opened."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.config import read_config
from longsearch.engine.models.hub_download import INDEX
from longsearch.engine.models.weights import load_mamba2
from tests.engine.tiny_models import random_tensors, save_checkpoint, save_embedder, state_spaces_config, tiny_config


def open_error(folder: Path) -> ModelError:
    with pytest.raises(ModelError) as caught:
        Encoder.open(folder, device="cpu", dtype="float32")
    assert caught.value.message
    assert str(folder) in caught.value.message or caught.value.hint
    return caught.value


def rewrite_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_embedder(tmp_path / "model", "mean")


def rewrite_weights(folder: Path, **changes: torch.Tensor | None) -> None:
    """Replace tensors; __ stands for the dots of their names, and None removes a tensor."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    tensors: dict[str, Any] = random_tensors(config)
    tensors["readout.projection.weight"] = torch.ones(12, 16)
    tensors["readout.token_log_weight"] = torch.zeros(config["vocab_size"])
    tensors |= {name.replace("__", "."): tensor for name, tensor in changes.items()}
    save_checkpoint(folder, config, {name: tensor for name, tensor in tensors.items() if tensor is not None})


def test_a_complete_checkpoint_opens(folder: Path) -> None:
    rewrite_weights(folder)
    assert Encoder.open(folder, device="cpu", dtype="float32").dim == 12


def test_the_error_for_a_missing_folder_names_it(tmp_path: Path) -> None:
    error = open_error(tmp_path / "nowhere")
    assert "nowhere" in error.message
    assert "config.json" in error.hint


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "\ud800", '{"model_type": "mamba2"}', "[" * 100])
def test_a_damaged_config_is_refused(folder: Path, content: str) -> None:
    (folder / "config.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    open_error(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_size": "wide"},
        {"hidden_size": -16},
        {"hidden_size": None},
        {"head_dim": 0, "num_heads": 0},
        {"num_heads": 3, "n_groups": 2},
        {"n_groups": 0},
        {"gated_norm_groups": 5},
        {"chunk_size": 0},
        {"intermediate_size": 24, "hidden_act": "gelu"},
        {"num_hidden_layers": 2**40},
        {"time_step_limit": 3},
        {"time_step_limit": [0.0, {"__float__": "large"}]},
        {"time_step_limit": [0.0, {}]},
        {"longsearch": []},
        {"longsearch": {"readout": "oracle"}},
        {"longsearch": {"readout": "mean", "widths": 1}},
        {"longsearch": {"readout": "mean", "widths": []}},
        {"longsearch": {"readout": "mean", "widths": [1.0, 0.0]}},
        {"longsearch": {"readout": "mean", "widths": [1.0, 2.0]}},
        {"longsearch": {"readout": "mean", "widths": ["half"]}},
        {"longsearch": {"readout": "mean", "excerpt_weight": 1.5}},
        {"longsearch": {"readout": "mean", "excerpt_weight": "half"}},
        {"ssm_cfg": None},
        {"ssm_cfg": {"layer": "Mamba1"}},
        {"ssm_cfg": {"layer": "Mamba2", "headdim": 0}, "d_model": 16, "n_layer": 2},
        {"n_layer": 2, "d_model": 16, "ssm_cfg": {"layer": "Mamba2"}, "attn_layer_idx": [1]},
    ],
)
def test_a_config_with_impossible_values_is_refused(folder: Path, changes: dict[str, Any]) -> None:
    rewrite_config(folder, **changes)
    with pytest.raises(ModelError):
        read_config(folder / "config.json")


@pytest.mark.parametrize("family", ["llama", "mamba", None])
def test_the_error_for_another_family_names_it(folder: Path, family: str | None) -> None:
    rewrite_config(folder, model_type=family)
    error = open_error(folder)
    assert repr(family) in error.message
    assert "Mamba2" in error.hint


def test_an_infinite_time_step_limit_is_read_as_transformers_writes_it(tmp_path: Path) -> None:
    config = tiny_config(time_step_limit=[0.0, {"__float__": "Infinity"}])
    ours, _ = read_config(save_checkpoint(tmp_path, config, random_tensors(config)) / "config.json")
    assert (ours.dt_min, ours.dt_max) == (0.0, float("inf"))


def test_settings_of_the_state_spaces_layout_are_read(tmp_path: Path) -> None:
    raw = state_spaces_config(tiny_config(use_bias=True))
    raw["ssm_cfg"] |= {"d_conv": 3, "conv_bias": False, "dt_limit": [0.1, 0.2]}
    del raw["pad_vocab_size_multiple"]
    config, readout = read_config(save_checkpoint(tmp_path, raw, random_tensors(tiny_config())) / "config.json")
    assert (config.d_conv, config.use_bias, config.use_conv_bias) == (3, True, False)
    assert (config.dt_min, config.dt_max, config.vocab_size) == (0.1, 0.2, 400)
    assert readout.readout == "eos"


def test_the_error_for_a_missing_tensor_names_it(folder: Path) -> None:
    rewrite_weights(folder, layers__1__mixer__D=None)
    assert "layers.1.mixer.D" in open_error(folder).message


def test_the_error_for_an_unknown_tensor_names_it(folder: Path) -> None:
    rewrite_weights(folder, layers__9__mixer__D=torch.ones(4))
    assert "layers.9.mixer.D" in open_error(folder).message


def test_the_error_for_a_tensor_of_another_shape_names_it(folder: Path) -> None:
    rewrite_weights(folder, layers__1__mixer__D=torch.ones(5))
    error = open_error(folder)
    assert "layers.1.mixer.D is (5,), not (4,)" in error.message


@pytest.mark.parametrize(
    "changes",
    [
        {"readout__projection__weight": None},
        {"readout__token_log_weight": None},
        {"readout__projection__weight": torch.ones(12, 15)},
        {"readout__projection__weight": torch.ones(12)},
        {"readout__token_log_weight": torch.ones(7)},
    ],
)
def test_a_readout_with_wrong_tensors_is_refused(folder: Path, changes: dict[str, torch.Tensor | None]) -> None:
    rewrite_weights(folder, **changes)
    assert "readout" in open_error(folder).message


def test_vectors_that_are_not_as_long_as_the_config_says_are_refused(folder: Path) -> None:
    rewrite_config(folder, longsearch={"readout": "mean", "dim": 99})
    assert "99" in open_error(folder).message


@pytest.mark.parametrize("kept", [0, 7, 100, -1])
def test_truncated_weights_are_refused(folder: Path, kept: int) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:kept])
    error = open_error(folder)
    assert "model.safetensors" in error.message
    assert "damaged" in error.hint


class _Trap:
    def __init__(self, sprung: Path) -> None:
        self.sprung = sprung

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.sprung,)


def test_a_pickle_is_never_opened(folder: Path, tmp_path: Path) -> None:
    trap = pickle.dumps(_Trap(tmp_path / "sprung"))
    for name in ("pytorch_model.bin", "model.pt", "model.pkl"):
        (folder / name).write_bytes(trap)
    Encoder.open(folder, device="cpu", dtype="float32")
    (folder / "model.safetensors").unlink()
    error = open_error(folder)
    assert "safetensors" in error.hint
    assert not (tmp_path / "sprung").exists()
    pickle.loads(trap)
    assert (tmp_path / "sprung").exists()  # the trap works


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    rewrite_config(folder, vocab_size=config["vocab_size"] - 1)
    assert "tokenizer" in open_error(folder).message


@pytest.mark.parametrize("content", ["", "{}", "[1]", "null"])
def test_a_damaged_tokenizer_is_refused(folder: Path, content: str) -> None:
    (folder / "tokenizer.json").write_text(content, "utf-8")
    assert "tokenizer" in open_error(folder).message


def test_a_folder_without_a_tokenizer_is_refused(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    assert "tokenizer" in open_error(folder).message


@pytest.mark.parametrize("content", ["{", "[]", '{"eos_token": 5}', '{"eos_token": [1]}'])
def test_a_damaged_tokenizer_config_is_refused(folder: Path, content: str) -> None:
    (folder / "tokenizer_config.json").write_text(content, "utf-8")
    assert "tokenizer_config.json" in open_error(folder).message


@pytest.mark.parametrize("content", [None, "{}", '{"eos_token": null}', '{"eos_token": "<unheard of>"}'])
def test_the_eos_readout_needs_an_end_of_sequence_token(tmp_path: Path, content: str | None) -> None:
    folder = save_embedder(tmp_path / "model", "eos")
    if content is None:
        (folder / "tokenizer_config.json").unlink()
    else:
        (folder / "tokenizer_config.json").write_text(content, "utf-8")
    assert "end-of-sequence" in open_error(folder).message


@pytest.mark.parametrize("sizes", [{"vertical_size": -1}, {"block_size": -64}])
def test_sizes_below_one_token_are_refused(folder: Path, sizes: dict[str, int]) -> None:
    with pytest.raises(ModelError, match="1 token"):
        Encoder.open(folder, device="cpu", dtype="float32", **sizes)


def test_weights_in_several_files_load_as_one_model(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    (folder / "model.safetensors").unlink()
    for part, some in enumerate((names[::2], names[1::2])):
        save_file({name: tensors[name] for name in some}, folder / f"model-{part}.safetensors")
    config, _ = read_config(folder / "config.json")
    model, readout = load_mamba2(folder, config, "cpu", torch.float32)
    assert set(readout) == {"projection.weight", "token_log_weight"}
    name = "layers.1.mixer.in_proj.weight"
    assert torch.equal(model.state_dict()[name], tensors[f"backbone.{name}"])


@pytest.mark.parametrize("content", ["", "[]", '{"weight_map": 3}', '{"weight_map": {"a": "../../evil.safetensors"}}'])
def test_a_damaged_index_is_refused(content: str, tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "eos")
    (folder / INDEX).write_text(content, "utf-8")
    with pytest.raises(ModelError, match=r"index\.json"):
        Encoder.open(folder, device="cpu")
