"""Draws the figures of `sweeps.py` as SVG: `python tests/bench/sweep_plots.py sweeps.json`. Needs matplotlib.

The plots have no background, and their colours are of middle brightness: they can be read on white and on black.
"""

import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

Row = dict[str, Any]
_GREY = "#808890"
_COLOURS = {"Mamba2": "#d9822b", "RWKV-7": "#2f9e73", "xLSTM": "#5b8def", "bundled": "#c45bb0"}
_MARKS = {"Mamba2": "o", "RWKV-7": "s", "xLSTM": "^", "bundled": "D"}
_LONG_NUMBER = re.compile(r"\d+\.\d{3,}")
_STYLE = {
    "svg.fonttype": "none",  # letters stay text: small files, which can be searched
    "svg.hashsalt": "longsearch",  # the same figures give the same bytes
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "sans-serif"],
    "font.size": 10,
    "text.color": _GREY,
    "axes.labelcolor": _GREY,
    "axes.edgecolor": _GREY,
    "axes.titlesize": 11,
    "axes.titlecolor": _GREY,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "axes.grid": True,
    "grid.color": _GREY,
    "grid.alpha": 0.25,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.markersize": 5,
    "savefig.transparent": True,
}


def draw(source: Path) -> list[str]:
    """Draw four plots beside the JSON file. Returns their paths."""
    mpl.use("Agg")
    from matplotlib import pyplot

    rows: list[Row] = json.loads(source.read_text("utf-8"))["rows"]
    paths = []
    with mpl.rc_context(_STYLE):
        for name, draw_on, size in (
            ("by-Q", _by_block, (9, 3.4)),
            ("by-V", _by_slice, (9, 6.6)),
            ("by-length", _by_length, (9, 3.6)),
            ("by-width", _by_width, (9, 3.4)),
        ):
            figure = pyplot.figure(figsize=size, layout="constrained")
            draw_on(figure, rows)
            path = source.with_name(f"sweep-{name}.svg")
            figure.savefig(path, metadata={"Date": None})
            pyplot.close(figure)
            path.write_text(_LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", path.read_text("utf-8")), "utf-8")
            paths.append(f"plot: {path}")
    return paths


def _by_block(figure: Any, rows: list[Row]) -> None:
    """Figure 3 of the paper: the time of the horizontal pass by Q; and its memory."""
    time_axes, memory_axes = figure.subplots(1, 2)
    swept = [row for row in rows if row["sweep"] == "Q"]
    for model, curve in _curves(swept, "Q").items():
        best = min(row["seconds"] for row in curve)
        _line(time_axes, model, curve, "Q", [row["seconds"] / best for row in curve])
        _line(memory_axes, model, curve, "Q", [row["added_mib"] for row in curve])
    n = max(row["tokens"] for row in swept)
    _axes(time_axes, f"Time by Q, {n:,} tokens at once", "Q in tokens", "times the shortest")
    _axes(memory_axes, "Memory by Q", "Q in tokens", "MiB")
    time_axes.legend()


def _by_slice(figure: Any, rows: list[Row]) -> None:
    """Figure 4: time and memory by V, for one document and for a batch, against the horizontal pass."""
    swept = [row for row in rows if row["sweep"] == "V"]
    batches = sorted({row["batch"] for row in swept})
    for (time_axes, memory_axes), batch in zip(figure.subplots(len(batches), 2, squeeze=False), batches, strict=True):
        of_batch = [row for row in swept if row["batch"] == batch]
        for model, curve in _curves(of_batch, "V").items():
            whole = curve[-1]
            _line(time_axes, model, curve, "V", [row["seconds"] / whole["seconds"] for row in curve])
            _line(memory_axes, model, curve, "V", [row["added_mib"] for row in curve])
        n = of_batch[0]["tokens"]
        read = f"one document of {n:,} tokens" if batch == 1 else f"{batch} documents of {n:,} tokens"
        _axes(time_axes, f"Time by V, {read}", "V in tokens", "times the horizontal pass")
        time_axes.axhline(1, color=_GREY, linewidth=1, linestyle=":")
        _axes(memory_axes, "Memory by V", "V in tokens", "MiB")
    figure.axes[0].legend()


def _by_length(figure: Any, rows: list[Row]) -> None:
    """Figure 5: memory by length, vertical (solid) and horizontal (dashed)."""
    swept = [row for row in rows if row["sweep"] == "length"]
    V = min(row["V"] for row in swept if row["V"] < row["tokens"])
    vertical_axes, memory_axes = figure.subplots(1, 2)
    for model, curve in _curves([row for row in swept if row["V"] == V], "tokens").items():
        _line(vertical_axes, model, curve, "tokens", [row["added_mib"] for row in curve])
        _line(memory_axes, model, curve, "tokens", [row["added_mib"] for row in curve])
    for model, curve in _curves([row for row in swept if row["V"] >= row["tokens"]], "tokens").items():
        values = [row["added_mib"] for row in curve]
        _line(memory_axes, model, curve, "tokens", values, linestyle="--", label="_")
    _axes(vertical_axes, f"Memory by length, vertical (V = {V:,})", "tokens in the document", "MiB")
    _axes(memory_axes, "The same, and horizontal (dashed)", "tokens in the document", "MiB")
    memory_axes.set(yscale="log", ylim=(1, None))
    memory_axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    vertical_axes.legend()


def _by_width(figure: Any, rows: list[Row]) -> None:
    """What a width of MatMamba saves (arXiv 2410.06718): latency and memory of the bundled model."""
    widths = {f"bundled at {width}": float(Fraction(width)) for width in ("1/8", "1/4", "1/2", "1")}
    swept = sorted((row for row in rows if row["model"] in widths), key=lambda row: widths[row["model"]])
    time_axes, memory_axes = figure.subplots(1, 2)
    longest = max(row["tokens"] for row in swept)
    for tokens, mark in zip(sorted({row["tokens"] for row in swept}), "os", strict=True):
        curve = [row for row in swept if row["tokens"] == tokens]
        style = {"color": _COLOURS["bundled"], "marker": mark, "label": f"{tokens:,} tokens"}
        time_axes.plot([widths[row["model"]] for row in curve], [1000 * row["seconds"] for row in curve], **style)
        if tokens == longest:
            memory_axes.plot([widths[row["model"]] for row in curve], [row["added_mib"] for row in curve], **style)
    _axes(time_axes, "Latency by width", "width", "ms")
    _axes(memory_axes, f"Memory by width, {longest:,} tokens", "width", "MiB added")
    time_axes.set_ylim(1, None)
    time_axes.set_yscale("log")
    time_axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    for axes in (time_axes, memory_axes):
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: str(Fraction(value).limit_denominator(8))))
    time_axes.legend()


def _curves(rows: list[Row], by: str) -> dict[str, list[Row]]:
    """Return the rows of each model, by `by`."""
    curves: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row[by]):
        curves.setdefault(row["model"], []).append(row)
    return {model: curves[model] for model in _COLOURS if model in curves}


def _line(axes: Axes, model: str, curve: list[Row], by: str, values: list[float], **style: Any) -> None:
    options = {"color": _COLOURS[model], "marker": _MARKS[model], "label": model, **style}
    axes.plot([row[by] for row in curve], values, **options)


def _axes(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set(title=title, xlabel=x, ylabel=y, xscale="log", ylim=(0, None))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axes.xaxis.set_minor_locator(NullLocator())


def _short(tokens: float) -> str:
    """Write 2048 as 2k and 1,048,576 as 1M."""
    for unit, size in (("M", 2**20), ("k", 2**10)):
        if tokens >= size:
            return f"{tokens / size:g}{unit}"
    return f"{tokens:g}"


if __name__ == "__main__":
    print(*draw(Path(sys.argv[1])), sep="\n")
