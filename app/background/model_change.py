"""Reads a folder again with another model, into an index file of its own, while the old index answers.

Used by the daemon and by `longsearch index`. Knows no weights: callers pass the model.
"""

from collections.abc import Callable
from pathlib import Path

from longsearch.app.library import open_pipeline
from longsearch.app.models.encoders import embed_waiting
from longsearch.app.models.folder_models import FolderModel, finish_change, folder_model
from longsearch.app.models.turns import Models
from longsearch.app.paths import index_path
from longsearch.engine.amounts import counted
from longsearch.engine.errors import StoreError
from longsearch.engine.store.session import Session
from longsearch.engine.store.store import Store


def read_again(
    root: Path, folder: FolderModel, models: Models, should_stop: Callable[[], bool], ocr: str | None
) -> tuple[bool, tuple[str, ...]]:
    """Go on with the reading, and put the new index in use once it is complete.

    Returns whether nothing is left to do, as where no change is under way, and why the new index must wait. The old
    index must be in step with the disk: a file that it holds and that cannot be read now, as on a drive that is away,
    keeps it in use.
    """
    if folder.next_path is None:
        return True, ()
    model = models.of(folder.next_model)
    wanted = readable_files(root)
    with open_pipeline(root, model, should_stop, ocr, folder.next_path) as (pipeline, store):
        summary = pipeline.read()
        if not (embed_waiting(pipeline, store, model.loaded) and summary.finished):
            return False, ()
    return True, put_in_use(root, folder, wanted)


def readable_files(root: Path) -> frozenset[str]:
    """Return the paths of the files that the index in use holds and could read."""
    with Store.open(index_path(root), read_only=True) as old:
        return frozenset(path for path, file in old.catalogue().items() if not file.failed)


def put_in_use(root: Path, folder: FolderModel, wanted: frozenset[str]) -> tuple[str, ...]:
    """Put the new index in use if it holds the wanted files. Returns why it must wait, if it must."""
    assert folder.next_path is not None  # noqa: S101 - a change is under way
    with Store.open(folder.next_path, read_only=True) as new:
        n_missing = len(wanted - set(new.catalogue()))
    if n_missing:
        files = counted(n_missing, "file")
        return (f"{files} cannot be read again with the model {folder.next_model} now: the old index stays",)
    finish_change(root, folder)
    return ()


def describe_change(root: Path) -> str:
    """Say how far the folder is read again with another model; "" if no change is under way."""
    folder = folder_model(root)
    if folder.next_path is None:
        return ""
    try:
        with Session.open(folder.next_path, read_only=True) as session:
            progress = session.progress()
    except StoreError:  # not begun
        return f"about to be read again with the model {folder.next_model}"
    share = progress.n_tokens_embedded / max(1, progress.n_tokens)
    return f"reading again with the model {folder.next_model}: {share:.0%}"
