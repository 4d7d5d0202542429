"""Reads files in several child processes at once; the results come back in the order of the files.

A pool serves one thread. The paths are also taken in this thread, a few ahead of the result that it gets. The pool
knows neither the index nor the plan.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Self

from longsearch.engine.errors import ExtractionError, ReadingStoppedError
from longsearch.indexer.extract.pdf.recognition import Recognition, calls_tesseract
from longsearch.indexer.extract.reader import ExtractorProcess, Result

STOP_CHECK_S = 1.0
_MOMENT_S = 0.1  # that long a result may take without counting as one to wait for
_MAX_CHILDREN = 4
"""More children would only wait for the one thread that stores their results."""
_AHEAD_PER_CHILD = 2
"""Files submitted per child, so that a child finds its next file while another child still reads a long one."""


def default_n_children() -> int:
    """Return the number of cores this process may use, at most four."""
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MAX_CHILDREN, n_cores)


class ExtractorPool:
    """Several child processes, which are kept from file to file. Each starts when it is first needed."""

    def __init__(
        self,
        n_children: int | None = None,
        ocr: Recognition | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """`ocr`: how to read pages without text; None: not at all.

        `should_stop` is asked every second while a file is read with OCR, which may take hours.
        """
        self._should_stop = should_stop if calls_tesseract(ocr) else None
        n_children = n_children or default_n_children()
        self.extractors = tuple(ExtractorProcess(ocr=ocr) for _ in range(n_children))
        self._idle = deque(self.extractors)
        self._n_ahead = n_children * _AHEAD_PER_CHILD
        self._executor = ThreadPoolExecutor(n_children, thread_name_prefix="extract")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the children, whatever they are doing."""
        with self._stopped():
            self._executor.shutdown(cancel_futures=True)

    def extract_all(
        self, paths: Iterable[Path], head_only: bool = False, before_waiting: Callable[[], None] = lambda: None
    ) -> Generator[tuple[Path, Result]]:
        """Yield each of `paths`, in order, with its text or with the `ExtractionError` that says why it has none.

        At most two files per child are taken from `paths` ahead of the result that is yielded. Closing the iterator
        early ends all reading. `head_only`: only titles and metadata are wanted (see `ExtractorProcess.extract`).
        Calls `before_waiting` when the next result is not there soon. Raises ReadingStoppedError, see `__init__`.
        """
        waiting: deque[tuple[Path, Future[Result]]] = deque()
        rest = iter(paths)
        try:
            while True:
                for path in islice(rest, self._n_ahead - len(waiting)):
                    waiting.append((path, self._executor.submit(self._extract, path, head_only)))
                if not waiting:
                    return
                path, future = waiting.popleft()
                if not future.done() and not wait([future], timeout=_MOMENT_S).done:
                    before_waiting()
                yield path, self._result(future)
        finally:
            running = [future for _, future in waiting if not future.cancel() and not future.done()]
            if running:
                with self._stopped():
                    wait(running)

    def _result(self, future: Future[Result]) -> Result:
        """Wait for a result. Raises ReadingStoppedError if `should_stop` says so meanwhile."""
        while self._should_stop is not None and not wait([future], timeout=STOP_CHECK_S).done:
            if self._should_stop():
                future.cancel()
                with self._stopped():
                    wait([future])
                raise ReadingStoppedError
        return future.result()

    def _extract(self, path: Path, head_only: bool) -> Result:
        extractor = self._idle.pop()  # there are as many extractors as threads
        try:
            return extractor.extract(path, head_only)
        except ExtractionError as error:
            return error
        finally:
            self._idle.append(extractor)

    @contextmanager
    def _stopped(self) -> Iterator[None]:
        """Make all reading fail while the block runs, then end the children; they can start again."""
        for extractor in self.extractors:
            extractor.stop()
        try:
            yield
        finally:
            for extractor in self.extractors:
                extractor.close()
