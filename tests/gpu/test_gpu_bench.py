"""Runs the GPU benchmark on tiny shapes without a GPU, so that it is known to work before a GPU is at hand."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"


def test_the_benchmark_runs_from_end_to_end_on_tiny_shapes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "gpu.py", "--smoke", "--out", tmp_path], capture_output=True, text=True, check=True
    )
    assert "speed of Mamba2 7B / Transformer 7B, batch 2, 64 tokens" in done.stdout
    measured = json.loads((tmp_path / "gpu.json").read_text("utf-8"))
    assert {row["cell"]["model"] for row in measured["rows"]} == {"Mamba2 1.3B", "Mamba2 7B", "Transformer 7B"}
    assert all(row["seconds"] > 0 for row in measured["rows"])
    assert {"date", "card", "torch", "matmul"} <= measured["about"].keys()


def test_cells_that_would_take_too_long_are_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCH)
    from gpu_timing import Cell, Row, why_leave_out

    last = Row(Cell("Transformer 7B", 1, 1000, 1000), seconds=2.0)
    mamba = Row(Cell("Mamba2 7B", 1, 1000, 1000), seconds=2.0)
    assert why_leave_out(None, last.cell, cell_s=25, left_s=100) == ""
    assert why_leave_out(mamba, Cell("Mamba2 7B", 1, 4000, 4000), 25, 100) == ""
    assert why_leave_out(last, Cell("Transformer 7B", 1, 4000, 4000), 25, 100) == "about 32 s, more than 25"
    assert why_leave_out(mamba, Cell("Mamba2 7B", 1, 4000, 4000), 25, 10) == "no time left"


def test_the_plot_is_drawn_or_says_what_it_needs(tmp_path: Path) -> None:
    cell = {"model": "Mamba2 7B", "batch": 1, "tokens": 64, "vertical_size": 32}
    rows = [
        {"cell": cell | {"tokens": n, "vertical_size": v}, "seconds": 0.1, "peak_gib": 1.0, "tokens_per_s": 10 * n}
        for n in (64, 128)
        for v in (16, 32, n)
    ]
    about = dict.fromkeys(("card", "date", "torch", "triton", "mamba-ssm", "matmul"), "x")
    (tmp_path / "gpu.json").write_text(json.dumps({"about": about, "rows": rows}), "utf-8")
    done = subprocess.run(
        [sys.executable, BENCH / "gpu_plot.py", tmp_path / "gpu.json", tmp_path / "gpu.png"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ("no plot: matplotlib is not installed" in done.stdout) != (tmp_path / "gpu.png").exists()
