"""Each Triton kernel gives the results of its twin in float64, on a GPU or in Triton's interpreter."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.models import mamba2
from longsearch.engine.models.config import read_config
from longsearch.engine.models.ops import kernels, norm, ssd_triton
from longsearch.engine.models.ops.conv import convolve_causal_conv1d, convolve_torch, convolve_triton
from longsearch.engine.models.ops.norm import gated_norm_torch, gated_norm_triton
from longsearch.engine.models.ops.ssd import ssd_scan
from longsearch.engine.models.ops.ssd_triton import ssd_scan_triton
from longsearch.engine.models.weights import load_mamba2
from tests.engine.tiny_models import random_tensors, save_checkpoint, tiny_config
from tests.gpu.interpreting import INTERPRETED

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::UserWarning:triton")]
Q = 16
HEADS, HEAD_DIM, D_STATE = 8, 16, 16
needs_mamba_ssm = pytest.mark.usefixtures("mamba_ssm")


def random_inputs(
    device: torch.device, dtype: torch.dtype, length: int, groups: int = 1, batch: int = 1
) -> tuple[Tensor, ...]:
    """Return x, dt, A, B, C and a state. The decays range from "never forgets" to "forgets at once"."""
    make = torch.Generator().manual_seed(length)
    x = torch.randn(batch, length, HEADS, HEAD_DIM, generator=make)
    dt = torch.rand(batch, length, HEADS, generator=make)
    A = -torch.logspace(-3, 1, HEADS)
    B, C = (torch.randn(batch, length, groups, D_STATE, generator=make) for _ in range(2))
    state = torch.randn(batch, HEADS, HEAD_DIM, D_STATE, generator=make)
    return (
        *(t.to(device, dtype) for t in (x,)),
        dt.to(device),
        A.to(device),
        *(t.to(device, dtype) for t in (B, C)),
        state.to(device),
    )


def assert_close(found: Tensor, expected: Tensor, dtype: torch.dtype) -> None:
    """Compare relative to the norm: on a GPU Triton multiplies float32 in TensorFloat-32 (5e-4)."""
    found, expected = found.double(), expected.double()
    difference = float((found - expected).norm() / expected.norm())
    assert difference < (0.01 if dtype == torch.bfloat16 else 1e-5 if INTERPRETED else 2e-3)


def exact(inputs: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """Return the scan of the same numbers, token by token, in float64."""
    x, dt, A, B, C, state = (t.double() for t in inputs)
    B, C = (t.repeat_interleave(HEADS // t.shape[2], 2) for t in (B, C))  # (batch, length, heads, d_state)
    ys = []
    for t in range(x.shape[1]):
        added = (dt[:, t, :, None] * x[:, t])[..., None] * B[:, t, :, None]  # (batch, heads, head_dim, d_state)
        state = (dt[:, t] * A).exp()[..., None, None] * state + added
        ys.append((state * C[:, t, :, None]).sum(-1))
    return torch.stack(ys, 1), state


@needs_mamba_ssm
@pytest.mark.parametrize("groups", [1, 8])
@pytest.mark.parametrize("length", [1, Q, 2 * Q + 5])
def test_the_triton_scan_equals_the_torch_scan(
    device: torch.device, dtype: torch.dtype, length: int, groups: int
) -> None:
    inputs = random_inputs(device, dtype, length, groups, batch=2)
    y, state = ssd_scan_triton(*inputs, Q)
    expected_y, expected_state = exact(inputs)
    assert (y.dtype, state.dtype) == (dtype, torch.float32)
    assert_close(y, expected_y, dtype)
    assert_close(state, expected_state, dtype)


@needs_mamba_ssm
def test_a_scan_in_slices_equals_one_scan(device: torch.device, dtype: torch.dtype) -> None:
    x, dt, A, B, C, state = random_inputs(device, dtype, 3 * Q + 5)
    whole, whole_state = ssd_scan_triton(x, dt, A, B, C, state, Q)
    parts = []
    for part in (slice(0, 2 * Q), slice(2 * Q, None)):
        y, state = ssd_scan_triton(x[:, part], dt[:, part], A, B[:, part], C[:, part], state, Q)
        parts.append(y)
    assert_close(torch.cat(parts, 1), whole, dtype)
    assert_close(state, whole_state, dtype)


@needs_mamba_ssm
@pytest.mark.parametrize(("limit", "value"), [("MAX_ELEMENTS", 2 * Q * HEADS * HEAD_DIM), ("MAX_PROGRAMS", 4)])
def test_a_scan_too_large_for_one_launch_is_split_into_several(
    device: torch.device, dtype: torch.dtype, limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = random_inputs(device, dtype, 2 * Q + 5, groups=2, batch=2)
    launches = []
    launch = ssd_triton._launch
    monkeypatch.setattr(ssd_triton, "_launch", lambda *some: launches.append(some[0].shape) or launch(*some))
    monkeypatch.setattr(ssd_triton, limit, value)
    y, state = ssd_scan_triton(*inputs, Q)
    assert len(launches) == 4
    expected_y, expected_state = exact(inputs)
    assert_close(y, expected_y, dtype)
    assert_close(state, expected_state, dtype)


@needs_mamba_ssm
def test_inputs_may_be_views_of_a_wider_tensor(device: torch.device, dtype: torch.dtype) -> None:
    """In the model, x, B and C are views of the output of the convolution."""
    x, dt, A, B, C, state = random_inputs(device, dtype, Q + 3, groups=2)
    wide = torch.cat((x.flatten(2), B.flatten(2), C.flatten(2)), -1)
    views = wide.split((HEADS * HEAD_DIM, 2 * D_STATE, 2 * D_STATE), -1)
    x_view, B_view, C_view = (view.unflatten(-1, t.shape[2:]) for view, t in zip(views, (x, B, C), strict=True))
    y, final = ssd_scan_triton(x_view, dt, A, B_view, C_view, state, Q)
    expected_y, expected_final = exact((x, dt, A, B, C, state))
    assert_close(y, expected_y, dtype)
    assert_close(final, expected_final, dtype)


@pytest.mark.parametrize("convolve", [convolve_triton, convolve_causal_conv1d])
@pytest.mark.parametrize(("length", "channels"), [(1, 8), (2, 200), (70, 136)])
@pytest.mark.parametrize("biased", [True, False])
def test_each_convolution_equals_the_torch_convolution(
    device: torch.device, dtype: torch.dtype, convolve: Callable[..., Tensor], length: int, channels: int, biased: bool
) -> None:
    if convolve is convolve_causal_conv1d:
        pytest.importorskip("causal_conv1d")
    make = torch.Generator().manual_seed(length)
    extended, weight, bias = (
        torch.randn(*shape, generator=make).to(device, dtype)
        for shape in ((2, length + 3, channels), (channels, 1, 4), (channels,))
    )
    found = convolve(extended, weight, bias if biased else None)
    assert found.dtype == dtype
    with torch.backends.cudnn.flags(enabled=False):
        expected = convolve_torch(extended.double(), weight.double(), bias.double() if biased else None)
    assert_close(found, expected, dtype)


@needs_mamba_ssm
@pytest.mark.parametrize("groups", [1, 8])
@pytest.mark.parametrize("max_elements", [ssd_triton.MAX_ELEMENTS, 1000])
def test_the_gated_norm_equals_the_torch_gated_norm(
    device: torch.device, dtype: torch.dtype, groups: int, max_elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(norm, "MAX_ELEMENTS", max_elements)
    make = torch.Generator().manual_seed(groups)
    y, wide = (torch.randn(2, 9, n, generator=make).to(device, dtype) for n in (96, 150))
    z, weight = wide[..., :96], torch.randn(96, generator=make).to(device, dtype)
    found = gated_norm_triton(y, z, weight, groups, 1e-5)
    assert found.dtype == dtype
    gated = (y.double() * F.silu(z.double())).unflatten(-1, (groups, -1))
    normed = gated / (gated.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    assert_close(found, normed.flatten(-2) * weight.double(), dtype)


@needs_mamba_ssm
@pytest.mark.parametrize("groups", [1, 2])
def test_a_model_gives_the_same_result_with_triton_kernels_and_with_torch(
    device: torch.device, groups: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In float32 and in two slices; the second one is not a multiple of the block size."""
    config = tiny_config(n_groups=groups, num_hidden_layers=2, chunk_size=Q)
    folder = save_checkpoint(tmp_path, config, random_tensors(config))
    tokens = torch.randint(0, 390, (1, Q + 5), generator=torch.Generator().manual_seed(0)).to(device)

    def read() -> tuple[Tensor, ...]:
        model, _ = load_mamba2(folder, read_config(folder / "config.json")[0], str(device), torch.float32)
        with torch.inference_mode():
            first, state = model.step(tokens[:, :Q], model.initial_state())
            second, state = model.step(tokens[:, Q:], state)
        return first, second, *state.tensors().values()

    for name, kernel in {"ssd_scan": ssd_scan, "convolve": convolve_torch, "gated_norm": gated_norm_torch}.items():
        monkeypatch.setattr(mamba2, name, kernel)
    expected = read()
    for name, kernel in {
        "ssd_scan": ssd_scan_triton,
        "convolve": convolve_triton,
        "gated_norm": gated_norm_triton,
    }.items():
        monkeypatch.setattr(mamba2, name, kernel)
    for found, known in zip(read(), expected, strict=True):
        assert_close(found, known, torch.float32)


