"""Mamba2 agrees with its slow twin and with transformers, and in slices with itself in one pass."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from longsearch.engine.models.config import read_config
from longsearch.engine.models.mamba2 import Mamba2, Mamba2State
from longsearch.engine.models.weights import load_mamba2
from tests.engine.models.reference_mamba2 import slow_model
from tests.engine.slices import run_vertically
from tests.engine.tiny_models import random_tensors, save_checkpoint, state_spaces_config, tiny_config

Q, V = 8, 24
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "two groups": {"n_groups": 2},
    "two groups, one norm": {"n_groups": 2, "gated_norm_groups": 1},
    "one group, two norms": {"gated_norm_groups": 2},
    "eight groups, as the 7B": {"n_groups": 8, "num_heads": 16, "head_dim": 2},
    "eight groups, one norm": {"n_groups": 8, "num_heads": 16, "head_dim": 2, "gated_norm_groups": 1},
    "biases": {"use_bias": True},
    "no bias at all": {"use_conv_bias": False},
    "clamped steps": {"time_step_limit": [0.05, 0.2]},
    "no final norm": {"final_norm": False},
    "wide convolution": {"conv_kernel": 6},
    "another epsilon": {"layer_norm_epsilon": 0.1},
    "MLPs and post-norms": {"intermediate_size": 24, "hidden_act": "hardswish", "use_bias": True},
}


def load(folder: Path, dtype: torch.dtype = torch.float32) -> Mamba2:
    config, _ = read_config(folder / "config.json")
    model, _ = load_mamba2(folder, config, "cpu", dtype)
    return model


def random_tokens(length: int, seed: int = 5) -> Tensor:
    return torch.randint(0, 390, (length,), generator=torch.Generator().manual_seed(seed))


def vertical(model: Mamba2, tokens: Tensor, size: int) -> tuple[Tensor, Mamba2State]:
    parts = list(run_vertically(model, tokens.numpy().astype(np.int64), size, torch.device("cpu")))
    return torch.cat([hidden for hidden, _ in parts]), parts[-1][1]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Mamba2:
    config = tiny_config(n_groups=2)
    return load(save_checkpoint(tmp_path_factory.mktemp("tiny"), config, random_tensors(config)))


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
def test_the_model_agrees_with_its_slow_twin(changes: dict[str, Any], tmp_path: Path) -> None:
    config = tiny_config(**changes)
    tensors = random_tensors(config)
    tokens = random_tokens(3 * Q + 5)
    hidden = load(save_checkpoint(tmp_path, config, tensors))(tokens[None])[0]
    torch.testing.assert_close(hidden.double(), slow_model(tensors, config, tokens), atol=3e-5, rtol=1e-4)


@pytest.mark.parametrize("changes", [{"gated_norm_groups": 1}, {"time_step_limit": [0.05, 0.2]}, {"final_norm": False}])
def test_each_setting_changes_the_result(changes: dict[str, Any]) -> None:
    base = tiny_config(n_groups=2)
    tensors, tokens = random_tensors(base), random_tokens(20)
    before = slow_model(tensors, base, tokens)
    if changes.get("final_norm") is False:
        del tensors["norm_f.weight"]
    assert (slow_model(tensors, base | changes, tokens) - before).abs().max() > 0.01


@pytest.mark.parametrize("prefix", ["backbone.", "", "model."])
def test_hugging_face_layouts_are_read(prefix: str, tmp_path: Path) -> None:
    config = tiny_config(n_groups=2)
    tensors, tokens = random_tensors(config), random_tokens(20)
    folder = save_checkpoint(tmp_path, config, tensors | {"lm_head.weight": torch.ones(400, 16)}, prefix)
    torch.testing.assert_close(
        load(folder)(tokens[None])[0].double(), slow_model(tensors, config, tokens), atol=3e-5, rtol=1e-4
    )


@pytest.mark.parametrize("groups", [1, 2])
def test_the_state_spaces_layout_is_read(groups: int, tmp_path: Path) -> None:
    config = tiny_config(n_groups=groups)
    tensors, tokens = random_tensors(config), random_tokens(20)
    renamed = {name.replace("embeddings", "embedding"): tensor for name, tensor in tensors.items()}
    model = load(save_checkpoint(tmp_path, state_spaces_config(config), renamed))
    torch.testing.assert_close(
        model(tokens[None])[0].double(), slow_model(tensors, config, tokens), atol=3e-5, rtol=1e-4
    )


@pytest.mark.parametrize(
    "changes",
    [{"n_groups": 1}, {"n_groups": 2}, {"n_groups": 2, "use_bias": True}, VARIANTS["eight groups, as the 7B"]],
)
def test_a_model_saved_by_transformers_agrees_with_transformers(changes: dict[str, Any], tmp_path: Path) -> None:
    from transformers import Mamba2Config, Mamba2Model
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    config = tiny_config(**changes, time_step_limit=(0.0, float("inf")))
    theirs = Mamba2Model(Mamba2Config(**config)).eval()
    theirs.load_state_dict(random_tensors(config))
    theirs.save_pretrained(tmp_path)
    tokens = random_tokens(3 * Q + 5)[None]
    with torch.inference_mode():
        expected = theirs(tokens, use_cache=False).last_hidden_state
    torch.testing.assert_close(load(tmp_path)(tokens), expected, atol=3e-5, rtol=1e-4)


@pytest.mark.parametrize("length", [1, 3, 4, Q - 1, Q, Q + 1, 2 * Q, V, V + 1, 3 * V + 2])
@pytest.mark.parametrize("size", [Q, 2 * Q, V])
def test_slices_of_whole_blocks_agree_with_one_pass_within_2e_6(model: Mamba2, length: int, size: int) -> None:
    tokens = random_tokens(length)
    hidden, _ = vertical(model, tokens, size)
    torch.testing.assert_close(hidden, model(tokens[None])[0], atol=2e-6, rtol=2e-6)


@pytest.mark.parametrize("length", [1, 2, 3, 4, Q - 1, Q, Q + 1, 2 * Q, V, V + 1])
@pytest.mark.parametrize("size", [1, 2, 3, 5, Q - 1, Q + 1, 3 * Q - 2])
def test_slices_of_any_size_agree_with_one_pass(model: Mamba2, length: int, size: int) -> None:
    tokens = random_tokens(length)
    hidden, state = vertical(model, tokens, size)
    _, whole = model.step(tokens[None], model.initial_state())
    torch.testing.assert_close(hidden, model(tokens[None])[0], atol=1e-5, rtol=1e-5)
    for ours, theirs in zip((*state.conv, *state.ssm), (*whole.conv, *whole.ssm), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_rows_of_a_batch_do_not_influence_each_other(model: Mamba2) -> None:
    rows = torch.stack([random_tokens(20, seed) for seed in range(3)])
    torch.testing.assert_close(model(rows), torch.cat([model(row[None]) for row in rows]), atol=1e-5, rtol=1e-5)


def test_a_token_does_not_influence_earlier_tokens(model: Mamba2) -> None:
    tokens = random_tokens(30)
    changed = tokens.clone()
    changed[17] = (changed[17] + 1) % 390
    before, after = model(tokens[None])[0], model(changed[None])[0]
    torch.testing.assert_close(before[:17], after[:17], atol=1e-6, rtol=1e-6)
    assert (before[17:] - after[17:]).abs().amax(-1).min() > 0


def test_a_state_does_not_share_memory_with_its_slice(model: Mamba2) -> None:
    first, second = random_tokens(64, 1)[None], random_tokens(9, 2)[None]
    _, state = model.step(first, model.initial_state())
    kept = [tensor.clone() for tensor in (*state.conv, *state.ssm)]
    model.step(second, state)
    for before, after in zip(kept, (*state.conv, *state.ssm), strict=True):
        assert torch.equal(before, after)
    for tensor in (*state.conv, *state.ssm):
        assert (
            tensor.untyped_storage().nbytes() == tensor.nbytes
        )  # a view would keep the memory of the whole slice alive


def test_bfloat16_is_close_to_float32(tmp_path: Path) -> None:
    config = tiny_config(n_groups=2)
    folder = save_checkpoint(tmp_path, config, random_tensors(config))
    tokens = random_tokens(200)[None]
    exact, rounded = load(folder)(tokens)[0], load(folder, torch.bfloat16)(tokens)[0]
    assert rounded.dtype == torch.float32
    assert torch.cosine_similarity(exact, rounded).min() > 0.995


def test_decays_and_norms_stay_float32_in_a_bfloat16_model(tmp_path: Path) -> None:
    config = tiny_config()
    model = load(save_checkpoint(tmp_path, config, random_tensors(config)), torch.bfloat16)
    dtypes = {name.rpartition("layers.0.")[2]: p.dtype for name, p in model.named_parameters()}
    assert dtypes["mixer.A_log"] == dtypes["mixer.dt_bias"] == dtypes["norm.weight"] == torch.float32
    assert dtypes["mixer.in_proj.weight"] == dtypes["embeddings.weight"] == torch.bfloat16


def test_each_group_of_the_7b_has_a_norm_of_its_own(tmp_path: Path) -> None:
    config = tiny_config(n_groups=8, num_heads=16, head_dim=2)
    tensors, tokens = random_tensors(config), random_tokens(30)[None]
    grouped = load(save_checkpoint(tmp_path / "grouped", config, tensors))
    single = load(save_checkpoint(tmp_path / "single", config | {"gated_norm_groups": 1}, tensors))
    assert grouped.config.gated_norm_groups == 8
    assert (grouped(tokens) - single(tokens)).abs().max() > 0.01
