"""Fixtures for the tests of the engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from longsearch.engine.store.store import Store
from tests.engine.store.store_helpers import DIM, check_invariants, open_store

torch.set_num_threads(1)  # tiny models: two threads cost more in barriers than they save


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Let every test draw the same numbers in every run: torch's own first seed is random."""
    torch.manual_seed(0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty index of "/papers", open for writing, for vectors of `DIM`; it must be consistent at the end."""
    with open_store(tmp_path / "index.db") as opened:
        opened.use_model("model-a", DIM)
        yield opened
        check_invariants(opened)
