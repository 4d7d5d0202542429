"""Home folders for tests."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"


def make_home(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make longsearch keep its data, its cache and its socket in `folder`, and look there for its config file."""
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"):
        place = folder / name.lower()
        patch.setenv(name, str(place))
        if name != "XDG_CONFIG_HOME":
            place.mkdir()
    return folder


@contextmanager
def home_with_samples(factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a home for the tests of a module, and yield a copy of the samples in it, not indexed yet."""
    with pytest.MonkeyPatch.context() as patch:
        folder = make_home(factory.mktemp("home"), patch) / "samples"
        shutil.copytree(SAMPLES, folder)
        yield folder
