"""Index and search one folder, and print the times as JSON. Runs inside any version since 59106fb: see `same_speed`."""

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

_QUERIES = (
    "what should a beekeeper do when the colony wants to leave",
    "why do glaciers move faster in summer",
    "notice period of the lease",
    "how does a cache decide what to evict",
    "tuning the strings of a violin",
    "bread that does not rise",
)
_REPEATS = 20


def load(*names: str) -> Any:
    """The first of these modules that this version has."""
    for name in names:
        for full in (f"longsearch.{name}", name):
            try:
                return import_module(full)
            except ModuleNotFoundError:
                continue
    raise ModuleNotFoundError(" or ".join(names))


def main() -> None:
    """Print seconds of reading and of embedding, and milliseconds of a query."""
    root = Path(sys.argv[1]).resolve()
    encoder = load("app.models.encoders", "app.encoders").open_encoder()
    encoder.encode_query(_QUERIES[0], None)
    with load("app.indexing.opening", "app.library").open_pipeline(root, encoder, lambda: False) as (pipeline, _):
        started = time.perf_counter()
        pipeline.read()
        read = time.perf_counter()
        pipeline.embed()
        embedded = time.perf_counter()
    print(json.dumps({"read s": read - started, "embed s": embedded - read} | search_times(root, encoder)))


def search_times(root: Path, encoder: Any) -> dict[str, float]:
    """Milliseconds of a query's vector, and of a search by words and by both with the vector at hand."""
    types = load("engine.types.results", "engine.types")
    searching = load("app.search.searching", "app.searching")
    query_vector = load("app.models.query_vectors", "app.background.query_vectors", "app.vectors").QueryVector
    vectors = {query: query_vector(encoder.encode_query(query, None), encoder.fingerprint) for query in _QUERIES}

    def search(query: str, mode: Any) -> None:
        if hasattr(searching, "Question"):
            scope = load("app.search.scope").Scope.of(root)
            searching.search(scope, searching.Question(query, mode), lambda text, instruction: vectors[query])
        else:  # an older longsearch
            searching.search_index(root, searching.SearchRequest(query, mode), lambda text, instruction: vectors[query])

    return {
        "query vector ms": per_query_ms(lambda query: encoder.encode_query(query, None)),
        "search by words ms": per_query_ms(lambda query: search(query, types.SearchMode.WORDS)),
        "hybrid search ms": per_query_ms(lambda query: search(query, types.SearchMode.HYBRID)),
    }


def per_query_ms(run: Any) -> float:
    """The best of `_REPEATS` turns over all queries, in milliseconds a query, after one unmeasured turn."""
    times = []
    for _ in range(_REPEATS + 1):
        started = time.perf_counter()
        for query in _QUERIES:
            run(query)
        times.append(time.perf_counter() - started)
    return min(times[1:]) * 1000 / len(_QUERIES)


if __name__ == "__main__":
    main()
