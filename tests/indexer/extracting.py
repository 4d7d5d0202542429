"""Helpers for tests that extract text from files."""

from collections.abc import Callable, Generator, Iterable
from pathlib import Path

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess, Result
from longsearch.indexer.extract.wire.protocol import FileText


class OneChild(ExtractorProcess):
    """An `ExtractorProcess` that can take the place of an `ExtractorPool`: it reads one file after another."""

    def extract_all(
        self, paths: Iterable[Path], head_only: bool = False, before_waiting: Callable[[], None] = lambda: None
    ) -> Generator[tuple[Path, Result]]:
        """Yield each of `paths` with its text or error."""
        for path in paths:
            before_waiting()
            yield path, result_of(self, path, head_only)


def result_of(extractor: ExtractorProcess, path: Path, head_only: bool = False) -> Result:
    """Extract a file; return its text, or the error."""
    try:
        return extractor.extract(path, head_only)
    except ExtractionError as error:
        return error


def headings_of(found: FileText) -> list[tuple[int, str]]:
    """Return (level, title) of each heading, after checking that each stands at its offset on a line of its own."""
    for _, title, start in found.headings:
        assert found.text[start : start + len(title)] == title
        assert start == 0 or found.text[start - 1] == "\n"
    return [(level, title) for level, title, _ in found.headings]


def page_text(extraction: Extraction, number: int) -> str:
    """Return the text of page `number`, counted from 1."""
    starts = [*extraction.document.page_starts, len(extraction.document.text)]
    return extraction.document.text[starts[number - 1] : starts[number]]
