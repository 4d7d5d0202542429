"""Fixtures for many tests of the indexer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from longsearch.engine.store.store import Store
from tests.indexer.extracting import OneChild
from tests.indexer.pipeline_bench import Bench


@pytest.fixture(scope="module")
def extractor() -> Iterator[OneChild]:
    """An extractor whose one child serves all tests of a module."""
    with OneChild() as process:
        yield process


@pytest.fixture
def bench(tmp_path: Path, extractor: OneChild) -> Iterator[Bench]:
    """An empty folder with an index."""
    root = tmp_path / "root"
    root.mkdir()
    with Store.open(tmp_path / "index.sqlite", root=root) as store:
        yield Bench(root, store, extractor)
