"""Ranks documents by the vectors that a reader with a longer context gives them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.bench import Bench
from longsearch.engine.evaluation.embedders.minilm import MiniLM
from longsearch.engine.evaluation.extension.names import EXTENSIONS
from longsearch.engine.evaluation.extension.reader import Reader
from longsearch.engine.evaluation.ranked_spans import Ranked, by_vectors
from longsearch.engine.evaluation.systems import System
from longsearch.engine.evaluation.vector_cache import VectorCache


class Extensions:
    """The systems of `names`, by name. Each reader is made once, when it is first needed."""

    def __init__(self, folder: Path | None, minilm: Callable[[], MiniLM], vectors: VectorCache) -> None:
        """`folder` holds trained weights; `vectors` caches."""
        self._cache = vectors
        self._reader = cache(lambda name: Reader(EXTENSIONS[name], minilm(), folder))

    def open(self, names: tuple[str, ...]) -> dict[str, System]:
        """Return the systems among `names`. Raises LongsearchError if a system's weights are missing."""
        return {name: self._system(self._reader(name)) for name in names if name in EXTENSIONS}

    def _system(self, reader: Reader) -> System:
        def rank(bench: Bench) -> Ranked:
            queries = [query.text for query in bench.dataset.queries]
            return by_vectors(bench.whole, self._vectors(reader, bench.texts), self._vectors(reader, queries))

        return rank

    def _vectors(self, reader: Reader, texts: list[str]) -> Vectors:
        return self._cache.vectors(reader.key, texts, lambda: reader.encode(texts))
