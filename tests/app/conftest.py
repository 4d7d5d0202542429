"""A home of its own for every test: nothing is read from or written to the real one."""

import shutil
from pathlib import Path

import pytest
from homes import SAMPLES, make_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_home(tmp_path, monkeypatch)


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    folder = tmp_path / "samples"
    shutil.copytree(SAMPLES, folder)
    return folder
