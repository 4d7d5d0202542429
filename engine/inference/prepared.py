"""Prepares a loaded model for a device: its width, its fastest form, and how many tokens a slice has."""

from longsearch.engine.inference.device import Hardware
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.mamba2_quick import QuickMamba2, can_be_quick
from longsearch.engine.models.matmamba import at_width
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.platforms.buffers import keep_freed_memory

# default V; on a CPU 2048 is 1.14 times as fast as 1024, and 4096 only 1.03 times as fast as 2048
_VERTICAL_TOKENS = {"cpu": 2048, "cuda": 4096}


def prepared(model: RecurrentModel, width: float | tuple[float, ...], hardware: Hardware) -> RecurrentModel:
    """Return the model at `width`, in the fastest form that this hardware can run."""
    model = model if width == 1 else at_width(model, width)
    if hardware.device == "cpu":
        keep_freed_memory()
    if hardware.device == "cpu" and isinstance(model, Mamba2) and can_be_quick(model.config):
        return QuickMamba2.of(model, hardware.int8)
    return model


def default_vertical_size(block_size: int, hardware: Hardware) -> int:
    """Return V in tokens: the largest multiple of Q = `block_size` within the device's default, but at least Q."""
    return max(_VERTICAL_TOKENS[hardware.device.partition(":")[0]] // block_size, 1) * block_size
