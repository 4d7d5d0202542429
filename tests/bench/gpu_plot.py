"""Plots the figures of `gpu.py`: `python tests/bench/gpu_plot.py gpu.json gpu.png`. Needs matplotlib."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def plot(source: Path, target: Path) -> str:
    """Plot time and memory by length, and speed by V; return a line for the user."""
    try:
        import matplotlib
    except ImportError:
        return f"no plot: matplotlib is not installed; later: python tests/bench/gpu_plot.py {source} {target}"
    matplotlib.use("Agg")
    from matplotlib import pyplot

    measured = json.loads(source.read_text("utf-8"))
    rows = [row for row in measured["rows"] if row["seconds"]]
    figure, (time_axes, memory_axes, speed_axes) = pyplot.subplots(1, 3, figsize=(16, 4.8), layout="constrained")
    for label, curve in by_length(rows).items():
        lengths = [row["cell"]["tokens"] for row in curve]
        time_axes.plot(
            lengths, [1e6 * row["seconds"] / n for row, n in zip(curve, lengths, strict=True)], ".-", label=label
        )
        memory_axes.plot(lengths, [row["peak_gib"] for row in curve], ".-", label=label)
    for label, curve in by_size(rows).items():
        speed_axes.plot(
            [row["cell"]["vertical_size"] for row in curve], [row["tokens_per_s"] for row in curve], ".-", label=label
        )
    titles = {
        time_axes: ("Time a token, one document", "tokens of the document", "microseconds"),
        memory_axes: ("Peak memory, one document", "tokens of the document", "GiB, weights included"),
        speed_axes: ("Speed by vertical chunk", "V", "tokens a second"),
    }
    for axes, (title, x, y) in titles.items():
        axes.set(title=title, xlabel=x, ylabel=y, xscale="log", ylim=(0, None))
        axes.set_xscale("log", base=2)
        axes.legend(fontsize="small")
    about = measured["about"]
    figure.suptitle(
        ", ".join(f"{key} {about[key]}" for key in ("card", "date", "torch", "triton", "mamba-ssm", "matmul"))
    )
    figure.savefig(target, dpi=110)
    return f"plot: {target}"


def by_length(rows: list[Row]) -> dict[str, list[Row]]:
    """Curves by length for one document: each model whole, and at each V used for several lengths."""

    def label(row: Row) -> str:
        cell = row["cell"]
        whole = cell["vertical_size"] >= cell["tokens"]
        return cell["model"] + (", whole" if whole else f", V = {cell['vertical_size']}")

    curves = _grouped([row for row in rows if row["cell"]["batch"] == 1], label, "tokens")
    return {label: curve for label, curve in curves.items() if len(curve) > 1}


def by_size(rows: list[Row]) -> dict[str, list[Row]]:
    """Curves by V, for each model, batch and length that was read with several V."""

    def label(row: Row) -> str:
        cell = row["cell"]
        return f"{cell['model']}, batch {cell['batch']}, {cell['tokens']:,} tokens"

    vertical = [row for row in rows if row["cell"]["vertical_size"] < row["cell"]["tokens"]]
    curves = _grouped(vertical, label, "vertical_size")
    return {label: curve for label, curve in curves.items() if len(curve) > 1}


def _grouped(rows: list[Row], label: Callable[[Row], str], by: str) -> dict[str, list[Row]]:
    curves: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["cell"][by]):
        curves.setdefault(label(row), []).append(row)
    return curves


if __name__ == "__main__":
    print(plot(Path(sys.argv[1]), Path(sys.argv[2])))
