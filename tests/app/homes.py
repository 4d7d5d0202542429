"""Folders that stand in for a person's home."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"


def make_home(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Point longsearch's data, its cache and its socket into `folder`."""
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        place = folder / name.lower()
        place.mkdir()
        patch.setenv(name, str(place))
    return folder


@contextmanager
def home_with_samples(factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home for a module's tests, and in it the samples, not indexed yet."""
    with pytest.MonkeyPatch.context() as patch:
        folder = make_home(factory.mktemp("home"), patch) / "samples"
        shutil.copytree(SAMPLES, folder)
        yield folder
