"""A slice of a model equals the standalone small model, forward and backward, at every width."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.matmamba import NestedMamba2, at_width, slice_parameters
from longsearch.engine.models.without_torch.heads import heads_of
from tests.engine.training.training_helpers import write_checkpoint

CONFIG = Mamba2Config(24, 3, 50, d_state=8, head_dim=6, n_heads=8, gated_norm_groups=1, block_size=8, use_bias=True)
POST_NORM = replace(CONFIG, d_mlp=40)
WIDTHS = [1.0, 0.5, 0.25, 0.125]


def random_model(config: Mamba2Config = CONFIG) -> Mamba2:
    torch.manual_seed(0)
    model = Mamba2(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def copied_by_hand(full: Mamba2, heads: int) -> Mamba2:
    """Copy the weights of the small model by lists of indices, row by row."""
    c = full.config
    mlp = None if c.d_mlp is None else c.d_mlp * heads // c.n_heads
    small = Mamba2(replace(c, n_heads=heads, d_mlp=mlp))
    k, d, bc = heads * c.head_dim, c.d_inner, 2 * c.d_state
    rows = [*range(k), *range(d, d + k), *range(2 * d, 2 * d + bc), *range(2 * d + bc, 2 * d + bc + heads)]
    channels = [*range(k), *range(d, d + bc)]
    picks = {
        "in_proj.weight": rows, "in_proj.bias": rows, "conv1d.weight": channels, "conv1d.bias": channels,
        "dt_bias": range(heads), "A_log": range(heads), "D": range(heads), "mixer.norm.weight": range(k),
        "mlp.up.weight": range(mlp or 0), "mlp.up.bias": range(mlp or 0),
    }  # fmt: skip
    state = {}
    for name, tensor in full.state_dict().items():
        for suffix, index in picks.items():
            if name.endswith(suffix):
                tensor = tensor[list(index)]
        if name.endswith("mlp.down.weight"):
            tensor = tensor[:, :mlp]
        state[name] = tensor[:, :k] if name.endswith("out_proj.weight") else tensor
    small.load_state_dict(state)
    return small


@pytest.mark.parametrize("config", [CONFIG, POST_NORM], ids=["mixers alone", "MLPs and post-norms"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_slice_equals_the_standalone_small_model(width, config):
    full, tokens = random_model(config), torch.randint(50, (2, 37))
    expected = copied_by_hand(full, round(8 * width))(tokens)
    assert torch.equal(at_width(full, width)(tokens), expected)
    hidden, _ = NestedMamba2(full).step(full.embeddings(tokens), None, width)
    assert torch.equal(hidden, expected)


@pytest.mark.parametrize("width", WIDTHS[1:])
def test_gradients_of_a_slice_reach_only_its_part_of_the_full_weights(width):
    full, tokens = random_model(POST_NORM), torch.randint(50, (2, 21))
    small = copied_by_hand(full, round(8 * width))
    small(tokens).square().mean().backward()
    hidden, _ = NestedMamba2(full).step(full.embeddings(tokens), None, width)
    hidden.square().mean().backward()
    k = round(8 * width) * CONFIG.head_dim
    mixer, small_mixer = full.layers[1].mixer, small.layers[1].mixer
    torch.testing.assert_close(mixer.out_proj.weight.grad[:, :k], small_mixer.out_proj.weight.grad)
    torch.testing.assert_close(mixer.in_proj.weight.grad[:k], small_mixer.in_proj.weight.grad[:k])
    up, small_up = full.layers[1].mlp.up.weight.grad, small.layers[1].mlp.up.weight.grad
    torch.testing.assert_close(up[: len(small_up)], small_up)
    assert not up[len(small_up) :].any()
    assert not mixer.out_proj.weight.grad[:, k:].any()
    assert not mixer.A_log.grad[round(8 * width) :].any()


def test_each_layer_may_have_its_own_width_and_continue_from_a_state():
    full, tokens = random_model(), torch.randint(50, (2, 32))
    mixed = at_width(full, [1.0, 0.25, 0.5])
    assert mixed.heads == (8, 2, 4)
    first, state = mixed.step(tokens[:, :16], mixed.initial_state(2))
    second, _ = mixed.step(tokens[:, 16:], state)
    torch.testing.assert_close(torch.cat((first, second), 1), mixed(tokens))
    nested, _ = NestedMamba2(full).step(full.embeddings(tokens), None, [1.0, 0.25, 0.5])
    torch.testing.assert_close(nested, mixed(tokens))


def test_full_width_is_the_model_itself():
    full = random_model()
    parameters = dict(full.named_parameters())
    assert slice_parameters(parameters, CONFIG, heads_of(CONFIG, 1)) == parameters


def test_bfloat16_products_stay_near_float32_and_leave_the_weights_float32():
    full, tokens = random_model(), torch.randint(50, (2, 16))
    exact, _ = NestedMamba2(full).step(full.embeddings(tokens), None, 0.5)
    rounded, _ = NestedMamba2(full, torch.bfloat16).step(full.embeddings(tokens), None, 0.5)
    assert torch.nn.functional.cosine_similarity(exact, rounded, dim=-1).min() > 0.99
    rounded.sum().backward()
    assert full.layers[0].mixer.in_proj.weight.grad.dtype == torch.float32


def test_invalid_widths_are_refused():
    for width in (0, 1.5, [1.0, 0.5]):
        with pytest.raises(ModelError, match="do not fit"):
            heads_of(CONFIG, width)
    with pytest.raises(ModelError, match="part of its width"):
        heads_of(replace(CONFIG, n_groups=2), 0.5)


def test_a_width_that_gives_no_whole_heads_is_refused_and_the_nearest_widths_are_named():
    for width, nearest in (
        (0.3, "use 0.25 (2 of 8 heads) or 0.375 (3 of 8 heads)"),
        (0.01, "use 0.125 (1 of 8 heads)"),
        ([1.0, 0.99, 0.5], "use 0.875 (7 of 8 heads) or 1 (8 of 8 heads)"),
    ):
        with pytest.raises(ModelError, match="does not divide this model's 8 heads evenly") as caught:
            heads_of(CONFIG, width)
        assert caught.value.hint == nearest
    assert heads_of(replace(CONFIG, n_heads=3), 0.333) == (1, 1, 1)


def test_a_width_that_gives_no_whole_mlp_channels_is_refused():
    config = replace(CONFIG, d_mlp=12)  # 1.5 channels a head
    assert heads_of(config, [0.25, 0.5, 0.75]) == (2, 4, 6)
    with pytest.raises(ModelError, match="8 heads and 12 MLP channels") as caught:
        heads_of(config, 0.375)
    assert caught.value.hint == "use 0.25 (2 of 8 heads) or 0.5 (4 of 8 heads)"


def test_the_encoder_opens_a_width_with_the_same_fingerprint_and_vector_space(tmp_path):
    folder = write_checkpoint(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config["longsearch"]["widths"] = [1.0, 0.5]
    (folder / "config.json").write_text(json.dumps(config))
    full, half = (Encoder.open(folder, device="cpu", dtype="float32", width=w) for w in (1.0, 0.5))
    assert full.fingerprint == half.fingerprint
    assert half.model.heads == (4, 4)
    text = "w1 w2 w3 w4 w5"
    assert np.allclose(full.encode_query(text), half.encode_query(text), atol=1e-5)  # out_proj is still zero
