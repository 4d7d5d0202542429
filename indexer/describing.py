"""Reads the titles and metadata of documents that an older longsearch indexed. No text and no vector is made anew.

Only the head of each file is read: 70 ms of processor time for a PDF, as much as the text of a dozen pages takes.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import Protocol

from longsearch.engine.store.store import Store
from longsearch.indexer.extract.assembly import Extraction
from longsearch.indexer.extract.reader import Result


class Extractor(Protocol):
    """The part of `indexer.extract.pool.ExtractorPool` that the pipeline uses."""

    def extract_all(
        self, paths: Iterable[Path], head_only: bool = False, before_waiting: Callable[[], None] = lambda: None
    ) -> Generator[tuple[Path, Result]]:
        """Yield the text of each file (or its head), or the error, in order. May take a few `paths` ahead.

        Calls `before_waiting` when the next result is not there soon.
        """


def describe_old(
    store: Store, root: Path, extractor: Extractor, should_stop: Callable[[], bool], report: Callable[[str], None]
) -> None:
    """Describe the documents that today's rules have not described; goes on at the next sweep if it is stopped.

    A file that cannot be read now keeps its title and is described when it changes. Its date follows its name.
    """
    waiting = store.undescribed()
    places = iter(waiting)
    if not waiting or should_stop():
        return
    with closing(extractor.extract_all((root / path for _, path in waiting), head_only=True)) as results:
        for (document_id, path), (_, result) in zip(places, results, strict=False):
            document = result.document if isinstance(result, Extraction) else None
            store.describe(document_id, document.title if document else "", document.metadata if document else ())
            report(f"reading the title and date of {path}")
            if should_stop():
                return
