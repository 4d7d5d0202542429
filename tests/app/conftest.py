"""Fixtures: a home folder for each test, so that the real one is neither read nor written, and a daemon in it."""

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from longsearch.app.daemon.daemon import Daemon
from longsearch.app.models.resident import ResidentModel
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess
from tests.app.app_helpers import Clock, running
from tests.app.homes import SAMPLES, make_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_home(tmp_path, monkeypatch)


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    folder = tmp_path / "samples"
    shutil.copytree(SAMPLES, folder)
    return folder


@pytest.fixture
def root(home: Path) -> Path:
    """A folder of two documents, not indexed yet."""
    root = home / "root"
    root.mkdir()
    for name in ("tides.md", "violin.md"):
        shutil.copy(SAMPLES / name, root)
    return root


@pytest.fixture
def half_readable(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An event; until it is set, only the first half of violin.md can be read."""
    is_whole, extract = threading.Event(), ExtractorProcess.extract

    def read(process: ExtractorProcess, path: Path, head_only: bool = False) -> Extraction:
        whole = extract(process, path, head_only)
        if path.name != "violin.md" or is_whole.is_set():
            return whole
        text = whole.document.text[: len(whole.document.text) // 2]
        return Extraction(replace(whole.document, text=text, headings=()), "its end could not be read", "")

    monkeypatch.setattr(ExtractorProcess, "extract", read)
    return is_whole


@pytest.fixture
def clock() -> Clock:
    """A clock that the test sets. The model of the `daemon` fixture uses it to see how long it has been idle."""
    return Clock()


@pytest.fixture
def daemon(home: Path, clock: Clock) -> Iterator[Daemon]:
    with running(Daemon(model=ResidentModel(clock=clock), tick_s=0.01)) as daemon:
        yield daemon
