"""Chooses V, the number of tokens to read at a time, by measuring once for each model and machine.

In a short slice the fixed costs dominate; a long slice overflows the caches and takes memory. The result is cached in a
small JSON file. Reads random tokens, which take as long as real ones.
"""

import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.inference.encoder import Encoder
from engine.inference.vertical import RecurrentModel

SIZES = {"cpu": (256, 512, 1024, 2048), "cuda": (1024, 2048, 4096, 8192, 16384)}
BUDGET_S = 3.0
_GOOD_ENOUGH = 0.97  # of the best rate: two runs differ by 3 %
_SHARE_OF_FREE = 0.5  # of the free GPU memory; the rest is for other programs and for batches of documents


@dataclass(frozen=True, slots=True)
class Trial:
    """The speed of reading slices of one size."""

    vertical_size: int
    """V, in tokens."""
    tokens_per_s: float
    """The rate of the fastest slice: other load on the machine can only slow a slice down."""


def choose(trials: Sequence[Trial]) -> int:
    """Return the smallest V whose rate is within 3 % of the best; memory grows with V."""
    best = max(trial.tokens_per_s for trial in trials)
    return min(trial.vertical_size for trial in trials if trial.tokens_per_s >= _GOOD_ENOUGH * best)


def affordable(sizes: Sequence[int], bytes_per_token: float, free_bytes: int) -> list[int]:
    """Return the sizes whose activations take at most half of the free memory, and always the smallest."""
    limit = free_bytes * _SHARE_OF_FREE
    return [size for size in sizes if size == min(sizes) or size * bytes_per_token <= limit]


def sizes_for(device: str, block_size: int) -> list[int]:
    """Return the values of V to try, ascending: multiples of Q."""
    return sorted({max(size // block_size, 1) * block_size for size in SIZES[device.partition(":")[0]]})


def calibrate(encoder: Encoder, budget_s: float) -> list[Trial]:
    """Time slices of each size in turn, repeatedly, for about `budget_s` seconds.

    Stops before a slice that would take longer than the time left, so a slow machine may not try every size.
    """
    sizes = sizes_for(encoder.hardware.device, encoder.model.block_size)
    if encoder.model.device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(encoder.model.device)
        sizes = affordable(sizes, _bytes_per_token(encoder, sizes[0]), free)
    best: dict[int, float] = {}
    end = time.perf_counter() + budget_s
    _slice_s(encoder, sizes[0])  # the first slice pays for one-time setup
    while True:
        for size in sizes:
            rate = max(best.values(), default=0.0)
            if best and time.perf_counter() + size / rate > end:
                return [Trial(size, rate) for size, rate in best.items()]
            best[size] = max(best.get(size, 0.0), size / _slice_s(encoder, size))


def calibrated_size(encoder: Encoder, cache: Path, may_measure: bool) -> int | None:
    """Return V from the cache, or measure it now if `may_measure`; None if it is not known.

    A busy processor is never measured: short slices are disturbed least, look fastest and would then be cached for good
    (once 256 tokens, at half the speed of 2,048).
    """
    known, key = _load(cache), _key(encoder)
    size = known.get(key)
    if size in sizes_for(encoder.hardware.device, encoder.model.block_size):
        return size
    if not may_measure or (encoder.model.device.type == "cpu" and _is_busy()):
        return None
    known[key] = choose(calibrate(encoder, BUDGET_S))
    _save(cache, known)
    return known[key]


def _is_busy() -> bool:
    """Whether the processor was more than half busy during the last minute."""
    return os.getloadavg()[0] > 0.5 * (os.cpu_count() or 1)


def _slice_s(encoder: Encoder, size: int) -> float:
    model: RecurrentModel = encoder.model
    tokens = torch.randint(0, encoder.tokenizer.vocabulary_size, (1, size)).to(model.device)
    state = model.initial_state()
    _wait_for(model.device)
    began = time.perf_counter()
    with torch.inference_mode():
        model.step(tokens, state)
    _wait_for(model.device)
    return time.perf_counter() - began


def _bytes_per_token(encoder: Encoder, size: int) -> float:
    """GPU memory per token of a slice, beyond the weights."""
    device = encoder.model.device
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    _slice_s(encoder, size)
    return (torch.cuda.max_memory_allocated(device) - before) / size


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _key(encoder: Encoder) -> str:
    """The cache key: everything that the result depends on."""
    hardware = encoder.hardware
    is_gpu = encoder.model.device.type == "cuda"
    machine = torch.cuda.get_device_name(encoder.model.device) if is_gpu else f"{torch.get_num_threads()} threads"
    n_parameters = sum(parameter.numel() for parameter in encoder.model.parameters())  # differs between widths
    parts = (encoder.fingerprint, n_parameters, encoder.model.block_size, hardware.dtype, machine, torch.__version__)
    return " ".join(map(str, parts))


def _load(cache: Path) -> dict[str, int]:
    """Read the cache; {} if the file is missing or damaged, which costs a new measurement of 3 seconds."""
    try:
        known = json.loads(cache.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {key: size for key, size in known.items() if type(size) is int}


def _save(cache: Path, known: dict[str, int]) -> None:
    """Replace the file atomically; only its owner may read it (mkstemp sees to that)."""
    handle, name = tempfile.mkstemp(dir=cache.parent, prefix=f".{cache.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1)
        Path(name).replace(cache)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
