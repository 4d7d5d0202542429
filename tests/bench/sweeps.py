"""Times Mamba2, RWKV-7 and xLSTM by Q and V, and measures their memory: `python tests/bench/sweeps.py --out DIR`.

After Figures 3 to 5 of "Linear-Time and Constant-Memory Text Embeddings Based on Recurrent Language Models" (arXiv
2604.18199), on the processor instead of a GPU. Q is the block of the scan, V the vertical chunk. V of the whole length
is the paper's fully horizontal inference. The three families have random weights of one small shape, in float32; the
bundled model is a fourth, also at its four widths, and beside it stands a transformer of its size. Needs Linux, and
some ten minutes of one core; `--only`, `--sweeps` and `--longest` make it shorter, and `--smoke` takes a minute.
Prints every figure, writes sweeps.json, and draws it with `sweep_plots.py`.

The cells of a model take turns in one process, and the shortest of several processor times counts. Memory is that of a
separate process for each cell: what the reading adds to the weights and the libraries, at the highest.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import REPOSITORY

WIDTHS = ("1", "1/2", "1/4", "1/8")
MODELS = {"Mamba2": 256, "RWKV-7": 32, "xLSTM": 64, "bundled": 64, "transformer": 1}
MODELS |= {f"bundled at {width}": 64 for width in WIDTHS}
"""The models, and Q of each as its checkpoints have it; a transformer has no blocks."""
BLOCKS = (8, 16, 32, 64, 128, 256, 512)
_MAX_BLOCK = {"RWKV-7": 64}  # the two factors of its decay would leave float32's range
SLICES = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
USUAL_SLICE = 2048
LENGTHS = (512, 2048, 8192, 32_768, 131_072, 1_048_576)
_LONGEST_WHOLE = 32_768  # one slice of 131,072 tokens would take gigabytes
BESIDE = (512, 2048, 4096, 8192, 16_384)
"""Lengths at which the bundled model and the transformer are timed."""
QUERY = 16
"""Tokens of a query, whose latency is measured by width."""
SWEEPS = ("Q", "V", "length", "beside", "width")
Row = dict[str, Any]


def plan(model: str, smoke: bool, longest: int) -> Iterator[Row]:
    """Yield what to measure of a model: the sweep, and Q, V, batch and tokens."""
    Q, n, rows, shrink = MODELS[model], *((128, 2, 64) if smoke else (4096, 8, 1))
    if model.startswith("bundled at "):
        for length in (QUERY, n):
            yield {"sweep": "width", "Q": Q, "V": min(length, USUAL_SLICE // shrink), "batch": 1, "tokens": length}
        return
    if model in ("bundled", "transformer"):
        for length in (length // shrink for length in BESIDE if length <= longest):
            V = length if model == "transformer" else min(length, USUAL_SLICE // shrink)
            yield {"sweep": "beside", "Q": Q, "V": V, "batch": 1, "tokens": length}
    if model == "transformer":
        return
    blocks = [block for block in BLOCKS if block <= _MAX_BLOCK.get(model, n)]
    yield from ({"sweep": "Q", "Q": block, "V": n, "batch": 1, "tokens": n} for block in blocks)
    for batch, tokens in ((1, n), (rows, n // rows)):
        slices = dict.fromkeys([*(V for V in SLICES if Q <= V < tokens), tokens])
        yield from ({"sweep": "V", "Q": min(Q, n), "V": V, "batch": batch, "tokens": tokens} for V in slices)
    for length in (length // shrink for length in LENGTHS if length <= longest):
        for V in dict.fromkeys((USUAL_SLICE // shrink, length)):
            if length > V or length <= _LONGEST_WHOLE:
                yield {"sweep": "length", "Q": Q, "V": V, "batch": 1, "tokens": length}


def measure(model: str, planned: list[Row], threads: int, rounds: int) -> Iterator[Row]:
    """Yield a row for each of `planned`, with the seconds (None in the sweep by length) and the MiB."""
    timed = dict.fromkeys(_cell(row) for row in planned if row["sweep"] != "length")  # some are in two sweeps
    every = dict.fromkeys(_cell(row) for row in planned)
    seconds = dict(zip(timed, worker("times", model, list(timed), rounds, threads), strict=True))
    memory = dict(zip(every, worker("memory", model, list(every), rounds, threads), strict=True))
    for row in planned:
        best = None if row["sweep"] == "length" else seconds[_cell(row)]
        yield {"model": model, **row, "seconds": best, "added_mib": memory[_cell(row)]}


def _cell(row: Row) -> tuple[int, ...]:
    return row["Q"], row["V"], row["batch"], row["tokens"]


def worker(kind: str, model: str, cells: list[tuple[int, ...]], rounds: int, threads: int) -> list[float]:
    """Run a worker process and return what it prints: a number for each cell."""
    # glibc returns large blocks at once: what it kept would count as memory, differently in every run
    environment = {"MALLOC_MMAP_THRESHOLD_": "131072"} if kind == "memory" else {}
    done = subprocess.run(
        [
            sys.executable,
            str(Path(__file__).with_name("sweep_worker.py")),
            json.dumps([kind, model, cells, rounds, threads]),
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)} | environment,
    )
    found: list[float] = json.loads(done.stdout)
    return found


def line(row: Row) -> str:
    """Format a row for people."""
    speed = f"{row['batch'] * row['tokens'] / row['seconds']:10,.0f} tokens/s" if row["seconds"] else ""
    at = f"Q {row['Q']:4} V {row['V']:6,} batch {row['batch']} tokens {row['tokens']:9,}"
    return f"{row['model']:8} {row['sweep']:6} {at} {row['added_mib']:8.1f} MiB {speed}"


def main() -> None:
    """Measure, print, write and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(), help="folder for sweeps.json and the plots")
    parser.add_argument("--only", nargs="+", default=list(MODELS), choices=MODELS, help="models to measure")
    parser.add_argument("--sweeps", nargs="+", default=SWEEPS, choices=SWEEPS, help="what to vary")
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], metavar="TOKENS", help="longest document")
    parser.add_argument("--rounds", type=int, default=3, help="times of each cell, of which the shortest counts")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, in seconds")
    arguments = parser.parse_args()
    target = arguments.out / "sweeps.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = json.loads(target.read_text("utf-8"))["rows"] if target.exists() else []
    rows = [row for row in rows if row["model"] not in arguments.only]  # of other models: an earlier run's
    for model in arguments.only:
        planned = [row for row in plan(model, arguments.smoke, arguments.longest) if row["sweep"] in arguments.sweeps]
        for row in measure(model, planned, arguments.threads, arguments.rounds):
            rows.append(row)
            print(line(row), flush=True)
        about = {"threads": arguments.threads, "rounds": arguments.rounds, "dtype": "float32"}
        target.write_text(json.dumps({"about": about, "rows": rows}, indent=1) + "\n", "utf-8")
    try:
        from sweep_plots import draw
    except ImportError:
        print(f"no plots: matplotlib is not installed; later: python tests/bench/sweep_plots.py {target}")
        return
    print(*draw(target), sep="\n")


if __name__ == "__main__":
    main()
