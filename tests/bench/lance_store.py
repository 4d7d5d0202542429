"""A store on LanceDB beside SQLite: `python tests/bench/lance_store.py --index DIR --passages 100000`.

Takes the invented index of `searching.py` (which builds it in DIR), publishes it beside, and searches both in turns, by
each mode. *Recall* is the share of the 20 nearest passages of all that an index of vectors finds. The times include
what a reader does between two searches: it asks once a second whether there is a newer publication.
"""

import argparse
import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
from searching import _prepare, _questions_of

from longsearch.engine.arrays import Vectors
from longsearch.engine.index.lance.publishing import publish
from longsearch.engine.index.lance.snapshot import newest
from longsearch.engine.index.opening import open_index
from longsearch.engine.json_files import replace_object
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode

_K = 20
_FILTERS = {"": "", "in:papers": "in:papers "}


def main() -> None:
    """Publish the index unless it is published, then measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--index", type=Path, required=True, metavar="DIR")
    parser.add_argument("--text", type=Path, nargs="*", default=[], help="text or .jsonl[.xz] files to draw from")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--again", action="store_true", help="publish anew")
    arguments = parser.parse_args()
    path = arguments.index / f"passages-{arguments.passages}.sqlite"
    _prepare(path, arguments)
    store, figures = path.with_suffix(".store"), dict[str, Any]()
    if arguments.again and store.exists():
        shutil.rmtree(store)
    if not store.exists():
        figures |= _published(path, store)
    figures["SQLite MB"] = round(sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*")) / 1e6)
    figures["Lance MB"] = round(sum(one.stat().st_size for one in store.rglob("*") if one.is_file()) / 1e6)
    replace_object(path.with_suffix(".lance"), {"store": f"lance:{store}"})
    with np.load(_questions_of(path)) as kept:
        vectors, texts = kept["vectors"][: arguments.queries], kept["texts"][: arguments.queries]
    figures |= _opening(path, store)
    print(json.dumps(figures | _recall(path, vectors) | _timed(path, vectors, texts), indent=1))


def _published(path: Path, store: Path) -> dict[str, Any]:
    wall, used = time.perf_counter(), time.process_time()
    with Store.open(path) as writer:
        publish(writer, str(store))
    return {"publish s": round(time.perf_counter() - wall), "publish processor s": round(time.process_time() - used)}


def _opening(path: Path, store: Path) -> dict[str, Any]:
    """What the first search of a process pays for each store."""
    found = {}
    started = time.process_time()
    newest(str(store))
    found["Lance opens, processor s"] = round(time.process_time() - started, 2)
    started = time.process_time()
    with open_index(path):
        pass
    found["SQLite opens, processor s"] = round(time.process_time() - started, 2)
    return found


def _recall(path: Path, vectors: Vectors) -> dict[str, float]:
    """Recall@20 of both stores."""
    snapshot = newest(str(path.with_suffix(".store")))
    table = snapshot.table("passages")
    exact = []
    for vector in vectors:
        asked = table.search(vector).distance_type("dot").bypass_vector_index().limit(_K)
        exact.append(set(asked.select(["id", "_distance"]).to_arrow()["id"].to_pylist()))
    found = {}
    for name, suffix in (("SQLite", ".sqlite"), ("Lance", ".lance")):
        with open_index(path.with_suffix(suffix)) as index:
            got = [{id_ for id_, _ in index.backend.nearest_passages(vector, _K)} for vector in vectors]
        found[f"{name} recall@{_K}"] = float(
            np.mean([len(own & best) / _K for own, best in zip(got, exact, strict=True)])
        )
    return found


def _timed(path: Path, vectors: Vectors, texts: Any) -> dict[str, Any]:
    """Milliseconds (p50, p95) and processor milliseconds (p50) of each mode, with and without filters."""
    figures: dict[str, Any] = {}
    for name, typed in _FILTERS.items():
        for mode in SearchMode:
            times: dict[str, list[tuple[float, float]]] = {".sqlite": [], ".lance": []}
            for text, vector in zip(texts, vectors, strict=True):
                for suffix, own in times.items():
                    own.append(_once(path.with_suffix(suffix), typed + str(text), vector, mode))
            for suffix, own in times.items():
                wall, used = np.array(own[2:]).T
                p50, p95 = np.percentile(wall, [50, 95]).round(1).tolist()
                figures[f"{mode} {name}{suffix}"] = [p50, p95, round(float(np.percentile(used, 50)), 1)]
    return figures


def _once(path: Path, text: str, vector: Vectors, mode: SearchMode) -> tuple[float, float]:
    started, used = time.perf_counter(), time.process_time()
    with open_index(path) as session:
        search([session], SearchRequest(parse(text), mode, [None if mode is SearchMode.WORDS else vector]))
    return (time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000


if __name__ == "__main__":
    main()
