"""Work on a folder for moments when nobody searches and the machine is on mains. It may be stopped at any time."""

from collections.abc import Callable, Sequence

from longsearch.app.daemon.watched_folder import WatchedFolder
from longsearch.app.indexing import scans
from longsearch.app.indexing.opening import open_pipeline
from longsearch.app.settings.reading import current
from longsearch.indexer.encoders import DocumentEncoder

Work = Callable[[WatchedFolder, DocumentEncoder, Callable[[], bool]], None]
"""Work on a folder with its model, until it should stop."""


def next_with_scans(folders: Sequence[WatchedFolder]) -> WatchedFolder | None:
    """Return a folder whose scanned pages are wished for, if tesseract is there."""
    scanned = (one for one in folders if one.is_scanned and not one.is_postponed() and scans.is_wished(one.root))
    folder = next(scanned, None)
    return None if folder is None or scans.problem() else folder


def next_work(folders: Sequence[WatchedFolder]) -> tuple[WatchedFolder, Work] | None:
    """Return a folder and work that is left there: scanned pages that are wished for, then narrow documents."""
    if scanned := next_with_scans(folders):
        return scanned, read_scans
    narrow = (one for one in folders if one.is_narrow and not one.is_postponed()) if current().deepen else ()
    return next(((folder, deepen) for folder in narrow), None)


def read_scans(folder: WatchedFolder, model: DocumentEncoder, should_stop: Callable[[], bool]) -> None:
    """Read the files with scanned pages again, by OCR. Pages that were done before a stop are not done again.

    Their vectors are made afterwards, as those of other changed files are.
    """
    with open_pipeline(folder.root, model, should_stop, scans.languages()) as (pipeline, store):
        store.ask_for_scans()
        try:
            is_finished = pipeline.read().finished and not should_stop()
        finally:
            store.ask_for_scans(False)
        folder.is_scanned = not is_finished  # what failed is tried again after the next sweep
        folder.note_changed(bool(store.pending(limit=1)))


def deepen(folder: WatchedFolder, model: DocumentEncoder, should_stop: Callable[[], bool]) -> None:
    """Read narrow documents again at full width."""
    with open_pipeline(folder.root, model, should_stop, current().ocr) as (pipeline, store):
        pipeline.deepen()
        folder.is_narrow = bool(store.narrow(limit=1))
