"""Fixtures for many tests of the indexer."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pipeline_bench import Bench

from engine.store.store import Store
from indexer.extract.reader import ExtractorProcess


@pytest.fixture(scope="module")
def extractor() -> Iterator[ExtractorProcess]:
    """A child process that reads files, shared by the tests of a module."""
    with ExtractorProcess() as process:
        yield process


@pytest.fixture
def bench(tmp_path: Path, extractor: ExtractorProcess) -> Iterator[Bench]:
    """An empty folder with an index."""
    root = tmp_path / "root"
    root.mkdir()
    with Store.open(tmp_path / "index.sqlite", root=root) as store:
        yield Bench(root, store, extractor)
