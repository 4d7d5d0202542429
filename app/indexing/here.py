"""Indexes a folder in this process: child processes extract the texts, and the model of this process reads them."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.indexing.recipe import Job, Open, OpenIndex
from longsearch.app.library import open_pipeline
from longsearch.app.models.turns import Models
from longsearch.app.paths import calibration_path

if TYPE_CHECKING:
    from longsearch.engine.inference.encoder import Encoder
    from longsearch.engine.store.session import Session
    from longsearch.engine.store.store import Store
    from longsearch.indexer.pipeline import Pipeline

log = logging.getLogger("longsearch.indexing")

CALIBRATE_FROM_TOKENS = 200_000
"""Measure the fastest slice size (3 s) only if at least this many tokens wait: half a minute of work or more."""


def opens_here(models: Models) -> Open:
    """Return what opens an index for these models. They are loaded only if there is new text: that takes a second."""

    @contextmanager
    def open_index(root: Path, job: Job, name: str, path: Path | None) -> Iterator[OpenIndex]:
        model = models.of(name)

        def load() -> "Encoder":
            job.announce("loading the model")
            return model.loaded()

        with open_pipeline(root, model, job.must_stop, job.ocr, path) as (pipeline, store):
            yield OpenIndex(pipeline, store, model, partial(_embed, pipeline, store, load), pipeline.deepen)

    return open_index


def _embed(pipeline: "Pipeline", store: "Store", load: Callable[[], "Encoder"]) -> bool:
    """Embed the documents that wait, in slices of the size that is fastest here. Returns whether all of them are done.

    `load` returns the model; it is not called if no document waits.
    """
    if store.pending(limit=1):
        tune(load(), store)
    return pipeline.embed()


def tune(encoder: "Encoder", session: "Session") -> None:
    """Set the encoder's slice size (V) to the fastest on this machine; measure first if many tokens wait."""
    from longsearch.engine.inference.calibration import calibrated_size

    progress = session.progress()
    may_measure = progress.n_tokens - progress.n_tokens_embedded >= CALIBRATE_FROM_TOKENS
    try:
        size = calibrated_size(encoder, calibration_path(), may_measure)
    except OSError as error:  # indexing goes on without the cache
        log.warning("the fastest slice size was not saved: %s", error)
        return
    encoder.vertical_size = size or encoder.vertical_size
