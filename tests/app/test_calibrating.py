"""An index is calibrated once it is complete, and not again while it stays as it is."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from longsearch.app.indexing.calibration import calibrate
from longsearch.app.paths import index_path
from longsearch.engine.index.opening import open_index
from longsearch.engine.store.store import Store
from tests.app.made_folders import make_folder, toward


def encode(text: str) -> np.ndarray:
    """Return a vector that depends on nothing but the text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    return toward(*np.random.default_rng(seed).standard_normal(4))


def never(text: str) -> np.ndarray:
    pytest.fail("the model was used")


def test_a_complete_index_is_calibrated_once(home: Path) -> None:
    texts = {f"{number}.md": f"apples and pears of tree {number}" for number in range(40)}
    root = make_folder(home / "fruit", texts, [encode(text) for text in texts.values()])
    with Store.open(index_path(root)) as store:
        assert not calibrate(store, encode, must_stop=lambda: True)
        assert calibrate(store, encode)
        assert not calibrate(store, never)
    with open_index(index_path(root)) as index:
        known = index.background
    assert known is not None
    assert known.n_passages == 40


def test_a_small_index_or_one_without_vectors_is_left_alone(home: Path) -> None:
    texts = {f"{number}.md": f"apples and pears of tree {number}" for number in range(40)}
    small = make_folder(home / "small", {"a.md": "an apple"}, [toward(1)])
    for root in (small, make_folder(home / "fresh", texts)):
        with Store.open(index_path(root)) as store:
            assert not calibrate(store, never)
