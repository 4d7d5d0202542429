"""Reads a file that is in no index, as indexing would read it."""

from pathlib import Path

from longsearch.app.settings.reading import current
from longsearch.engine.errors import LongsearchError
from longsearch.indexer.extract.assembly import Extraction
from longsearch.indexer.extract.formats import use_adapters
from longsearch.indexer.extract.reader import ExtractorProcess


def read_now(file: Path, is_draft: bool = False) -> Extraction:
    """Read a file in a child process, also by the person's own adapters. Raises LongsearchError if that fails.

    `is_draft`: its text says where links lead and where notes belong, in Markdown's marks.
    """
    if not file.is_file():
        raise LongsearchError(f"{file} is not a file", "name a document")
    use_adapters(current().adapters)
    with ExtractorProcess() as extractor:
        return extractor.extract(file, is_draft=is_draft)
