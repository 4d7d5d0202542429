"""Times Mamba2 on a GPU, horizontally and in vertical chunks, and a transformer: `python tests/bench/gpu.py --out DIR`.

Takes less than 10 minutes. Prints a table and conclusions from it. Writes gpu.json and, if matplotlib is installed,
gpu.png. Leaves out what does not fit the time or the card's memory, and says so in the table. The weights are random,
in bfloat16. `--smoke` runs everything with tiny shapes on the CPU, in seconds.
"""

import argparse
import importlib.metadata
import json
import platform
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from gpu_models import CONFIGS, SMOKE_CONFIGS, make, read
from gpu_plot import plot
from gpu_timing import Bench, Cell, Clock, Row, random_tokens
from torch import nn

from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.ops.kernels import verdicts

_HEADER = f"{'model':14} {'batch':>5} {'tokens':>9} {'V':>7} {'seconds':>9} {'tokens/s':>10} {'GiB':>7} {'share':>6}"


def plan(model: str, smoke: bool) -> Iterator[Cell]:
    """Yield what to time of a model, the most important first: by length, then in batches, then by V."""
    lengths = [32, 64] if smoke else [2**n for n in range(10, 21)]
    # the largest first: a small V is slow, and a cell that took too long leaves out the cells after it
    sizes = [32, 16] if smoke else [16384, 8192, 4096, 2048, 1024, 512, 256]
    batch, swept, swept_batch = (2, 64, 64) if smoke else (32, 65_536, 8192)
    vertical = not model.startswith("Transformer")
    best = usual_size(smoke)
    for tokens in lengths:
        if vertical and tokens > best:
            yield Cell(model, 1, tokens, best)
        yield Cell(model, 1, tokens, tokens)
    for tokens in lengths[:4]:
        yield Cell(model, batch, tokens, tokens)
    if vertical:
        yield from (Cell(model, 1, swept, size) for size in sizes if size != best)
        yield from (Cell(model, batch, swept_batch, size) for size in sizes)


def usual_size(smoke: bool) -> int:
    """Return V, in tokens, for reading one document."""
    return 32 if smoke else 4096


def measure(bench: Bench, smoke: bool, dtype: torch.dtype) -> Iterator[tuple[str, Any]]:
    """Yield ("rows", Row), ("ratios", {...}) and ("kernels", {...}) as they are measured, one model after another."""
    for name, config in (SMOKE_CONFIGS if smoke else CONFIGS).items():
        model = make(config, bench.clock.device, dtype)
        read(model, random_tokens(1, usual_size(smoke), bench.clock.device), usual_size(smoke))  # compiles kernels
        if isinstance(model, Mamba2) and bench.deadline - time.perf_counter() > 60 * (not smoke):
            yield "ratios", {f"{name}, {label}": found for label, found in ratios(bench, model, smoke)}
            yield "kernels", {name: busiest_kernels(model, usual_size(smoke), bench.clock.device)}
        yield from (("rows", bench.row(cell, model)) for cell in plan(name, smoke))
        del model


def ratios(bench: Bench, model: Mamba2, smoke: bool) -> Iterator[tuple[str, float]]:
    """Yield vertical time / horizontal time as an encoder reads: one document, and a full batch at V = 2 Q."""
    one, many, batch = (64, 64, 2) if smoke else (32_768, 2048, 32)
    V, V_batch = usual_size(smoke), 2 * model.block_size
    yield f"batch 1, {one} tokens, V = {V}", bench.ratio(model, 1, one, V)
    yield f"batch {batch}, {many} tokens, V = {V_batch}", bench.ratio(model, batch, many, V_batch)


def busiest_kernels(model: nn.Module, n_tokens: int, device: torch.device) -> dict[str, float]:
    """Return the milliseconds that each kernel takes in one slice, the longest first; {} on a CPU."""
    if device.type != "cuda":
        return {}
    tokens = random_tokens(1, n_tokens, device)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        read(model, tokens, n_tokens)
    events = sorted(profile.key_averages(), key=lambda event: -event.self_device_time_total)
    return {event.key[:80]: round(event.self_device_time_total / 1000, 3) for event in events[:20]}


