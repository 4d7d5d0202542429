"""Chooses the device and the dtype, once, and keeps the reason for `longsearch doctor`."""

import re
from dataclasses import dataclass

import torch

from engine.errors import ModelError

_DEVICE = re.compile(r"cpu|cuda(:[0-9]{1,3})?")
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class Hardware:
    """The device and the dtype that the model runs in."""

    device: str
    """A torch device, such as `cpu` or `cuda:0`."""
    dtype: torch.dtype
    """The dtype of the matrix products; decays, states and the residual stream are always float32."""
    reason: str
    """Why these were chosen, in one line for the user."""


def choose_hardware(device: str = "auto", dtype: str = "auto") -> Hardware:
    """Resolve `auto`. Raises ModelError for a device that does not exist and for an unsupported dtype."""
    chosen, reasons = (device, [f"{device} was asked for"]) if device != "auto" else _best_device()
    if not _DEVICE.fullmatch(chosen):
        raise ModelError(f"unknown device {chosen!r}", "one of auto, cpu, cuda, cuda:0, cuda:1, ...")
    if chosen.startswith("cuda") and int(chosen[5:] or 0) >= torch.cuda.device_count():
        raise ModelError(f"no CUDA device is usable as {chosen}", "use --device cpu, or see `longsearch doctor`")
    if dtype == "auto":
        number, why = _best_dtype(chosen)
        reasons.append(why)
    elif dtype in _DTYPES:
        number = _DTYPES[dtype]
        reasons.append(f"{dtype} was asked for")
    else:
        raise ModelError(f"unknown dtype {dtype!r}", f"one of auto, {', '.join(_DTYPES)}")
    return Hardware(chosen, number, "; ".join(reasons))


def _best_device() -> tuple[str, list[str]]:
    if torch.cuda.is_available():
        return "cuda:0", [f"{torch.cuda.get_device_name(0)} found"]
    return "cpu", ["no CUDA device found"]


def _best_dtype(device: str) -> tuple[torch.dtype, str]:
    if device.startswith("cuda"):
        if torch.cuda.is_bf16_supported():
            return torch.bfloat16, "the GPU multiplies bfloat16"
        return torch.float32, "the GPU has no bfloat16"
    # a processor without these instructions emulates bfloat16, more slowly than it computes float32
    if device == "cpu" and (torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()):
        return torch.bfloat16, "the processor multiplies bfloat16"
    return torch.float32, f"{device} has no fast bfloat16"
