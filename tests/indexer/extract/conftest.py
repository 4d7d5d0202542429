"""Fixtures for the tests of extraction."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longsearch.indexer.extract import child_process
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """End what never ends at its limit, however busy the machine: waiting longer would prove nothing."""
    monkeypatch.setattr(child_process, "STARVED_TIMES", 0)


@pytest.fixture
def extract(extractor: ExtractorProcess, tmp_path: Path) -> Callable[..., Extraction]:
    """Extract the text of these bytes, written to a file with this name."""

    def extract(data: bytes, name: str = "paper.pdf") -> Extraction:
        path = tmp_path / name
        path.write_bytes(data)
        return extractor.extract(path)

    return extract
