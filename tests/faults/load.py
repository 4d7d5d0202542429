"""Processes that put load on an index: `python -m tests.faults.load read|write INDEX SECONDS`. Also makes the index.

A reader searches five times a second, like a person who types, and prints the milliseconds of each answer. A writer
replaces documents one after the other as fast as it can, at the daemon's low priority. It prints the largest log it saw
and how many documents it replaced.
"""

import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.store.connection import log_bytes
from longsearch.engine.store.excerpts import packed
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from longsearch.indexer.process_priority import lower_priority
from tests.engine.store.store_helpers import document, record

DIM = 384
PASSAGES = 200
_PACE_S = 0.2


def vectors_of(seed: int, n: int = PASSAGES) -> NDArray[np.float32]:
    """Return (n, DIM) unit vectors around 50 centres."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((50, DIM), dtype=np.float32)
    found = centres[random.integers(0, 50, n)] + 0.7 * random.standard_normal((n, DIM), dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def put(store: Store, number: int, seed: int) -> None:
    """Store in file `number` a document of 200 passages with vectors, all made from `seed`."""
    document_id = store.add_document(record(f"{number}.pdf"), *document(str(seed), PASSAGES))
    vectors = vectors_of(seed)
    excerpts = [packed(np.arange(5), np.repeat(vector[None], 5, axis=0), vector) for vector in vectors]
    store.add_vectors(document_id, 0, vectors, 9 * PASSAGES, bytes(2**20), excerpts)
    store.finish_embedding(document_id, vectors[0], 9 * PASSAGES)


def make_index(path: Path, n_passages: int) -> None:
    """Make an index of `n_passages`, as an idle indexer leaves it."""
    with Store.open(path, root=Path("/papers")) as store:
        store.use_model("model-a", DIM)
        for number in range(n_passages // PASSAGES):
            with store.changing():
                put(store, number, number)
        store.tidy()


def read(path: Path, seconds: float) -> None:
    queries = vectors_of(77)
    end = time.monotonic() + seconds
    took_ms = []
    for number in range(10**9):
        began = time.monotonic()
        if began > end:
            break
        with open_index(path) as index:
            query = parse(f"of apples {number % 40}")
            assert search([index], SearchRequest(query, SearchMode.HYBRID, [queries[number % PASSAGES]])).hits
        took_ms.append(1000 * (time.monotonic() - began))
        time.sleep(max(0.0, _PACE_S - (time.monotonic() - began)))
    print(*took_ms)


def write(path: Path, seconds: float) -> None:
    lower_priority()
    end = time.monotonic() + seconds
    largest, n_written = 0, 0
    with Store.open(path) as store:
        n_files = len(store.files())
        while time.monotonic() < end:
            put(store, n_written % n_files, n_files + n_written)
            n_written += 1
            largest = max(largest, log_bytes(path))
    print(largest, n_written)


if __name__ == "__main__":
    {"read": read, "write": write}[sys.argv[1]](Path(sys.argv[2]), float(sys.argv[3]))
