"""`longsearch mcp` where the SDK is not installed."""

import importlib.util
from pathlib import Path

import pytest

from longsearch.app.cli import main


def test_without_the_sdk_a_line_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["mcp"]) == 3
    said = capsys.readouterr().err
    assert "needs the package mcp" in said
    assert "pip install 'longsearch[mcp]'" in said
