"""Times each class of queries over an index of real text, and other engines over the same passages."""

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import real_index

from longsearch.engine.answers.token_table import TokenTable
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search import spelling
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.store import keywords, texts
from longsearch.engine.types.results import SearchMode

Times = dict[str, list[list[float]]]
"""For each name (milliseconds, milliseconds of processor time) of each query."""
_BESIDE = ("a sentence", "two words", "one word", "a pasted paragraph")


def measured(path: Path, n_queries: int, rounds: int, k: int) -> Times:
    """The best times of each class, by words and by both, and those of the other engines."""
    classes: dict[str, list[str]] = json.loads(path.with_suffix(".classes.json").read_text("utf-8"))
    table = TokenTable.open("bundled")
    found: Times = {}
    for name, queries in classes.items():
        for mode in (SearchMode.WORDS, SearchMode.HYBRID):
            run = _searching(path, mode, k, table)
            found[f"{mode} {name}"] = _best_of(rounds, run, queries[:n_queries])
    for engine, run in _others(path, k).items():
        for name in (name for name in _BESIDE if name in classes):
            found[f"{engine} {name}"] = _best_of(rounds, run, classes[name][:n_queries])
    return found


def _best_of(rounds: int, run: Callable[[str], object], queries: list[str]) -> list[list[float]]:
    times = []
    for query in queries[:3]:
        run(query)
    for query in queries:
        own = []
        for _ in range(rounds):
            started, used = time.perf_counter(), time.process_time()
            run(query)
            own.append([(time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000])
        times.append(min(own))
    return times


def _searching(path: Path, mode: SearchMode, k: int, table: TokenTable | None) -> Callable[[str], object]:
    """A search as the app does it: spelling first, then one ranking, then the sentences that are lit."""

    def run(text: str) -> None:
        vector = real_index.vector_of(text)
        with open_index(path) as index:
            query = parse(text, keys=index.fields)
            if meant := spelling.corrected([index], query, index.fields, lambda: table):
                query = parse(meant, keys=index.fields)
            search([index], SearchRequest(query, mode, [vector], k, table=table))

    return run


def _others(path: Path, k: int) -> dict[str, Callable[[str], object]]:
    """FTS5 alone, a scan of all vectors, and tantivy where it is installed: each finds the ids of `k` passages."""
    with open_index(path) as index:
        places = list(index.db.execute("SELECT id, content_id, start, stop FROM passages ORDER BY id"))
        matrix = np.concatenate(
            [
                index.backend.vectors_of_passages(id_)
                for (id_,) in index.db.execute("SELECT id FROM contents ORDER BY id")
            ]
        )

        def by_fts5(query: str) -> None:
            match = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", query)))
            with open_index(path) as own:
                keywords.best(own.db, match, k)

        def by_scan(query: str) -> None:
            scores = matrix @ real_index.vector_of(query)
            np.argpartition(scores, len(scores) - k)[-k:]

        found: dict[str, Callable[[str], object]] = {"FTS5 alone": by_fts5, "numpy scan": by_scan}
        try:
            import tantivy
        except ImportError:
            print("tantivy is not installed: pip install tantivy", file=sys.stderr)
            return found
        schema = tantivy.SchemaBuilder().add_text_field("text", tokenizer_name="en_stem").build()
        shelf = tantivy.Index(schema, path=tempfile.mkdtemp())
        writer = shelf.writer(heap_size=200_000_000)
        for _, document_id, start, stop in places:
            writer.add_document(tantivy.Document(text=texts.spans(index.db, document_id, [(start, stop)])[0]))
        writer.commit()
        writer.wait_merging_threads()
        shelf.reload()
        searcher = shelf.searcher()
    found["tantivy"] = lambda query: searcher.search(
        shelf.parse_query(" ".join(re.findall(r"\w+", query)), ["text"]), k
    )
    return found
