"""Products in int8 come near those in float32, do not saturate, and depend on each token alone."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.models.ops import int8
from longsearch.engine.models.ops.int8 import Int8Linear


def layer(inputs: int, outputs: int, bias: bool = True, seed: int = 0) -> nn.Linear:
    torch.manual_seed(seed)
    return nn.Linear(inputs, outputs, bias).requires_grad_(False)


def integer_twin(linear: nn.Linear, x: Tensor, largest: int) -> Tensor:
    """The same equations in float64, where integers are exact."""
    weight = linear.weight.double()
    scale = weight.abs().amax(1) / 127
    least = x.double().amin(-1, keepdim=True)
    step = (x.double().amax(-1, keepdim=True) - least) / largest
    q = ((x - least) / step + 0.5).floor()
    rounded = (weight / scale[:, None]).round()
    y = step * (q @ rounded.T) * scale + least * (rounded.sum(1) * scale)
    return y if linear.bias is None else y + linear.bias


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1, 1, 48), (2, 7, 48), (1, 300, 48)])
def test_the_product_equals_its_equations(shape: tuple[int, ...], bias: bool) -> None:
    linear, x = layer(48, 40, bias), torch.randn(shape, generator=torch.Generator().manual_seed(1))
    exact = integer_twin(linear, x, int8.largest_activation())
    torch.testing.assert_close(Int8Linear.of(linear)(x).double(), exact, rtol=0, atol=2e-2)  # some q round otherwise
    assert (Int8Linear.of(linear)(x) - exact).abs().mean() < 1e-4


def test_the_product_is_near_that_in_float32() -> None:
    linear, x = layer(384, 200), torch.randn(64, 384, generator=torch.Generator().manual_seed(1))
    exact = linear(x)
    assert (Int8Linear.of(linear)(x) - exact).norm() / exact.norm() < 0.02


def test_the_largest_sums_do_not_saturate() -> None:
    """Two products of 255 and 127 do not fit in 16 bits, which AVX2 without VNNI adds them in."""
    linear = layer(64, 8, bias=False)
    linear.weight.copy_(torch.full((8, 64), 0.5))
    x = torch.full((4, 64), 3.0)
    x[:, 0] = -1.0
    torch.testing.assert_close(Int8Linear.of(linear)(x), linear(x), rtol=1e-5, atol=1e-4)


def test_a_token_has_the_same_product_alone_and_among_others() -> None:
    made, x = Int8Linear.of(layer(48, 40)), torch.randn(50, 48, generator=torch.Generator().manual_seed(1))
    x[7] *= 1000
    alone = torch.cat([made(row[None]) for row in x])
    assert torch.equal(alone, made(x))


def test_a_token_whose_activations_are_equal_is_read_exactly() -> None:
    linear = layer(48, 40)
    made = Int8Linear.of(linear)
    torch.testing.assert_close(made(torch.zeros(1, 48)), linear.bias[None])
    assert made(torch.full((1, 48), 2.5)).isfinite().all()


def test_hardswish_follows_the_product() -> None:
    made, x = Int8Linear.of(layer(48, 40)), torch.randn(5, 48, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(made.activated(x, "hardswish"), F.hardswish(made(x)))


def test_it_has_the_weights_of_the_float32_layer_and_no_others() -> None:
    linear = layer(48, 40)
    made = Int8Linear.of(linear)
    assert made.state_dict().keys() == linear.state_dict().keys()
    assert made.weight.data_ptr() == linear.weight.data_ptr()


def test_the_product_after_hardswish_equals_its_equations_with_one_least_value() -> None:
    linear, x = layer(48, 40), torch.randn(300, 48, generator=torch.Generator().manual_seed(1))
    rows = F.hardswish(3 * x)
    rows[:, 0] = -0.375  # what hardswish gives at -1.5: with it in every token the two ways have the same l
    exact, made = integer_twin(linear, rows, int8.largest_activation()), Int8Linear.of(linear)
    fast = made.after_hardswish(rows.clone())
    torch.testing.assert_close(fast.double(), exact, rtol=0, atol=2e-2)  # some q round otherwise
    torch.testing.assert_close(fast, made(rows), rtol=0, atol=2e-2)
    assert (fast - exact).abs().mean() < 1e-4


def test_tokens_that_never_reach_the_least_value_of_hardswish_are_multiplied_well_too() -> None:
    linear = layer(48, 40)
    rows = F.hardswish(torch.rand(64, 48, generator=torch.Generator().manual_seed(1)) * 4)
    exact = linear(rows)
    assert (Int8Linear.of(linear).after_hardswish(rows) - exact).norm() / exact.norm() < 0.02
    assert Int8Linear.of(linear).after_hardswish(torch.full((1, 48), -0.375)).isfinite().all()


def test_a_layer_without_a_bias_may_follow_hardswish() -> None:
    made = Int8Linear.of(layer(48, 40, bias=False))
    rows = F.hardswish(torch.randn(5, 48, generator=torch.Generator().manual_seed(1)))
    rows[:, 0] = -0.375
    torch.testing.assert_close(made.after_hardswish(rows.clone()), made(rows), rtol=0, atol=2e-2)
