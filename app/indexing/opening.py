"""Opens an index for writing, with the pipeline that reads files into it; and does so for the models of this process.

In this process child processes extract the texts, and a model of the process reads them.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.folders.indexes import locked
from longsearch.app.folders.local_copy import prepare, publish_changes
from longsearch.app.indexing.recipe import Job, Open, OpenIndex
from longsearch.app.indexing.scans import recognition
from longsearch.app.models.turns import Models
from longsearch.app.paths import calibration_path, url_of, working_path
from longsearch.app.settings.reading import current, require_sound
from longsearch.app.user_data.settings_copies import note_settings
from longsearch.engine.store.salvage import look_for_damage
from longsearch.engine.store.session import Session
from longsearch.engine.store.store import Store
from longsearch.indexer.describing import Extractor
from longsearch.indexer.encoders import DocumentEncoder
from longsearch.indexer.extract.formats import use_adapters
from longsearch.indexer.extract.pdf.recognition import Recognition
from longsearch.indexer.extract.pool import ExtractorPool
from longsearch.indexer.pipeline import Pipeline
from longsearch.indexer.sources.fetching import FetchingExtractor
from longsearch.indexer.sources.objects import ObjectStore
from longsearch.indexer.sources.source import Folder, Source

if TYPE_CHECKING:
    from longsearch.engine.inference.opening import AnyEncoder

log = logging.getLogger("longsearch.indexing")

CALIBRATE_FROM_TOKENS = 200_000
"""Measure the fastest slice size (3 s) only if at least this many tokens wait: half a minute of work or more."""


@contextmanager
def open_pipeline(
    root: Path,
    encoder: DocumentEncoder,
    should_stop: Callable[[], bool],
    ocr: str | None = None,
    path: Path | None = None,
    extractor: Callable[[Source, Recognition | None], Extractor] | None = None,
) -> Iterator[tuple[Pipeline, Store]]:
    """Open the pipeline of `root`, for one thread. Only one process at a time can have it open.

    `ocr`: languages for OCR of pages without text, from the settings; None: only of pages that are known.
    `path`: the index file, if it is not the one in use. `extractor` makes what reads texts in place of child processes
    here. Raises IndexLockedError at once if another process has it open, StoreError if the index cannot be written,
    LongsearchError if the config file holds a mistake.
    """

    require_sound()
    note_settings()
    use_adapters(current().adapters)
    wanted = recognition(root, ocr)
    with locked(root):
        if path is None:
            prepare(root)
            look_for_damage(working_path(root))
        opened = Store.open(path or working_path(root), root=root)
        with opened as store, ExtractorPool(ocr=wanted, should_stop=should_stop) as own:
            source, at_home = _source_of(root, own)
            chosen = at_home if extractor is None else extractor(source, wanted)
            yield Pipeline(root, store, chosen, encoder, should_stop, source), store
            store.tidy()
            if path is None:
                publish_changes(root, store)


def _source_of(root: Path, own: ExtractorPool) -> tuple[Source, Extractor]:
    """Return where the files of a root lie, and what reads them on this machine."""
    if not (url := url_of(root)):
        return Folder(root), own
    store = ObjectStore(url, root)
    return store, FetchingExtractor(store, own)


def opens_here(models: Models) -> Open:
    """Return what opens an index for these models. They are loaded only if there is new text: that takes a second."""

    @contextmanager
    def open_index(root: Path, job: Job, name: str, path: Path | None) -> Iterator[OpenIndex]:
        model = models.of(name)

        def load() -> "AnyEncoder":
            job.announce("loading the model")
            return model.loaded()

        with open_pipeline(root, model, job.must_stop, job.ocr, path) as (pipeline, store):
            yield OpenIndex(pipeline, store, model, partial(_embed, pipeline, store, load), pipeline.deepen)

    return open_index


def _embed(pipeline: Pipeline, store: Store, load: Callable[[], "AnyEncoder"]) -> bool:
    """Embed the documents that wait, in slices of the size that is fastest here. Returns whether all of them are done.

    `load` returns the model; it is not called if no document waits.
    """
    if store.pending(limit=1):
        tune(load(), store)
    return pipeline.embed()


def tune(encoder: "AnyEncoder", session: Session) -> None:
    """Set the encoder's slice size (V) to the fastest on this machine; measure first if many tokens wait."""
    from longsearch.engine.inference.numpy_encoder import NumpyEncoder

    if isinstance(encoder, NumpyEncoder):  # its V fits its threads
        return
    from longsearch.engine.inference.calibration import calibrated_size

    progress = session.progress()
    may_measure = progress.n_tokens - progress.n_tokens_embedded >= CALIBRATE_FROM_TOKENS
    try:
        size = calibrated_size(encoder, calibration_path(), may_measure)
    except OSError as error:  # indexing goes on without the cache
        log.warning("the fastest slice size was not saved: %s", error)
        return
    encoder.vertical_size = size or encoder.vertical_size