def describe(device: torch.device) -> dict[str, str]:
    """Return the date, the card and the versions."""
    found = {"date": datetime.now(UTC).date().isoformat(), "python": platform.python_version()}
    found["card"] = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    found["cuda"] = torch.version.cuda or "none"
    for package in ("torch", "triton", "mamba-ssm", "causal-conv1d"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def line(row: Row) -> str:
    """Format a row of the table."""
    cell = row.cell
    V = "whole" if cell.whole else str(cell.vertical_size)
    head = f"{cell.model:14} {cell.batch:5} {cell.tokens:9,} {V:>7}"
    if row.left_out:
        return f"{head}  left out: {row.left_out}"
    return f"{head} {row.seconds:9.4f} {row.tokens_per_s:10,.0f} {row.peak_gib:7.2f} {row.share:6.1%}"


def conclusions(rows: list[Row], ratios: dict[str, float]) -> list[str]:
    """Return the figures that the papers give, measured on this card, as lines of text."""
    lines = [f"vertical / whole time, {label}: {ratio:.3f}" for label, ratio in ratios.items()]
    best: dict[tuple[str, int, int], Row] = {}  # the fastest row of each model, batch and length
    for row in rows:
        key = row.cell.model, row.cell.batch, row.cell.tokens
        if row.seconds and (key not in best or row.seconds < best[key].seconds):
            best[key] = row
    for (model, batch, tokens), row in best.items():
        mamba = best.get(("Mamba2 7B", batch, tokens))
        if model == "Transformer 7B" and mamba:
            speed = row.seconds / mamba.seconds
            lines.append(f"speed of Mamba2 7B / Transformer 7B, batch {batch}, {tokens:,} tokens: {speed:.2f}")
    for model in CONFIGS:
        share = max((row.share for row in best.values() if row.cell.model == model), default=0.0)
        lines.append(f"{model}: {share:.1%} of the card's matmul rate at best")
        vertical = [row for row in rows if row.cell.model == model and row.cell.batch == 1 and not row.cell.whole]
        lengths = {row.cell.tokens: row.peak_gib for row in vertical if row.cell.vertical_size == 4096 and row.peak_gib}
        if lengths:
            n, m = min(lengths), max(lengths)
            lines.append(f"{model}: {lengths[n]:.2f} GiB for {n:,} tokens, {lengths[m]:.2f} GiB for {m:,}")
    return lines


def main() -> None:
    """Measure as much as the time allows, and print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(), help="folder for gpu.json and gpu.png")
    parser.add_argument("--budget-s", type=float, default=540, help="seconds for the whole benchmark (default 540)")
    parser.add_argument("--cell-s", type=float, default=25, help="longest pass to time, in seconds (default 25)")
    parser.add_argument("--smoke", action="store_true", help="run with tiny shapes on the CPU")
    arguments = parser.parse_args()
    deadline = time.perf_counter() + arguments.budget_s
    if not arguments.smoke and not torch.cuda.is_available():
        parser.error("there is no CUDA device; --smoke runs without one")
    device = torch.device("cpu" if arguments.smoke else "cuda:0")
    dtype, clock = torch.float32 if arguments.smoke else torch.bfloat16, Clock(device)
    matmul = clock.matmul_flops((64, 128) if arguments.smoke else (4096, 8192), dtype)
    found: dict[str, Any] = {"rows": [], "ratios": {}, "kernels": {}}
    about = describe(device) | {"matmul": f"{matmul / 1e12:.1f} TFLOP/s"}
    print(*(f"{key} {value}" for key, value in about.items()), sep=", ")
    print(_HEADER)
    for kind, measured in measure(Bench(clock, matmul, arguments.cell_s, deadline), arguments.smoke, dtype):
        if kind == "rows":
            found["rows"].append(measured)
            print(line(measured), flush=True)
        else:
            found[kind] |= measured
        write(arguments.out / "gpu.json", about, found)  # at once: an interrupted run keeps its figures
    print(*conclusions(found["rows"], found["ratios"]), *verdicts(), sep="\n")
    print(plot(arguments.out / "gpu.json", arguments.out / "gpu.png"))


def write(path: Path, about: dict[str, str], found: dict[str, Any]) -> None:
    """Write all figures as JSON."""
    rows = [asdict(row) | {"tokens_per_s": row.tokens_per_s} for row in found["rows"]]
    done = {"about": about, "kernel_choice": verdicts(), **found, "rows": rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(done, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
