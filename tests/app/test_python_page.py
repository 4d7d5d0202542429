"""The examples of docs/python.md run, on the samples."""

import doctest
import shutil
from pathlib import Path

import pytest

from longsearch.app.cli import main
from tests.app.homes import SAMPLES, make_home

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_every_example_of_the_page_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_home(tmp_path, monkeypatch)
    monkeypatch.setenv("HOME", str(home))
    shutil.copytree(SAMPLES, home / "papers")
    assert main(["index", "-q", str(home / "papers")]) == 0
    done = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.REPORT_NDIFF)
    assert done.failed == 0
    assert done.attempted > 20
