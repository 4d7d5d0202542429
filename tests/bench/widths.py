"""Measures tokens per second at each width, and of all-MiniLM-L6-v2: `python tests/bench/widths.py`.

The peers are MiniLM by torch (float32, and bfloat16 where the processor has it) and by onnxruntime (float32 and int8).
Each needs packages (see `minilm_onnx`); a peer whose packages are missing is left out with a line. All models take
turns, as in `indexing.py`. A ratio compares speeds of the same round, so other work on the machine slows both sides of
it. On a busy machine, `--cpu-time` counts the processor's time instead of the clock's; use one thread with it.
"""

import argparse
import statistics
import time
from pathlib import Path

from indexing import batches, load_models, take_turns
from measuring import read_texts
from minilm_onnx import missing

from longsearch.engine.inference.device import has_fast_bfloat16
from longsearch.engine.widths import as_decimals, parse_width

FLAGS = ("amx_tile", "avx512_bf16", "avx512_vnni", "avx_vnni", "avx512f", "avx2")
"""The flags of /proc/cpuinfo that decide how fast matrices are multiplied."""


def peers() -> list[str]:
    """Return the names of the peers that can run here. Print a line for each that cannot."""
    found = ["MiniLM float32"]
    if has_fast_bfloat16("cpu"):
        found.append("MiniLM bfloat16")
    else:
        print("without MiniLM bfloat16: this processor has no fast bfloat16")
    if lacking := missing():
        print(f"without MiniLM by onnxruntime: {' and '.join(lacking)} not installed")
    else:
        found += ["onnxruntime-MiniLM float32", "onnxruntime-MiniLM int8"]
    return found


def flags() -> str:
    """Return the flags of this processor among `FLAGS`."""
    path = Path("/proc/cpuinfo")
    known = set(path.read_text("utf-8").split()) if path.exists() else set()
    return " ".join(flag for flag in FLAGS if flag in known) or "unknown"


def table(speeds: dict[str, list[float]], theirs: list[str]) -> str:
    """Return a table with a row per model: median tokens/s, the spread, and the median ratio to each peer."""
    head = "".join(f" / {name} |" for name in theirs)
    rows = [f"| | tokens/s | least to most |{head}", "| --- | --- | --- |" + " --- |" * len(theirs)]
    for name, of_rounds in speeds.items():
        ratios = [statistics.median(a / b for a, b in zip(of_rounds, speeds[their], strict=True)) for their in theirs]
        spread = f"{min(of_rounds):,.0f} to {max(of_rounds):,.0f}"
        cells = [name, f"{statistics.median(of_rounds):,.0f}", spread, *(f"{ratio:.2f}" for ratio in ratios)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    """Measure and print the table."""
    import torch

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="text files to encode (default: the sample documents)")
    parser.add_argument("--characters", type=int, default=100_000, help="how much of the sample documents to encode")
    parser.add_argument("--rounds", type=int, default=5, help="rounds that count (default 5)")
    parser.add_argument("--widths", nargs="+", type=parse_width, default=[1.0, 0.5, 0.25], metavar="W")
    parser.add_argument(
        "--dtypes",
        nargs="+",
        default=["auto"],
        choices=["auto", "float32", "bfloat16", "int8"],
        help="number formats of longsearch (default: what this machine would choose)",
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--cpu-time", action="store_true", help="count the processor's time, on a busy machine")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    texts = read_texts(arguments.files, arguments.characters)
    ours = [f"longsearch {dtype} {as_decimals(width)}" for dtype in arguments.dtypes for width in arguments.widths]
    theirs = peers()
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    models = load_models([*ours, *theirs])
    speeds = take_turns(models, texts, arguments.rounds, clock)
    print(f"processor: {flags()}")
    print(f"{len(texts)} texts, {sum(map(len, texts)):,} characters, {arguments.threads} threads; medians of rounds")
    print(f"{batches(models)}; longsearch reads each text in one pass")
    print(table(speeds, theirs))


if __name__ == "__main__":
    main()
