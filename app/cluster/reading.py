"""An extractor whose files are read by the workers of a pool. The results come back in the order of the files."""

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from longsearch.app.cluster.embedding import MAX_BYTES, RemoteEncoder
from longsearch.app.cluster.pool import MAX_LOSSES, Pool, WorkerLostError, too_many_losses
from longsearch.app.cluster.work import Extracted
from longsearch.engine.errors import TemporaryError
from longsearch.indexer.extract.pdf.recognition import Recognition, calls_tesseract
from longsearch.indexer.extract.reader import Result
from longsearch.indexer.sources.source import Source

FILES_PER_CALL = 8
"""With OCR it is one: a file may take hours, and a lost worker loses the pages of its call."""
BATCH_BYTES = 32 * 2**20
"""A call has no more files if they have so many bytes."""
_BATCHES_AHEAD = 3
"""Batches for each worker that are taken ahead of the result that is yielded."""


@dataclass(slots=True, eq=False)
class _Batch:
    paths: list[Path]
    n_bytes: int = 0
    """The size of the files. Their texts are seldom larger."""
    n_losses: int = 0
    found: list[Extracted] = field(default_factory=list)


class RemoteExtractor:
    """An `indexer.describing.Extractor`. Hands the passages that workers have cut to the encoder."""

    def __init__(self, pool: Pool, encoder: RemoteEncoder, source: Source, ocr: Recognition | None) -> None:
        """`ocr`: what keeps the pages that workers read by OCR; None: there are none."""
        self._pool, self._encoder, self._source, self._ocr = pool, encoder, source, ocr
        self._files_per_call = 1 if calls_tesseract(ocr) else FILES_PER_CALL

    def extract_all(
        self, paths: Iterable[Path], head_only: bool = False, before_waiting: Callable[[], None] = lambda: None
    ) -> Generator[tuple[Path, Result]]:
        """As `ExtractorPool.extract_all`. A file that loses its worker several times gets an error of its own."""
        rest, order, waiting = iter(paths), deque[_Batch](), deque[_Batch]()
        try:
            while True:
                while _has_room(order, self._pool.n_wanted) and (batch := self._next_batch(rest)) is not None:
                    order.append(batch)
                    waiting.append(batch)
                while waiting and (worker := self._pool.free()) is not None:
                    batch = waiting.popleft()
                    self._pool.call(worker, batch, "extract", batch.paths, head_only)
                while order and order[0].found:
                    yield from self._results(order.popleft())
                    if not waiting:
                        break  # the places of these files are free: take others before the next result
                else:
                    if not order:
                        return
                    before_waiting()
                    self._take(waiting, order)
        finally:
            self._pool.forget_calls()

    def _results(self, batch: _Batch) -> Iterator[tuple[Path, Result]]:
        for path, found in zip(batch.paths, batch.found, strict=True):
            self._encoder.expect(found)
            if self._ocr is not None:
                for page in found.recognised:
                    self._ocr.take(page)
            yield path, found.result

    def _next_batch(self, paths: Iterator[Path]) -> _Batch | None:
        batch = _Batch([])
        while len(batch.paths) < self._files_per_call and batch.n_bytes < BATCH_BYTES:
            path = next(paths, None)
            if path is None:
                break
            batch.paths.append(path)
            with suppress(OSError):  # it is gone: the worker says so
                batch.n_bytes += self._source.size_of(path)
        return batch if batch.paths else None

    def _take(self, waiting: deque[_Batch], order: deque[_Batch]) -> None:
        """Wait for a result. The files of a lost worker are read again one by one: one of them may be the cause."""
        outcome = self._pool.outcome()
        if outcome is None:
            return
        batch = outcome.ticket
        assert isinstance(batch, _Batch)  # noqa: S101 - no other calls are under way
        if not isinstance(outcome.result, WorkerLostError):
            batch.found = outcome.result
            return
        again = [_Batch([path], batch.n_bytes // len(batch.paths), batch.n_losses + 1) for path in batch.paths]
        place = order.index(batch)
        order.remove(batch)
        for one in reversed(again):
            order.insert(place, one)
            if one.n_losses < MAX_LOSSES:
                waiting.appendleft(one)
            else:
                error = too_many_losses("this file")
                one.found = [Extracted(TemporaryError(error.message, error.hint), None, 0)]


def _has_room(order: Collection[_Batch], n_workers: int) -> bool:
    """Whether one more batch may be under way."""
    return len(order) < _BATCHES_AHEAD * n_workers and sum(batch.n_bytes for batch in order) < MAX_BYTES
