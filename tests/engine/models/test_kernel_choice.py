"""Kernels that work are chosen; kernels that are missing, fail or are wrong are not. Needs no GPU."""

import sys

import pytest
import torch
from torch import Tensor

from longsearch.engine.models.ops import kernels
from longsearch.engine.models.ops.conv import convolve_torch, convolve_triton
from longsearch.engine.models.ops.kernels import choose_kernel, random_like
from longsearch.engine.models.ops.norm import gated_norm_torch
from longsearch.engine.models.ops.ssd import ssd_scan

VALUES = torch.linspace(-1, 1, 100)


def twin(values: Tensor) -> tuple[Tensor, Tensor]:
    return values * 2, values.sum()[None] + 1


def same(values: Tensor) -> tuple[Tensor, Tensor]:
    return values + values, values.sum()[None] + 1


def absent(*inputs: object) -> Tensor:
    raise ModuleNotFoundError("No module named 'fast_thing'", name="fast_thing")


def failing(values: Tensor) -> Tensor:
    raise RuntimeError("Failed to find C compiler.\nPlease install one.")


def wrong_in_its_small_part(values: Tensor) -> tuple[Tensor, Tensor]:
    return values * 2, values.sum()[None] + 1.1


def nan(values: Tensor) -> tuple[Tensor, Tensor]:
    return values * float("nan"), values.sum()[None] + 1


def test_a_kernel_that_agrees_with_its_twin_is_chosen() -> None:
    assert choose_kernel(twin, {"fast": same}, [VALUES], 1e-4) == (same, "fast")


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (absent, "fast is not installed (No module named 'fast_thing')"),
        (failing, "fast fails (RuntimeError: Failed to find C compiler.)"),
        (wrong_in_its_small_part, "fast differs from torch by 0.1"),
        (nan, "fast differs from torch by nan"),
    ],
)
def test_the_twin_replaces_a_kernel_that_does_not_work_and_the_reason_is_kept(
    kernel: kernels.Kernel, reason: str
) -> None:
    assert choose_kernel(twin, {"fast": kernel}, [VALUES], 1e-4) == (twin, f"torch; {reason}")


def test_the_next_kernel_is_chosen_if_the_first_is_missing() -> None:
    chosen, verdict = choose_kernel(twin, {"fast": absent, "next": same}, [VALUES], 1e-4)
    assert chosen is same
    assert verdict == "next; fast is not installed (No module named 'fast_thing')"


def test_missing_triton_is_reported_as_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.delitem(sys.modules, "longsearch.engine.models.ops.conv_triton", raising=False)
    inputs = [torch.randn(1, 7, 8), torch.randn(8, 1, 4), None]
    chosen, verdict = choose_kernel(convolve_torch, {"Triton": convolve_triton}, inputs, 1e-4)
    assert chosen is convolve_torch
    assert verdict.startswith("torch; Triton is not installed")


def test_a_trial_is_repeatable_and_does_not_change_torchs_random_state() -> None:
    example = torch.zeros(1, 2, 3, dtype=torch.bfloat16)
    before = torch.get_rng_state()
    first, second = random_like(example, (3,), (2, 5))
    assert torch.equal(torch.get_rng_state(), before)
    assert (first.shape, second.shape) == ((1, kernels.TRIAL_TOKENS, 3), (1, kernels.TRIAL_TOKENS, 2, 5))
    assert first.dtype == torch.bfloat16
    assert torch.equal(first, random_like(example, (3,))[0])


@torch.no_grad()
def run_each_operation() -> None:
    x, dt, A, B = torch.randn(2, 5, 2, 4), torch.rand(2, 5, 2), -torch.rand(2), torch.randn(2, 5, 1, 3)
    kernels.ssd_scan(x, dt, A, B, B, torch.zeros(2, 2, 4, 3), 4)
    kernels.convolve(torch.randn(2, 8, 6), torch.randn(6, 1, 4), None)
    kernels.gated_norm(torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.ones(8), 2, 1e-5)


def test_operations_on_a_cpu_try_no_kernel() -> None:
    run_each_operation()
    assert kernels.verdicts() == []


def test_each_operation_tries_its_kernels_once_for_each_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twins in torch take the place of the faster kernels, and the CPU that of a GPU."""
    calls = []

    def counted(kernel: kernels.Kernel) -> kernels.Kernel:
        return lambda *inputs: (calls.append(inputs[0].shape[1]), kernel(*inputs))[1]

    monkeypatch.setattr(kernels, "on_gpu", lambda t: True)
    for cache in ("_chosen", "_verdicts"):
        monkeypatch.setattr(kernels, cache, {})
    monkeypatch.setattr(kernels, "_SCANS", {"fast": counted(ssd_scan)})
    monkeypatch.setattr(kernels, "_CONVOLUTIONS", {"missing": absent, "fast": counted(convolve_torch)})
    monkeypatch.setattr(kernels, "_NORMS", {"fast": counted(gated_norm_torch)})
    run_each_operation()
    run_each_operation()
    trial = kernels.TRIAL_TOKENS
    assert calls == [trial, 5, trial, 8, trial, 5, 5, 8, 5]
    assert kernels.verdicts() == [
        "scan by fast",
        "convolution by fast; missing is not installed (No module named 'fast_thing')",
        "gated norm by fast",
    ]
