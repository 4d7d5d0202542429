"""Formats results as a table for people, and as JSON for programs."""

import json
from dataclasses import asdict, dataclass

import numpy as np

from longsearch.engine.evaluation.longembed import task_names
from longsearch.engine.evaluation.metrics import METRICS, Interval
from longsearch.engine.printable import printable


@dataclass(frozen=True, slots=True)
class Result:
    """One system on one dataset."""

    dataset: str
    system: str
    n_queries: int
    metrics: dict[str, Interval]
    seconds: float
    """Wall time, including shared work that this system was the first to need."""


def as_table(results: list[Result], metric: str = METRICS[0]) -> str:
    """Format a table with a row for each dataset and a column for each system, in per cent.

    ± is half the width of the 95 % bootstrap interval. Means are over the datasets that every system ran, separately
    for sets and generated tasks.
    """
    systems = list(dict.fromkeys(result.system for result in results))
    datasets = list(dict.fromkeys(result.dataset for result in results))
    found = {(r.dataset, r.system): r.metrics[metric] for r in results}
    rows = [[metric, *systems]]
    for name in datasets:
        rows.append([printable(name), *(_cell(found.get((name, system))) for system in systems)])
    shared = [name for name in datasets if all((name, system) in found for system in systems)]
    for names in ([n for n in shared if not task_names(n)], [n for n in shared if task_names(n)]):
        if len(names) > 1:
            means = [np.mean([found[name, system].mean for name in names]) for system in systems]
            kind = "generated tasks" if task_names(names[0]) else "sets"
            rows.append([f"mean of {len(names)} {kind}", *(f"{100 * mean:.1f}" for mean in means)])
    return _aligned(rows)


def as_json(results: list[Result]) -> str:
    """Format all results as JSON."""
    return json.dumps({"results": [asdict(result) for result in results]}, indent=1)


def _cell(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{100 * interval.mean:.1f} ±{50 * (interval.high - interval.low):.1f}"


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        lines.append(f"| {' | '.join(cells)} |")
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
