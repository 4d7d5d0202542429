"""How many tokens to read at a time (V) on this machine, found by trying, once for a model and a machine.

A slice that is too short spends its time between products; one that is too long spills out of the caches and costs
memory. What was found is kept in a small JSON file. Knows no documents: random tokens take as long as any.
"""

import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.vertical import RecurrentModel

SIZES = {"cpu": (256, 512, 1024, 2048), "cuda": (1024, 2048, 4096, 8192, 16384)}
BUDGET_S = 3.0
_GOOD_ENOUGH = 0.97  # of the best: 3 % are within what the next run would say
_SHARE_OF_FREE = 0.5  # of a GPU's memory: the rest is for other programs, and for rows of many documents


@dataclass(frozen=True, slots=True)
class Trial:
    """What reading slices of one size was like."""

    vertical_size: int
    """V, in tokens."""
    tokens_per_s: float
    """In the fastest slice: what else the machine does only ever slows one down."""


def choose(trials: Sequence[Trial]) -> int:
    """The smallest V that is as good as the best, within 3 %: memory grows with it."""
    best = max(trial.tokens_per_s for trial in trials)
    return min(trial.vertical_size for trial in trials if trial.tokens_per_s >= _GOOD_ENOUGH * best)


def affordable(sizes: Sequence[int], bytes_per_token: float, free_bytes: int) -> list[int]:
    """Those of the sizes whose activations take no more than half of what is free; the smallest always."""
    limit = free_bytes * _SHARE_OF_FREE
    return [size for size in sizes if size == min(sizes) or size * bytes_per_token <= limit]


def sizes_for(device: str, block_size: int) -> list[int]:
    """Values of V worth trying, ascending: multiples of Q."""
    return sorted({max(size // block_size, 1) * block_size for size in SIZES[device.partition(":")[0]]})


def calibrate(encoder: Encoder, budget_s: float) -> list[Trial]:
    """Time slices of every size in turn, again and again, for about `budget_s` (one slice of each at least, but none
    that would take longer than what is left).
    """
    sizes = sizes_for(encoder.hardware.device, encoder.model.block_size)
    if encoder.model.device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(encoder.model.device)
        sizes = affordable(sizes, _bytes_per_token(encoder, sizes[0]), free)
    best: dict[int, float] = {}
    end = time.perf_counter() + budget_s
    _slice_s(encoder, sizes[0])  # the first pays for what is set up once
    while True:
        for size in sizes:
            rate = max(best.values(), default=0.0)
            if best and time.perf_counter() + size / rate > end:
                return [Trial(size, rate) for size, rate in best.items()]
            best[size] = max(best.get(size, 0.0), size / _slice_s(encoder, size))


def calibrated_size(encoder: Encoder, cache: Path, may_measure: bool) -> int | None:
    """V as it was found before, by this model on this machine, or else as it is found now, where it `may_measure`.

    Nothing is found on a processor that has other work: the shortest slices get away with it most often, look fastest,
    and would be believed ever after (256 tokens once, at half the speed of 2,048).
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
    """Whether more than half of the processor was at work in the last minute."""
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
    """GPU memory that a slice takes beyond the weights, for each of its tokens."""
    device = encoder.model.device
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    _slice_s(encoder, size)
    return (torch.cuda.max_memory_allocated(device) - before) / size


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _key(encoder: Encoder) -> str:
    """All that the result depends on."""
    hardware = encoder.hardware
    is_gpu = encoder.model.device.type == "cuda"
    machine = torch.cuda.get_device_name(encoder.model.device) if is_gpu else f"{torch.get_num_threads()} threads"
    n_parameters = sum(parameter.numel() for parameter in encoder.model.parameters())  # another at every width
    parts = (encoder.fingerprint, n_parameters, encoder.model.block_size, hardware.dtype, machine, torch.__version__)
    return " ".join(map(str, parts))


def _load(cache: Path) -> dict[str, int]:
    """What is known; nothing where the file is missing or no longer readable, which costs 3 seconds."""
    try:
        known = json.loads(cache.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {key: size for key, size in known.items() if type(size) is int}


def _save(cache: Path, known: dict[str, int]) -> None:
    """Replace the file in one step, readable by its owner only (mkstemp makes it so)."""
    handle, name = tempfile.mkstemp(dir=cache.parent, prefix=f".{cache.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1)
        Path(name).replace(cache)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
