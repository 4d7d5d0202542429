"""Reads objects through copies on this machine, in the sandbox of all files. A copy exists only while it is read."""

import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.describing import Extractor
from longsearch.indexer.extract.reader import Result
from longsearch.indexer.sources.objects import ObjectStore

_Begun = deque[tuple[Path, bytes | ExtractionError]]
"""Files in order: each with the hash of its bytes, or with the error of its download."""


class FetchingExtractor:
    """An `Extractor` of files in an object store. `inner` reads their copies."""

    def __init__(self, store: ObjectStore, inner: Extractor, scratch: Path | None = None) -> None:
        """`scratch`: the folder for copies; None: the system's for temporary files."""
        self._store, self._inner, self._scratch = store, inner, scratch

    def extract_all(
        self, paths: Iterable[Path], head_only: bool = False, before_waiting: Callable[[], None] = lambda: None
    ) -> Generator[tuple[Path, Result]]:
        """As `ExtractorPool.extract_all`, with the hash of the bytes in each result. Copies a few files ahead."""
        begun: _Begun = deque()
        with tempfile.TemporaryDirectory(prefix="longsearch-", dir=self._scratch) as folder:
            copies = self._copies(iter(paths), Path(folder), begun, before_waiting)
            for local, result in self._inner.extract_all(copies, head_only, before_waiting):
                local.unlink(missing_ok=True)
                local.parent.rmdir()
                yield from _failures(begun)
                path, content_hash = begun.popleft()
                assert isinstance(content_hash, bytes)  # noqa: S101 - `_failures` has taken the others
                yield path, _with_hash(result, content_hash)
            yield from _failures(begun)

    def _copies(
        self, paths: Iterator[Path], folder: Path, begun: _Begun, before_waiting: Callable[[], None]
    ) -> Iterator[Path]:
        """Yield the copies of the files that can be fetched. A copy keeps its name, which tells its format."""
        for number, path in zip(count(), paths, strict=False):
            local = folder / str(number) / path.name
            local.parent.mkdir()
            before_waiting()
            try:
                begun.append((path, self._store.fetch(path, local)))
            except ExtractionError as error:
                begun.append((path, error))
            else:
                yield local


def _failures(begun: _Begun) -> Iterator[tuple[Path, Result]]:
    """Yield the files at the front that could not be fetched."""
    while begun and isinstance(begun[0][1], ExtractionError):
        path, error = begun.popleft()
        assert isinstance(error, ExtractionError)  # noqa: S101 - the loop's condition
        yield path, error


def _with_hash(result: Result, content_hash: bytes) -> Result:
    if not isinstance(result, ExtractionError):
        return replace(result, content_hash=content_hash)
    result.content_hash = content_hash
    return result
