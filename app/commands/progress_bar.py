"""The progress bar of `longsearch index`. It reads the index file, as any process may, and slows nothing down."""

import threading
import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from longsearch.engine.amounts import duration, quantity
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.opening import open_index
from longsearch.engine.printable import printable
from longsearch.engine.types.progress import IndexProgress, pause_s

REDRAW_S = 0.25


class ProgressBar:
    """A context manager that shows a bar on stderr, if stderr is a terminal."""

    def __init__(self, index: Path, quiet: bool, deepens: bool = False) -> None:
        """`index`: the index file, which need not exist yet. `quiet`: show nothing.

        `deepens`: what was read at part of the model's width counts as not read yet.
        """
        self._index = index
        self._deepens = deepens
        self._stopping = threading.Event()
        self._announced = ""
        console = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[files]}", markup=False, table_column=Column(no_wrap=True)),
            BarColumn(bar_width=20),
            # takes the rest of the line: a long file name is cut, the other columns never are
            TextColumn("{task.fields[detail]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
            TimeElapsedColumn(),
            expand=True,
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )
        self._thread = threading.Thread(target=self._redraw_until_stopped, daemon=True)

    def __enter__(self) -> "ProgressBar":
        if not self._progress.disable:  # else the thread would read the index for nothing
            self._progress.start()
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        if not self._progress.disable:
            self._thread.join()
            self._progress.stop()

    def announce(self, activity: str) -> None:
        """Show this activity while the index itself names none."""
        self._announced = activity

    def _redraw_until_stopped(self) -> None:
        task = self._progress.add_task("", total=None, files="", detail="")
        took_s = 0.0
        while not self._stopping.wait(pause_s(REDRAW_S, took_s)):
            began = time.monotonic()
            try:
                with open_index(self._index) as index:
                    self._show(task, index.progress())
            except LongsearchError:  # the index does not exist yet
                self._progress.update(task, files="", detail=self._announced)
            took_s = time.monotonic() - began

    def _show(self, task: TaskID, progress: IndexProgress) -> None:
        if self._deepens:
            progress = replace(progress, n_tokens_embedded=progress.n_tokens_embedded - progress.n_tokens_narrow)
        done = progress.n_files - progress.n_waiting
        self._progress.update(
            task,
            total=progress.n_tokens or None,
            completed=progress.n_tokens_embedded,
            files=f"{done:,}/{progress.n_files:,} files" if progress.n_files else "",
            detail=describe_progress(progress) or self._announced,
        )


def describe_progress(progress: IndexProgress) -> str:
    """Return the time left, the rate and the current activity in a few words; "" if there is no activity."""
    if not progress.activity:
        return ""
    parts = []
    if progress.tokens_per_s:
        if progress.eta_s:
            parts.append(f"{duration(progress.eta_s)} left")
        tokens = f"{quantity(progress.n_tokens_embedded)}/{quantity(progress.n_tokens)} tokens"
        parts.append(f"{tokens}, {quantity(round(progress.tokens_per_s))}/s")
    return ", ".join([*parts, printable(progress.activity)[:60]])
