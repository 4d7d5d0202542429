"""Formats results as a table for people, and as JSON for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from longsearch.engine.evaluation.longembed import is_synthetic
from longsearch.engine.evaluation.metrics import ACCURACY, METRICS, Interval
from longsearch.engine.printable import printable
from longsearch.engine.widths import Width, as_fractions


@dataclass(frozen=True, slots=True)
class Result:
    """One system on one dataset."""

    dataset: str
    system: str
    n_queries: int
    metrics: dict[str, Interval]
    seconds: float
    """Wall time, including shared work that this system was the first to need."""

    @property
    def label(self) -> str:
        """Dataset and system, for a line of progress."""
        return f"{self.dataset} {self.system}"


@dataclass(frozen=True, slots=True)
class WidthResult(Result):
    """One system on one dataset, with documents at one width and queries at another (fractions of the heads)."""

    documents_width: Width
    queries_width: Width

    @property
    def label(self) -> str:
        """Dataset, system and both widths, for a line of progress."""
        widths = f"documents {as_fractions(self.documents_width)}, queries {as_fractions(self.queries_width)}"
        return f"{self.dataset} {self.system}, {widths}:"


def as_table(results: list[Result], metric: str = METRICS[0]) -> str:
    """Format a table with a row for each dataset and a column for each system, in per cent.

    In the table of nDCG@10, passkey and needle tasks have a second row with Acc@1, LongEmbed's metric for them.
    ± is half the width of the 95 % bootstrap interval. Means are over the datasets that every system ran, separately
    for sets and synthetic tasks.
    """
    systems = list(dict.fromkeys(result.system for result in results))
    names = list(dict.fromkeys(result.dataset for result in results))
    rows = [[metric, *systems]]
    for name in names:
        for shown in _metrics(name, metric):
            intervals = _intervals(results, shown)
            label = printable(name) + _label(shown, metric)
            rows.append([label, *(_cell(intervals.get((name, system))) for system in systems)])
    return _aligned([*rows, *_means(results, names, systems, metric)])


def progress(result: Result) -> str:
    """Format a result as one line: dataset, system, nDCG@10 in per cent, Acc@1 of a synthetic task, and seconds."""
    shown = [f"{100 * result.metrics[metric].mean:.1f}" for metric in _metrics(result.dataset, METRICS[0])]
    return f"{result.label} {', acc@1 '.join(shown)} ({result.seconds:.1f} s)"


def as_width_tables(results: list[WidthResult], metric: str = METRICS[0]) -> str:
    """Format a table for each system on each dataset, with rows for documents' widths and columns for queries' widths.

    Means over several datasets follow, separately for sets and synthetic tasks.
    """
    tables = []
    for system in dict.fromkeys(result.system for result in results):
        of_system = [result for result in results if result.system == system]
        names = list(dict.fromkeys(result.dataset for result in of_system))
        for name in names:
            for shown in _metrics(name, metric):
                title = f"{printable(name)}, {system}, {_named(shown)}"
                tables.append(_width_table(title, [r for r in of_system if r.dataset == name], shown))
        for kind, chosen in _kinds(names):
            for shown in _metrics(chosen[0], metric):
                title = f"mean of {len(chosen)} {kind}, {system}, {_named(shown)}"
                tables.append(_width_table(title, [r for r in of_system if r.dataset in chosen], shown))
    return "\n\n".join(tables)


def as_json(results: Sequence[Result]) -> str:
    """Format all results as JSON."""
    return json.dumps({"results": [asdict(result) for result in results]}, indent=1)


def _means(results: list[Result], names: list[str], systems: list[str], metric: str) -> list[list[str]]:
    """Return rows with the mean of the sets, and of the synthetic tasks, that every system ran."""
    rows = []
    ran = _intervals(results, metric)
    shared = [name for name in names if all((name, system) in ran for system in systems)]
    for kind, chosen in _kinds(shared):
        for shown in _metrics(chosen[0], metric):
            intervals = _intervals(results, shown)
            means = [np.mean([intervals[name, system].mean for name in chosen]) for system in systems]
            label = f"mean of {len(chosen)} {kind}{_label(shown, metric)}"
            rows.append([label, *(f"{100 * mean:.1f}" for mean in means)])
    return rows


def _kinds(names: list[str]) -> list[tuple[str, list[str]]]:
    """Return (kind, names) for sets and for synthetic tasks, each only if there are several to take a mean of."""
    sets = [name for name in names if not is_synthetic(name)]
    tasks = [name for name in names if is_synthetic(name)]
    return [(kind, chosen) for kind, chosen in (("sets", sets), ("synthetic tasks", tasks)) if len(chosen) > 1]


def _width_table(title: str, results: list[WidthResult], metric: str) -> str:
    """Format the table of one system: its intervals on one dataset, or its means over several."""
    widths = list(dict.fromkeys(result.documents_width for result in results))
    rows = [[title, *(f"queries {as_fractions(width)}" for width in widths)]]
    for documents in widths:
        row = [f"documents {as_fractions(documents)}"]
        for queries in widths:
            pair = (documents, queries)
            intervals = [r.metrics[metric] for r in results if (r.documents_width, r.queries_width) == pair]
            row.append(
                _cell(intervals[0]) if len(intervals) == 1 else f"{100 * np.mean([i.mean for i in intervals]):.1f}"
            )
        rows.append(row)
    return _aligned(rows)


def _metrics(dataset: str, metric: str) -> tuple[str, ...]:
    """Return the metrics that a table of `metric` shows for a dataset."""
    return (metric, ACCURACY) if metric == METRICS[0] and is_synthetic(dataset) else (metric,)


def _label(shown: str, metric: str) -> str:
    return "" if shown == metric else f", {_named(shown)}"


def _named(metric: str) -> str:
    return "acc@1" if metric == ACCURACY else metric


def _intervals(results: list[Result], metric: str) -> dict[tuple[str, str], Interval]:
    """Map (dataset, system) to the interval of a metric."""
    return {(result.dataset, result.system): result.metrics[metric] for result in results}


def _cell(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{100 * interval.mean:.1f} ±{50 * (interval.high - interval.low):.1f}"


def _aligned(rows: list[list[str]]) -> str:
    """Format a table in Markdown: the first row is its head, and the first column is aligned to the left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        lines.append(f"| {' | '.join(cells)} |")
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
