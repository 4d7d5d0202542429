"""Folders that stand in for a person's home."""

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
