"""Concludes the reading of a folder: calibrates its index, and notes the news of saved searches.

To calibrate is to measure, with the model at hand, what queries that mean nothing find in the index.
"""

import logging
from collections.abc import Callable
from typing import Any, Protocol

from longsearch.app.user_data.news import note_news
from longsearch.engine.arrays import Vectors
from longsearch.engine.index.index import keep
from longsearch.engine.index.opening import open_index
from longsearch.engine.search.calibration import is_stale
from longsearch.engine.search.chance import measure
from longsearch.engine.store.store import Store

log = logging.getLogger("longsearch.calibrating")


class QueryModel(Protocol):
    """The model of an index, as far as it encodes queries."""

    def vector_of(self, text: str) -> Vectors:
        """Return the vector of a query, with the model's own instruction."""

    def encode_query(self, text: str, instruction: str | None) -> Any:
        """Return the vector of a query, as `vector` of an object, with this instruction."""


def calibrate_and_note_news(store: Store, model: QueryModel, must_stop: Callable[[], bool] = lambda: False) -> None:
    """Calibrate an index if need be, then note which new passages answer saved searches."""
    calibrate(store, model.vector_of, must_stop)
    if not must_stop():
        with open_index(store.path) as index:
            note_news(index, lambda text, instruction: model.encode_query(text, instruction).vector)


def calibrate(store: Store, encode: Callable[[str], Vectors], must_stop: Callable[[], bool] = lambda: False) -> bool:
    """Measure the background of an index if it has none, or has changed much since: some seconds.

    `encode` returns the vector of a query; it is not called if nothing is to be measured. Returns whether a background
    was measured.
    """
    with open_index(store.path) as index:
        found = measure(index, encode, must_stop) if is_stale(index) else None
    if found is None:
        return False
    with store.changing() as db:
        keep(db, found)
    log.info("calibrated %s", store.path.name)
    return True
