"""`longsearch demo`: the samples, in a place that is gone afterwards."""

import os
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.commands.demo import sample_folder
from longsearch.app.paths import data_folder, index_paths


def test_the_samples_are_searched_beside_the_home_and_nothing_stays(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = data_folder()
    with sample_folder() as folder:
        assert {file.name for file in folder.iterdir()} >= {"beekeeping.md", "tides.md"}
        assert main(["index", "-q", str(folder)]) == 0
        assert main(["search", "colony", str(folder), "--mode", "words"]) == 0
        assert own not in data_folder().parents
        assert folder.parent in data_folder().parents
    assert "beekeeping.md" in capsys.readouterr().out
    assert data_folder() == own
    assert index_paths() == []
    assert not folder.parent.exists()


def test_an_error_inside_cleans_up_too(home: Path) -> None:
    before = os.environ["XDG_DATA_HOME"]
    with pytest.raises(KeyboardInterrupt), sample_folder() as folder:
        raise KeyboardInterrupt
    assert os.environ["XDG_DATA_HOME"] == before
    assert not folder.parent.exists()


def test_without_a_terminal_it_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 3
    assert "needs a terminal" in capsys.readouterr().err
