"""Chooses the kernel of an operation: torch's on a CPU; on a CUDA device a faster one, if it works there.

The first call with a new shape tries each faster kernel on `TRIAL_TOKENS` random tokens and compares it with its twin
in torch. If the kernel is wrong, or lacks mamba-ssm, Triton or a C compiler, the twin stays in use, and `longsearch
doctor` shows the reason. A trial is as long as a real slice, because Triton's autotuner never reconsiders its choice.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from longsearch.engine.models.ops.conv import convolve_causal_conv1d, convolve_torch, convolve_triton
from longsearch.engine.models.ops.norm import gated_norm_torch, gated_norm_triton
from longsearch.engine.models.ops.ssd_factored import ssd_scan_factored
from longsearch.engine.models.ops.ssd_triton import ssd_scan_triton

Kernel = Callable[..., Any]
TRIAL_TOKENS = 4096
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.02}
"""The largest relative difference that a trial accepts. Sums in another order differ by 0.005 in bfloat16. In float32
TensorFloat-32 differs by 5e-4, and is refused."""
_SCANS = {"mamba-ssm": ssd_scan_triton}
_CONVOLUTIONS = {"causal-conv1d": convolve_causal_conv1d, "Triton": convolve_triton}
_NORMS = {"mamba-ssm": gated_norm_triton}

_chosen: dict[tuple[object, ...], Kernel] = {}
_verdicts: dict[str, str] = {}


def ssd_scan(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, initial_state: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """Run the SSD scan; see `engine.models.ops.ssd.ssd_scan`."""

    def trial() -> list[object]:
        trial_x, trial_B, trial_C, steps = random_like(x, x.shape[2:], B.shape[2:], C.shape[2:], dt.shape[2:])
        state = (trial_x[:, 0, :, :, None] * trial_B[:, 0, :1, None]).float()  # not 0, unlike that of a first slice
        return [trial_x, steps.float().abs() / 10, A, trial_B, trial_C, state, block_size]

    kernel: Kernel = ssd_scan_factored
    if on_gpu(x):
        kernel = _choose("scan", x, (x.shape[2:], B.shape[2:], block_size), kernel, _SCANS, trial)
    y, state = kernel(x, dt, A, B, C, initial_state, block_size)
    return y, state


def convolve(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Run the causal convolution; see `engine.models.ops.conv.convolve_torch`."""

    def trial() -> list[object]:
        return [*random_like(extended, extended.shape[2:]), weight, bias]

    kernel: Kernel = convolve_torch
    if on_gpu(extended) and not torch.is_grad_enabled():  # the Triton kernel has no gradient
        kernel = _choose("convolution", extended, (weight.shape, bias is None), kernel, _CONVOLUTIONS, trial)
    out: Tensor = kernel(extended, weight, bias)
    return out


def gated_norm(y: Tensor, z: Tensor, weight: Tensor, groups: int, eps: float) -> Tensor:
    """Run the gated norm; see `engine.models.ops.norm.gated_norm_torch`."""

    def trial() -> list[object]:
        return [*random_like(y, y.shape[2:], z.shape[2:]), weight, groups, eps]

    kernel: Kernel = gated_norm_torch
    if on_gpu(y):
        kernel = _choose("gated norm", y, (y.shape[2:], groups), kernel, _NORMS, trial)
    out: Tensor = kernel(y, z, weight, groups, eps)
    return out


def on_gpu(t: Tensor) -> bool:
    """Return whether faster kernels may run on this tensor's device."""
    return t.is_cuda


def verdicts() -> list[str]:
    """Return a line for each operation and shape on CUDA devices: the kernel chosen, and why no faster one was."""
    return list(dict.fromkeys(_verdicts.values()))


def choose_kernel(
    twin: Kernel, faster: dict[str, Kernel], inputs: list[object], tolerance: float
) -> tuple[Kernel, str]:
    """Return the first of `faster` that agrees with the twin within `tolerance`, or else the twin, and the reason."""
    with torch.no_grad(), torch.backends.cudnn.flags(enabled=False):  # cuDNN would round float32 to TensorFloat-32
        expected = _parts(twin(*inputs))
        reasons: list[str] = []
        for name, kernel in faster.items():
            reason = _why_not(kernel, inputs, expected, tolerance)
            if not reason:
                return kernel, "; ".join([name, *reasons])
            reasons.append(f"{name} {reason}")
    return twin, "; ".join(["torch", *reasons])


def random_like(example: Tensor, *shapes: tuple[int, ...]) -> list[Tensor]:
    """Return a random (1, TRIAL_TOKENS, *shape) for each shape, in the example's dtype, on its device.

    Torch's global random state is not changed.
    """
    make = torch.Generator(example.device).manual_seed(0)
    return [
        torch.randn(1, TRIAL_TOKENS, *shape, dtype=example.dtype, device=example.device, generator=make)
        for shape in shapes
    ]


def _choose(
    operation: str,
    example: Tensor,
    shape: tuple[object, ...],
    twin: Kernel,
    faster: dict[str, Kernel],
    trial: Callable[[], list[object]],
) -> Kernel:
    key = (operation, example.device, example.dtype, *shape)
    if key not in _chosen:
        kernel, verdict = choose_kernel(twin, faster, trial(), TOLERANCE[example.dtype])
        _chosen[key], _verdicts[str(key)] = kernel, f"{operation} by {verdict}"
    return _chosen[key]


def _why_not(kernel: Kernel, inputs: list[object], expected: tuple[Tensor, ...], tolerance: float) -> str:
    """Return why a kernel cannot replace its twin, or ""."""
    try:
        parts = _parts(kernel(*inputs))
        differences = [float((f - e).norm() / e.norm()) for f, e in zip(parts, expected, strict=True)]
    except ImportError as error:
        return f"is not installed ({error})"
    except Exception as error:  # compilers, drivers and kernels raise anything; the twin in torch always works
        return f"fails ({type(error).__name__}: {str(error).strip().partition(chr(10))[0]})"
    agrees = all(difference <= tolerance for difference in differences)  # false for NaN
    return "" if agrees else f"differs from torch by {max(differences):.2g}"


def _parts(result: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(part.float() for part in ((result,) if isinstance(result, Tensor) else result))