@needs_mamba_ssm
def test_every_kernel_passes_its_trial(
    device: torch.device, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Except for the float32 scan on a GPU, where Triton multiplies in TensorFloat-32."""
    monkeypatch.setattr(kernels, "on_gpu", lambda t: True)
    for cache in ("_chosen", "_verdicts"):
        monkeypatch.setattr(kernels, cache, {})
    if INTERPRETED:
        monkeypatch.setattr(kernels, "TRIAL_TOKENS", 2 * Q)
    inputs = random_inputs(device, dtype, 3)
    weight, y = torch.randn(24, 1, 4).to(device, dtype), torch.randn(1, 3, 24).to(device, dtype)
    with torch.inference_mode():
        kernels.ssd_scan(*inputs, Q)
        kernels.convolve(torch.zeros(1, 6, 24).to(y), weight, None)
        kernels.gated_norm(y, y, weight[:, 0, 0], 2, 1e-5)
    scan, convolution, norm = kernels.verdicts()
    if dtype == torch.bfloat16 or INTERPRETED:
        assert scan == "scan by mamba-ssm"
    assert convolution.startswith(("convolution by causal-conv1d", "convolution by Triton"))
    assert norm == "gated norm by mamba-ssm"


def test_the_convolution_handles_more_elements_than_a_32_bit_index(gpu: torch.device) -> None:
    """300,000 tokens of 8,192 channels are 2.5e9 elements, more than a 32-bit signed index can address."""
    extended = torch.randn(1, 300_003, 8192, device=gpu, dtype=torch.bfloat16)
    weight = torch.randn(8192, 1, 4, device=gpu, dtype=torch.bfloat16)
    found = convolve_triton(extended, weight, None)[:, -100:]
    assert_close(found, convolve_torch(extended[:, -103:], weight, None), torch.bfloat16)
