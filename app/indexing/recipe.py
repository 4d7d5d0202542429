"""Brings the index of a folder in step with the disk: the one recipe of the command line, the daemon and a cluster.

The recipe reads texts, computes vectors, calibrates the index and notes the news of saved searches. Where another model
is to read the folder, it then does the same in a second index file, and puts that in use once it is complete. Knows
neither weights nor machines: the caller passes what opens an index and runs a model.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from longsearch.app.indexing.calibration import QueryModel, calibrate_and_note_news
from longsearch.app.models.folder_models import FolderModel, finish_change, follow_settings
from longsearch.app.paths import index_path
from longsearch.engine.amounts import counted
from longsearch.engine.index import opening
from longsearch.engine.store import files
from longsearch.engine.store.store import Store
from longsearch.indexer import retries
from longsearch.indexer.pipeline import Pipeline, ReadSummary


@dataclass(frozen=True, slots=True)
class Job:
    """What to do in a folder beside reading what is new."""

    only: frozenset[str] | None = None
    """The paths of the files to look at, relative to the root; None: all."""
    ocr: str | None = None
    """The languages of OCR for pages without text; None: only pages that were read before."""
    reread: bool = False
    """Whether to compare the bytes of every file with what was read of it."""
    again_by_ocr: bool = False
    """Whether to read the files with scanned pages again."""
    deepen: bool = False
    """Whether to read narrow documents again at full width."""
    wants_retry: Callable[[], bool] = lambda: False
    """Called once the index is locked; returns whether to read failed and partial files again."""
    must_stop: Callable[[], bool] = lambda: False
    announce: Callable[[str], None] = lambda _: None
    """Told what happens, in a few words."""


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """An index file that is open for writing, with what reads files into it."""

    pipeline: Pipeline
    store: Store
    model: QueryModel
    """Encodes queries."""
    embed: Callable[[], bool]
    """Computes the missing vectors; returns False if it was stopped."""
    deepen: Callable[[], bool]
    """Reads narrow documents again at full width; returns False if it was stopped."""
    losses: Callable[[], Iterable[str]] = tuple
    """Returns what went wrong and was mended."""


Open = Callable[[Path, Job, str, Path | None], AbstractContextManager[OpenIndex]]
"""Opens an index of a root for a job and a model: the index file at a path, or the one in use (None)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job."""

    summary: ReadSummary
    """The summary of the reading. Its problems are all that a person should know."""
    is_complete: bool
    """Whether nothing is left to read."""
    retry_in_s: float | None
    """Seconds until a file that failed is due for a retry; None if none is."""
    is_narrow: bool
    """Whether documents were read at part of the model's width."""
    is_scanned: bool
    """Whether files have pages that OCR could read."""


def index_folder(root: Path, job: Job, open_index: Open) -> Outcome:
    """Bring the index of a folder in step with the disk. Raises IndexLockedError if another process indexes it.

    An interruption loses nothing that was stored, and the next job goes on from there.
    """
    folder = follow_settings(root)
    is_changing = folder.next_path is not None
    job.announce("looking through the folder")
    with open_index(root, job, folder.model, None) as index:
        retry = job.wants_retry()
        # during a change of model the next index gets the vectors: this one is about to be replaced
        outcome = _read(index, job, retry, with_vectors=not is_changing)
        if not is_changing:
            _conclude(index, job)
    if not is_changing or not outcome.is_complete:
        return outcome
    job.announce(f"reading the folder again with the model {folder.next_model}")
    return _change_model(root, folder, replace(job, only=None, wants_retry=lambda: retry), open_index, outcome)


def _read(index: OpenIndex, job: Job, retry: bool, with_vectors: bool) -> Outcome:
    """Read the files, and then their vectors if they are wanted."""
    began_at, store = time.time(), index.store
    if retry:
        store.read_again()
    if job.reread:
        store.reread()
    if job.again_by_ocr:
        store.ask_for_scans()
    summary = index.pipeline.read(job.only)
    is_complete = summary.finished
    if with_vectors:
        is_complete = index.embed() and is_complete
        if job.deepen:
            is_complete = index.deepen() and is_complete
    return Outcome(
        replace(summary, problems=(*store.notes, *summary.problems, *index.losses())),
        is_complete,
        retries.wait_s(store.next_retry(after=began_at), time.time()),
        is_narrow=bool(store.narrow(limit=1)),
        is_scanned=store.progress().n_scanned > 0,
    )


def _conclude(index: OpenIndex, job: Job) -> None:
    job.announce("calibrating the index")
    calibrate_and_note_news(index.store, index.model, job.must_stop)


def _change_model(root: Path, folder: FolderModel, job: Job, open_index: Open, before: Outcome) -> Outcome:
    """Read a folder with its next model, and put that index in use once it is complete and calibrated.

    A file that the old index holds and that cannot be read now, as on a drive that is away, keeps the old one in use.
    `before`: what came of bringing the old index in step with the disk.
    """
    wanted = _readable_files(root)
    with open_index(root, job, folder.next_model, folder.next_path) as index:
        made = _read(index, job, job.wants_retry(), with_vectors=True)
        before = _with_problems(replace(before, is_complete=made.is_complete), made.summary.problems)
        if not made.is_complete:
            return before
        if n_missing := len(wanted - set(index.store.catalogue())):
            missing = counted(n_missing, "file")
            why = f"{missing} cannot be read again with the model {folder.next_model} now: the old index stays"
            return _with_problems(before, (why,))
        _conclude(index, job)
        if job.must_stop():
            return replace(before, is_complete=False)
    finish_change(root, folder)
    return replace(before, is_narrow=made.is_narrow, is_scanned=made.is_scanned)


def _with_problems(outcome: Outcome, problems: Iterable[str]) -> Outcome:
    """Return the outcome with these problems too, each once."""
    all_problems = tuple(dict.fromkeys((*outcome.summary.problems, *problems)))
    return replace(outcome, summary=replace(outcome.summary, problems=all_problems))


def _readable_files(root: Path) -> frozenset[str]:
    """Return the paths of the files that the index in use holds and could read."""
    with opening.open_index(index_path(root)) as old:
        return frozenset(path for path, file in files.catalogue(old.db).items() if not file.failed)
