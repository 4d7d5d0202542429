"""Chooses how many tokens to read at a time (V), and the number format, by measuring, once for each model and machine.

A slice that is too short spends its time between the matrix products. A slice that is too long does not fit into the
CPU's caches, and takes memory. A small JSON file keeps the measurements. No document is needed: random tokens take as
long as real ones.
"""

import os
import platform
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import torch

from longsearch.engine.inference.device import has_choice_of_formats
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.json_files import load_object, replace_object
from longsearch.engine.models.config import Mamba2Config, read_config
from longsearch.engine.models.hub import locate
from longsearch.engine.models.mamba2_quick import can_be_int8
from longsearch.engine.models.recurrent import RecurrentModel

SIZES = {"cpu": (256, 512, 1024, 2048), "cuda": (1024, 2048, 4096, 8192, 16384)}
BUDGET_S = 3.0
FORMATS = ("int8", "bfloat16", "float32")
_TOKENS, _ROUNDS = 512, 4  # of each format; the first slice pays for one-time setup
_GOOD_ENOUGH = 0.97  # of the best speed; another measurement may differ by 3 %
_SHARE_OF_FREE = 0.5  # of a GPU's free memory; other programs, and batches of documents, need the rest


@dataclass(frozen=True, slots=True)
class Trial:
    """The measured speed of slices of one size."""

    vertical_size: int
    """V, in tokens."""
    tokens_per_s: float
    """Speed of the fastest slice: other work on the machine can only slow a slice down."""


def choose(trials: Sequence[Trial]) -> int:
    """Return the smallest V whose speed is within 3 % of the best, because memory grows with V."""
    best = max(trial.tokens_per_s for trial in trials)
    return min(trial.vertical_size for trial in trials if trial.tokens_per_s >= _GOOD_ENOUGH * best)


def affordable(sizes: Sequence[int], bytes_per_token: float, free_bytes: int) -> list[int]:
    """Return the sizes whose activations fit into half of the free memory, and always the smallest size."""
    limit = free_bytes * _SHARE_OF_FREE
    return [size for size in sizes if size == min(sizes) or size * bytes_per_token <= limit]


def sizes_for(device: str, block_size: int) -> list[int]:
    """Return the values of V to try, ascending: multiples of Q = `block_size`."""
    return sorted({max(size // block_size, 1) * block_size for size in SIZES[device.partition(":")[0]]})


def calibrate(encoder: Encoder, budget_s: float) -> list[Trial]:
    """Time one slice of each size in turn, again and again, for about `budget_s` seconds.

    Stops before the first slice that would outlast the budget. Always times the smallest size at least once.
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
    """Return V for this model on this machine, as it was measured before.

    If V is unknown, measure it if `may_measure`, else return None. On a busy CPU nothing is measured: the shortest
    slices are disturbed least, and the wrong choice would be kept (once 256 tokens, at half the speed of 2,048).
    """
    sizes, key = _load(cache), _key(encoder)
    size = sizes.get(key)
    if size in sizes_for(encoder.hardware.device, encoder.model.block_size):
        return size
    if not may_measure or (encoder.model.device.type == "cpu" and _is_busy()):
        return None
    sizes[key] = choose(calibrate(encoder, BUDGET_S))
    replace_object(cache, sizes)
    return sizes[key]


def measured_formats(model: str | Path, cache: Path) -> dict[str, float]:
    """Return how many tokens a second this processor reads in each number format, measured once, for half a second.

    Returns {} where the format is plain without it, or where it is not known yet and the machine is busy.
    """
    config, _ = read_config(locate(model).folder / "config.json")
    if not (has_choice_of_formats() and isinstance(config, Mamba2Config) and can_be_int8(config)):
        return {}
    kept, key = load_object(cache), _key_of_formats(model)
    found = kept.get(key)
    if isinstance(found, dict) and set(found) == set(FORMATS) and all(type(one) is float for one in found.values()):
        return found
    if _is_busy():
        return {}
    encoders = {name: Encoder.open(model, "cpu", name) for name in FORMATS}
    times: dict[str, list[float]] = {name: [] for name in FORMATS}
    for _ in range(_ROUNDS):
        for name, encoder in encoders.items():
            times[name].append(_slice_s(encoder, _TOKENS))
    speeds = {name: round(_TOKENS / min(own), 1) for name, own in times.items()}
    with suppress(OSError):  # reading goes on without the file
        replace_object(cache, kept | {key: speeds})
    return speeds


def _key_of_formats(model: str | Path) -> str:
    """Return what the speeds of formats depend on: the processor, the programs that multiply, and the model."""
    status = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.*)", status.read_text()) if status.exists() else None
    versions = [f"{name} {version(name)}" for name in ("torch", "onnxruntime") if find_spec(name)]
    processor = named[1] if named else platform.processor()
    return ", ".join(["formats", processor, f"{torch.get_num_threads()} threads", *versions, str(model)])


def _is_busy() -> bool:
    """Return whether more than half of the CPU was in use over the last minute."""
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
    """Return how many bytes of GPU memory a slice takes for each token, besides the weights."""
    device = encoder.model.device
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    _slice_s(encoder, size)
    return (torch.cuda.max_memory_allocated(device) - before) / size


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _key(encoder: Encoder) -> str:
    """Return a cache key that names everything the speed depends on."""
    hardware = encoder.hardware
    is_gpu = encoder.model.device.type == "cuda"
    machine = torch.cuda.get_device_name(encoder.model.device) if is_gpu else f"{torch.get_num_threads()} threads"
    n_parameters = sum(parameter.numel() for parameter in encoder.model.parameters())  # differs between widths
    parts = (encoder.fingerprint, n_parameters, encoder.model.block_size, hardware.products, machine, torch.__version__)
    return " ".join(map(str, parts))


def _load(cache: Path) -> dict[str, int]:
    """Return the stored choices."""
    return {key: size for key, size in load_object(cache).items() if type(size) is int}
