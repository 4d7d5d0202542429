"""Fixtures for the tests of extraction."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longsearch.indexer.extract.reader import Extraction, ExtractorProcess


@pytest.fixture
def extract(extractor: ExtractorProcess, tmp_path: Path) -> Callable[..., Extraction]:
    """Extract the text of these bytes, written to a file with this name."""

    def extract(data: bytes, name: str = "paper.pdf") -> Extraction:
        path = tmp_path / name
        path.write_bytes(data)
        return extractor.extract(path)

    return extract
