"""The tests of stores on LanceDB need the extra `lance`; without it they are skipped.

A fixture imports LanceDB, not a module: its import takes seconds, and every worker collects these tests.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from longsearch.engine.search import searcher
from longsearch.engine.store.store import Store
from tests.engine.lance.lance_helpers import invented, published


@pytest.fixture(scope="session", autouse=True)
def _lancedb() -> None:
    pytest.importorskip("lancedb", reason="needs pip install 'longsearch[lance]'")


@pytest.fixture(autouse=True)
def _no_compounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite cuts no compounds either: a shared store does not list its words, so it cannot."""
    monkeypatch.setattr(searcher, "COMPOUNDING", frozenset())


@pytest.fixture(scope="session")
def twins(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An index of 60 documents, and the pointer to the store that holds the same. Only to be read."""
    folder = tmp_path_factory.mktemp("twins")
    with invented(folder / "index.sqlite", 60) as store:
        pointer = published(store, folder)
    return folder / "index.sqlite", pointer


@pytest.fixture
def few(tmp_path: Path) -> Iterator[Store]:
    """An index of six documents, open for writing."""
    with invented(tmp_path / "index.sqlite", 6) as store:
        yield store
