"""Measures how long searches of an index take. The queries are words and vectors of its own passages. No model."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from longsearch.app.paths import index_path
from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.store import documents
from longsearch.engine.store import texts as texts_of
from longsearch.engine.store.manifest import Kind
from longsearch.engine.types.results import SearchMode

_N_QUERIES = 40
_WORDS = (1, 2, 2, 3, 3, 4, 5, 6, 8, 10)  # of a query


class SearchTimes(NamedTuple):
    """The figures that `longsearch bench --search` prints."""

    n_passages: int
    milliseconds: dict[str, dict[str, float]]
    """The median (`p50`) and the 95th percentile (`p95`) of each kind of search."""


class _Asked(NamedTuple):
    text: str
    vector: Vectors | None
    mode: SearchMode
    is_typing: bool = False


def measure(root: Path, under: str = "") -> SearchTimes:
    """Search the index of `root`, or its folder `under`, some hundred times. Raises LongsearchError if it is empty."""
    path = index_path(root)
    with open_index(path) as index:
        db = index.db
        ids = documents.all_passages(db)
        if not len(ids):
            raise LongsearchError("there is nothing to search yet", "see how far it is: longsearch status")
        drawn = np.random.default_rng(0).choice(ids, min(len(ids), _N_QUERIES), replace=False)
        rows = index.passage_rows(drawn.tolist()).values()
        texts = [texts_of.spans(db, row.document_id, [(row.start, row.stop)])[0] for row in rows]
        known = list(index.backend.vectors_of(Kind.VECTORS, drawn.tolist()).values())
    queries = [_words_of(text, number) for number, text in enumerate(texts)]
    kinds: dict[str, list[_Asked]] = {
        mode.value: [_Asked(query, vector, mode) for query, vector in zip(queries, known, strict=False)]
        for mode in (SearchMode.HYBRID, SearchMode.MEANING)
    }
    words = SearchMode.WORDS
    kinds[words.value] = [_Asked(query, None, words) for query in queries]
    typed = (query[:n] for query in queries[:8] for n in range(3, len(query) + 1))
    kinds["words at every key"] = [_Asked(text, None, words, is_typing=True) for text in typed]
    return SearchTimes(len(ids), {name: _percentiles(path, under, asked) for name, asked in kinds.items() if asked})


def _words_of(text: str, number: int) -> str:
    """Some consecutive words of a passage, without the query language's signs."""
    words = ["".join(filter(str.isalnum, word)) for word in text.split()]
    words = [word for word in words if word] or ["the"]
    n = _WORDS[number % len(_WORDS)]
    first = min(len(words) // 3, max(0, len(words) - n))
    return " ".join(words[first : first + n])


def _percentiles(path: Path, under: str, asked: Sequence[_Asked]) -> dict[str, float]:
    """Ask each query once; first ask three that do not count, because they read the index from the disk."""
    times = []
    for query in (*asked[:3], *asked):
        started = time.perf_counter()
        with open_index(path) as index:
            parsed = parse(query.text, query.is_typing)
            parsed = replace(parsed, files=replace(parsed.files, under=under))
            search([index], SearchRequest(parsed, query.mode, (query.vector,)))
        times.append((time.perf_counter() - started) * 1000)
    p50, p95 = np.percentile(times[len(asked[:3]) :], [50, 95]).tolist()
    return {"p50": round(p50, 1), "p95": round(p95, 1)}


def describe(times: SearchTimes) -> str:
    """Return the times as lines of text."""
    lines = [f"{times.n_passages:,} passages; times without the query's vector"]
    for name, found in times.milliseconds.items():
        lines.append(f"{name:<20}p50 {found['p50']:.1f} ms  p95 {found['p95']:.1f} ms")
    return "\n".join(lines)
