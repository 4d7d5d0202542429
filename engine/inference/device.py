"""Chooses the device and the number format once, and keeps the reasons for `longsearch doctor`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from longsearch.engine.errors import ModelError
from longsearch.engine.models.ops.int8 import has_vnni

_DEVICE = re.compile(r"cpu|cuda(:[0-9]{1,3})?")
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int8": torch.float32}


@dataclass(frozen=True, slots=True)
class Hardware:
    """The device and the number format in which the model runs."""

    device: str
    """A torch device, such as `cpu` or `cuda:0`."""
    dtype: torch.dtype
    """The format of the matrix products. Decays, states and the residual stream are always float32."""
    reason: str
    """Why these were chosen: one line for the user."""
    int8: bool = False
    """Whether a CPU runs the matrix products in int8; `dtype` is then float32, the format of everything else."""

    @property
    def products(self) -> str:
        """The name of the number format of the matrix products, such as `int8`."""
        return "int8" if self.int8 else str(self.dtype).removeprefix("torch.")


def choose_hardware(
    device: str = "auto", dtype: str = "auto", can_be_int8: bool = False, speeds: Mapping[str, float] | None = None
) -> Hardware:
    """Replace `auto` by the best choice. Raises ModelError for a missing or unknown device, or an unknown dtype.

    `can_be_int8`: whether the model can run in int8; training cannot. `speeds`: tokens a second in each number format,
    as `calibration.measured_formats` has them for this processor.
    """
    chosen, reasons = (device, [f"{device} was asked for"]) if device != "auto" else _best_device()
    if not _DEVICE.fullmatch(chosen):
        raise ModelError(f"unknown device {chosen!r}", "one of auto, cpu, cuda, cuda:0, cuda:1, ...")
    if chosen.startswith("cuda") and int(chosen[5:] or 0) >= torch.cuda.device_count():
        raise ModelError(f"there is no CUDA device {chosen}", "use --device cpu, or see `longsearch doctor`")
    int8 = dtype == "int8"
    if int8 and not (can_be_int8 and chosen == "cpu"):
        raise ModelError("int8 is for reading with models like the bundled one, on a CPU", "use --dtype auto")
    if dtype == "auto":
        number, why = _best_dtype(chosen)
        if speeds and chosen == "cpu":
            best = max(speeds, key=speeds.__getitem__)
            number, int8 = _DTYPES[best], best == "int8"
            each = ", ".join(f"{name} {speed:,.0f}" for name, speed in speeds.items())
            why = f"{best} is the fastest here (measured tokens/s: {each})"
        elif can_be_int8 and chosen == "cpu" and number is torch.float32 and has_fast_int8():
            with_these = torch.backends.cpu.get_cpu_capability() + (" and VNNI" if has_vnni() else "")
            int8, why = True, f"{why}, and int8 is faster than float32 with {with_these}"
        reasons.append(why)
    elif dtype in _DTYPES:
        number = _DTYPES[dtype]
        reasons.append(f"{dtype} was asked for")
    else:
        raise ModelError(f"unknown dtype {dtype!r}", f"one of auto, {', '.join(_DTYPES)}")
    return Hardware(chosen, number, "; ".join(reasons), int8)


def _best_device() -> tuple[str, list[str]]:
    if torch.cuda.is_available():
        return "cuda:0", [f"{torch.cuda.get_device_name(0)} found"]
    return "cpu", ["no CUDA device found"]


def _best_dtype(device: str) -> tuple[torch.dtype, str]:
    name = "the GPU" if device.startswith("cuda") else "the CPU"
    if has_fast_bfloat16(device):
        return torch.bfloat16, f"{name} supports bfloat16"
    return torch.float32, f"{name} has no fast bfloat16"


def has_choice_of_formats() -> bool:
    """Return whether only a measurement tells the fastest format here: the processor has bfloat16, and int8 too."""
    return _best_device()[0] == "cpu" and has_fast_bfloat16("cpu") and has_fast_int8()


def has_fast_int8() -> bool:
    """Return whether this processor multiplies matrices in int8 faster than in float32.

    Measured with AVX2 alone, for the bundled model's products on one core: 118 GFLOPS, against 60 in float32.
    """
    return torch.backends.mkldnn.is_available() and torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")


def has_fast_bfloat16(device: str) -> bool:
    """Return whether a device multiplies matrices in bfloat16 faster than in float32.

    A CPU without such instructions emulates bfloat16: AVX2 alone does .8 GFLOPS a core, against 39 in float32.
    """
    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported())
    return device == "cpu" and bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
