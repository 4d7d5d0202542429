"""A folder, its store and a pipeline between them, for tests."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.store import vectors
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from longsearch.engine.types.results import DocumentHit, SearchMode
from longsearch.indexer.pipeline import Pipeline, ReadSummary
from tests.engine.store.store_helpers import as_stored
from tests.indexer.extracting import OneChild
from tests.indexer.fake_encoder import FakeEncoder


class Bench:
    """A root, its store, and a new pipeline for each run, as in a new process."""

    def __init__(self, root: Path, store: Store, extractor: OneChild) -> None:
        self.root, self.store, self.extractor = root, store, extractor
        self.encoder = FakeEncoder()

    def pipeline(self, should_stop: Callable[[], bool] = lambda: False) -> Pipeline:
        return Pipeline(self.root, self.store, self.extractor, self.encoder, should_stop)

    def run(self, should_stop: Callable[[], bool] = lambda: False) -> ReadSummary:
        pipeline = self.pipeline(should_stop)
        summary = pipeline.read()
        pipeline.embed()
        return summary

    def statuses(self) -> dict[str, FileStatus]:
        return {file.path: file.status for file in self.store.files()}

    def hits(self, word: str) -> tuple[DocumentHit, ...]:
        """Search for a word."""
        with open_index(self.store.path) as index:
            return search([index], SearchRequest(parse(word), SearchMode.WORDS)).hits

    def write(self, name: str, n_words: int = 12) -> Path:
        path = self.root / name
        path.write_text(" ".join(f"{name}{i}" for i in range(n_words)))
        return path


def document_ids(store: Store) -> set[int]:
    with store.reading() as db:
        return {row[0] for row in db.execute("SELECT id FROM contents")}


def check_vectors(bench: Bench) -> None:
    """Check that every document has the vectors of one pass over its text."""
    encoder = FakeEncoder()
    for document_id in document_ids(bench.store):
        parts = list(encoder.stream(*encoder.split(bench.store.text(document_id).text)))
        with bench.store.reading() as db:
            found, whole = vectors.of_passages(db, document_id), vectors.of_document(db, document_id)
        np.testing.assert_array_equal(found, as_stored(np.concatenate([part.vectors for part in parts])))
        np.testing.assert_array_equal(whole, as_stored(np.atleast_2d(parts[-1].document_vector))[0])
