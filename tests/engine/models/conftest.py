"""Fixtures for the tests of models by their names on the hub."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.models.hub_cache import FakeHub


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that serves as Hugging Face's cache."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    """An empty hub. A test fails if anything connects to the network."""

    def no_network(*_: Any, **__: Any) -> None:
        raise AssertionError("something connected to the network")

    monkeypatch.setattr("socket.socket.connect", no_network)
    return FakeHub(cache)
