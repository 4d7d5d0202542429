"""Calibrates an index: measures, with the model at hand, what queries that mean nothing find in it."""

import logging
from collections.abc import Callable

from longsearch.engine.arrays import Vectors
from longsearch.engine.search import background
from longsearch.engine.search.chance import measure
from longsearch.engine.store.store import Store

log = logging.getLogger("longsearch.calibrating")


def calibrate(store: Store, encode: Callable[[str], Vectors], must_stop: Callable[[], bool] = lambda: False) -> bool:
    """Measure the background of an index if it has none, or has changed much since: some seconds.

    `encode` returns the vector of a query; it is not called if nothing is to be measured. Returns whether a background
    was measured.
    """
    with store.reading() as db:
        if not background.is_stale(db):
            return False
    found = measure(store, encode, must_stop)
    if found is None:
        return False
    with store.changing() as db:
        background.keep(db, found)
    log.info("calibrated %s", store.path.name)
    return True
