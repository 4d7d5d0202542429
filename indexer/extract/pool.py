"""Several children that read files at once; what they read comes back in the order of the files.

For one thread, which also pulls the files from their iterator: a few ahead of the result it gets. Knows neither index
nor plan. `ExtractorProcess.extract_all` is the same with one child.
"""

import os
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from indexer.extract.reader import ExtractorProcess, Result

_MAX_CHILDREN = 4
"""More would only wait for the one thread that stores what they bring."""
_AHEAD_PER_CHILD = 2
"""Files taken on at once: enough that a long file does not leave the other children idle at once."""


def default_n_children() -> int:
    """As many as there are cores for this process, up to four."""
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MAX_CHILDREN, n_cores)


class ExtractorPool:
    """Children kept from one file to the next, each started when it is first needed."""

    def __init__(self, n_children: int | None = None, ocr: str | None = None) -> None:
        """`ocr` as `indexer.extract.ocr.ocr_languages` gives it."""
        self._ocr = ocr
        self._n_children = n_children or default_n_children()
        self._executor = ThreadPoolExecutor(self._n_children, thread_name_prefix="extract")
        self._all = [ExtractorProcess(ocr=ocr) for _ in range(self._n_children)]
        self._idle = deque(self._all)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the children, whatever they are doing."""
        for extractor in self._all:
            extractor.stop()
        self._executor.shutdown(cancel_futures=True)
        for extractor in self._all:
            extractor.close()

    def extract_all(self, paths: Iterable[Path]) -> Generator[tuple[Path, Result]]:
        """Each of `paths` with its text, or with the `ExtractionError` that says why there is none; in their order.

        At most two files a child are taken from `paths` ahead of the one that is given back. Closing the iterator
        early ends what is being read.
        """
        waiting: deque[tuple[Path, Future[Result]]] = deque()
        rest = iter(paths)
        try:
            while True:
                for path in islice(rest, self._n_children * _AHEAD_PER_CHILD - len(waiting)):
                    waiting.append((path, self._executor.submit(self._extract, path)))
                if not waiting:
                    return
                path, future = waiting.popleft()
                yield path, future.result()
        finally:
            self._abandon([future for _, future in waiting])

    def _extract(self, path: Path) -> Result:
        extractor = self._idle.pop()  # there are as many as threads
        try:
            return extractor.result(path)
        finally:
            self._idle.append(extractor)

    def _abandon(self, futures: list[Future[Result]]) -> None:
        """Return when nothing is read any more."""
        running = [future for future in futures if not future.cancel() and not future.done()]
        if not running:
            return
        for extractor in self._all:
            extractor.stop()
        for future in running:
            future.exception()  # waits
        for extractor in self._all:
            extractor.close()
