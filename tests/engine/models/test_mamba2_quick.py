"""Compares `QuickMamba2` with `Mamba2`: hidden states, states, slices, widths, bfloat16."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from longsearch.engine.models import mamba2_quick
from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.mamba2_quick import QuickMamba2, can_be_quick

CONFIG = Mamba2Config(24, 3, 50, d_state=8, head_dim=6, n_heads=8, gated_norm_groups=1, block_size=8)


def both(config: Mamba2Config = CONFIG, heads: tuple[int, ...] | None = None) -> tuple[Mamba2, QuickMamba2]:
    torch.manual_seed(0)
    model = Mamba2(config, heads).requires_grad_(False)
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, 1.0 if name.endswith("norm.weight") else 0.0, 0.3)
    return model, QuickMamba2.of(model)


def tokens(batch: int, length: int) -> torch.Tensor:
    return torch.randint(50, (batch, length), generator=torch.Generator().manual_seed(length))


def check(slow, quick, atol=1e-5):
    torch.testing.assert_close(quick[0], slow[0], atol=atol, rtol=1e-4)
    for name, tensor in slow[1].tensors().items():
        torch.testing.assert_close(quick[1].tensors()[name], tensor, atol=atol, rtol=1e-4)


POST_NORM = replace(CONFIG, d_mlp=40, use_bias=True)


@pytest.mark.parametrize("config", [CONFIG, POST_NORM], ids=["mixers only", "MLPs and post-norms"])
@pytest.mark.parametrize(("batch", "length"), [(1, 64), (1, 61), (3, 24), (2, 5), (1, 1)])
def test_hidden_states_and_states_equal_those_of_the_slow_twin(batch, length, config):
    plain, quick = both(config)
    ids, state = tokens(batch, length), plain.initial_state(batch)
    with torch.inference_mode():
        _, state = plain.step(tokens(batch, 13), state)  # a state that is not empty
        check(plain.step(ids, state), quick.step(ids, state))


def test_a_step_does_not_change_the_state_passed_in():
    _, quick = both()
    with torch.inference_mode():
        _, state = quick.step(tokens(1, 20), quick.initial_state())
        before = {name: tensor.clone() for name, tensor in state.tensors().items()}
        quick.step(tokens(1, 30), state)
    assert all(torch.equal(before[name], tensor) for name, tensor in state.tensors().items())


@pytest.mark.parametrize("config", [CONFIG, POST_NORM], ids=["mixers only", "MLPs and post-norms"])
def test_each_layer_can_have_a_width_of_its_own(config):
    plain, quick = both(config, heads=(8, 2, 4))
    with torch.inference_mode():
        check(plain.step(tokens(1, 40), plain.initial_state()), quick.step(tokens(1, 40), quick.initial_state()))


def test_decays_beyond_float32_run_the_exact_scan():
    plain, quick = both()
    for model in (plain, quick):
        model.layers[1].mixer.A_log.fill_(3.0)
        model.layers[1].mixer.dt_bias.fill_(2.0)
    with torch.inference_mode():
        hidden, state = quick.step(tokens(2, 40), quick.initial_state(2))
        assert hidden.isfinite().all()
        check(plain.step(tokens(2, 40), plain.initial_state(2)), (hidden, state))


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("config", [CONFIG, POST_NORM], ids=["mixers only", "MLPs and post-norms"])
def test_the_bfloat16_error_is_no_larger_than_that_of_the_slow_twin(config, fused, monkeypatch):
    if fused and not mamba2_quick._FUSED:
        pytest.skip("oneDNN has no products in bfloat16 on this processor")
    monkeypatch.setattr(mamba2_quick, "_FUSED", fused)
    plain, _ = both(config)
    exact = plain(tokens(1, 64))
    low = Mamba2(config).requires_grad_(False)
    low.load_state_dict(plain.state_dict())
    for module in low.layers.modules():
        if isinstance(module, torch.nn.Linear | torch.nn.Conv1d):
            module.bfloat16()
    with torch.inference_mode():
        errors = [float((model(tokens(1, 64)) - exact).abs().mean()) for model in (low, QuickMamba2.of(low))]
    assert 0 < errors[1] < 1.5 * errors[0]


def test_gradients_and_probes_run_the_slow_twin():
    plain, quick = both()
    embedded = plain.embeddings(tokens(1, 9)).requires_grad_()
    hidden, _ = quick.step_embedded(embedded, quick.initial_state())
    hidden.sum().backward()
    assert embedded.grad is not None
    mask = torch.zeros(1, 9, dtype=torch.bool).index_fill(1, torch.tensor([4, 8]), True).numpy()
    with torch.inference_mode():
        check(
            plain.step_probed(tokens(1, 9), mask, plain.initial_state()),
            quick.step_probed(tokens(1, 9), mask, quick.initial_state()),
        )


def test_models_with_several_groups_cannot_be_quick():
    assert can_be_quick(CONFIG)
    assert not can_be_quick(Mamba2Config(24, 1, 50, head_dim=6, n_heads=8, n_groups=2))


def in_int8() -> QuickMamba2:
    return QuickMamba2.of(both(POST_NORM)[0], int8=True)


@pytest.mark.parametrize("batch", [1, 3])
def test_an_mlp_in_int8_gives_the_same_in_blocks_and_at_once(batch, monkeypatch):
    quick = in_int8()
    with torch.inference_mode():
        at_once = quick.step(tokens(batch, 40), quick.initial_state(batch))
        monkeypatch.setattr(mamba2_quick, "_MLP_TOKENS", 7)
        in_blocks = quick.step(tokens(batch, 40), quick.initial_state(batch))
    assert torch.equal(at_once[0], in_blocks[0])
    assert all(torch.equal(tensor, in_blocks[1].tensors()[name]) for name, tensor in at_once[1].tensors().items())


@pytest.mark.parametrize("config", [CONFIG, POST_NORM], ids=["mixers only", "MLPs and post-norms"])
def test_the_first_product_is_made_once_for_each_distinct_token_of_a_slice(config):
    _, quick = both(config)
    ids, shapes = tokens(3, 40), []
    for layer in quick.layers:
        layer.mixer.in_proj.register_forward_pre_hook(lambda _, given: shapes.append(tuple(given[0].shape[:-1])))
    with torch.inference_mode():
        once = quick.step(ids, quick.initial_state(3))
        assert shapes == [(len(ids.unique()),), (3, 40), (3, 40)]
        check(quick.step_embedded(quick.embeddings(ids), quick.initial_state(3)), once)
    assert shapes[3:] == [(3, 40)] * 3


def test_in_int8_distinct_tokens_and_all_tokens_give_the_same_to_the_bit():
    quick, ids = in_int8(), tokens(3, 40)
    with torch.inference_mode():
        once = quick.step(ids, quick.initial_state(3))
        each = quick.step_embedded(quick.embeddings(ids), quick.initial_state(3))
    assert torch.equal(once[0], each[0])
    assert all(torch.equal(tensor, each[1].tensors()[name]) for name, tensor in once[1].tensors().items())


class Passes(TorchDispatchMode):
    """Counts the operations that write numbers of the MLPs' inner width, by their names."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.shape[-1:] == (POST_NORM.d_mlp,) and not func.is_view:
            self.counts[func.overloadpacket.__name__] += 1
        return result


def test_an_mlp_in_int8_passes_seven_times_over_its_inner_activations():
    """Of the bundled model each pass reads and writes 1.2 GB for a hundred pages."""
    quick, ids = in_int8(), tokens(1, 33)
    with torch.no_grad(), Passes() as passes:
        quick.step(ids, quick.initial_state())
    n = POST_NORM.n_layers
    wanted = {"qlinear_pointwise": n, "addcmul": n, "addr_": n, "hardswish_": n, "sub": n, "mul_": n, "_to_copy": n}
    assert passes.counts == wanted


class Numbers(TorchDispatchMode):
    """Counts the numbers that all operations write, those of a view apart."""

    def __init__(self):
        super().__init__()
        self.written = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not func.is_view:
            self.written += result.numel()
        return result


def test_a_step_in_int8_writes_few_numbers_a_token():
    """Two fifths of a reading are no product, but writing and reading numbers. Half of these tokens are distinct."""
    config = replace(POST_NORM, block_size=16)
    quick, ids = QuickMamba2.of(both(config)[0], int8=True), torch.arange(64)[None] % 32
    state = quick.initial_state()
    with torch.no_grad(), Numbers() as numbers:
        quick.step(ids, state)
    assert numbers.written <= 64 * 6_150
