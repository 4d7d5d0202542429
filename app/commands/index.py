"""`longsearch index`: bring a folder's index up to date in the foreground."""

import os
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from app import daemon_control
from app.commands.status import describe, summarise
from app.encoders import tune
from app.library import IndexLockedError, open_pipeline
from app.paths import index_path, resolve_root
from app.resident import ResidentModel
from engine.amounts import duration, quantity
from engine.errors import LongsearchError
from engine.printable import printable
from engine.store.session import Session
from engine.types import FileStatus, IndexProgress
from indexer.extract.ocr import SETTING, needs_ocr, ocr_languages, require_tool
from indexer.pipeline import ReadSummary

_REDRAW_S = 0.25


def run(options: Namespace) -> int:
    """Index until all is current; files that cannot be read are rows with a reason, and no error."""
    root = resolve_root(options.folder)
    daemon_control.check_model(daemon_control.daemon_status())
    ocr = _ocr(options.ocr)
    stopping = threading.Event()
    with _Display(root, options.quiet, stopping) as display:
        try:
            summary = _index_here(root, options.retry_failed, ocr, display.announce)
        except IndexLockedError as error:
            if options.ocr:
                hint = f"stop the daemon first (longsearch daemon stop), or start it with {SETTING}=1"
                raise LongsearchError(error.message, hint) from error
            summary = _follow_daemon(root, options.retry_failed, display.announce)
    return _report(root, summary)


def _ocr(asked_for: bool) -> str | None:
    """Languages for OCR, None for no OCR. Raises LongsearchError where it is asked for and cannot be done."""
    languages = ocr_languages(os.environ)
    if asked_for:
        require_tool()
    return "" if asked_for and languages is None else languages


def _index_here(root: Path, retry_failed: bool, ocr: str | None, announce: Callable[[str], None]) -> ReadSummary:
    announce("looking through the folder")
    model = ResidentModel()  # not loaded, which takes a second or two, where nothing has changed
    with open_pipeline(root, model, lambda: False, ocr) as (pipeline, store):
        for note in store.notes:
            announce(note)
        if retry_failed:
            store.read_again()
        if ocr is not None:
            store.read_again(needs_ocr)
        summary = pipeline.read()
        if store.pending(limit=1):
            tune(model.loaded(), store)
        pipeline.embed()
    return summary


def _follow_daemon(root: Path, retry_failed: bool, announce: Callable[[str], None]) -> ReadSummary:
    """The daemon has this index: have it sweep, and watch until all is current."""
    announce("the daemon is indexing this folder")
    (daemon_control.retry if retry_failed else daemon_control.watch)(root)
    while state := daemon_control.root_status(root):
        if not state["busy"]:
            return ReadSummary(0, 0, 0, 0, (state["problem"],) if state["problem"] else (), finished=True)
        if state.get("failing"):
            raise LongsearchError(f"the daemon cannot index it: {state['problem']}", "it tries again twice a minute")
        time.sleep(_REDRAW_S)
    raise LongsearchError("the daemon ended", "run the same again: it goes on from here")


def _report(root: Path, summary: ReadSummary) -> int:
    """Say what came of it: the files that could not be read whole, and a line for all."""
    with Session.open(index_path(root), read_only=True) as session:
        progress, files = session.progress(), session.files()
    for file in files:
        if file.status in (FileStatus.FAILED, FileStatus.PARTIAL):
            print(describe(file))
    for problem in summary.problems:
        print(f"note: {printable(problem)}", file=sys.stderr)
    print(summarise(progress))
    return 0


class _Display:
    """A progress bar fed from the index file, as any other process would be: it cannot slow the work down."""

    def __init__(self, root: Path, quiet: bool, stopping: threading.Event) -> None:
        self._path = index_path(root)
        self._stopping = stopping
        self._doing = ""
        console = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[files]}", markup=False, table_column=Column(no_wrap=True)),
            BarColumn(bar_width=20),
            # of what the terminal has left: a long file name gives way, the figures never
            TextColumn("{task.fields[detail]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
            TimeElapsedColumn(),
            expand=True,
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )
        self._thread = threading.Thread(target=self._redraw_until_stopped, daemon=True)

    def __enter__(self) -> "_Display":
        if not self._progress.disable:  # nobody would see what the thread reads from the index
            self._progress.start()
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        if not self._progress.disable:
            self._thread.join()
            self._progress.stop()

    def announce(self, doing: str) -> None:
        """Say what is done before the index itself can."""
        self._doing = doing

    def _redraw_until_stopped(self) -> None:
        task = self._progress.add_task("", total=None, files="", detail="")
        while not self._stopping.wait(_REDRAW_S):
            try:
                with Session.open(self._path, read_only=True) as session:
                    self._show(task, session.progress())
            except LongsearchError:  # not made yet
                self._progress.update(task, files="", detail=self._doing)

    def _show(self, task: TaskID, progress: IndexProgress) -> None:
        done = progress.n_files - progress.n_waiting
        self._progress.update(
            task,
            total=progress.n_tokens or None,
            completed=progress.n_tokens_embedded,
            files=f"{done}/{progress.n_files} files",
            detail=describe_progress(progress) or self._doing,
        )


def describe_progress(progress: IndexProgress) -> str:
    """Rate, time left and what is being done, in a few words."""
    if not progress.activity:
        return ""
    parts = []
    if progress.tokens_per_s:
        if progress.eta_s:
            parts.append(f"{duration(progress.eta_s)} left")
        tokens = f"{quantity(progress.n_tokens_embedded)}/{quantity(progress.n_tokens)} tokens"
        parts.append(f"{tokens}, {quantity(round(progress.tokens_per_s))}/s")
    return ", ".join([*parts, printable(progress.activity)[:60]])
