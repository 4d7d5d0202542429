"""`longsearch mcp` where the SDK is not installed, and what it does to the lines that come in."""

import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.app.cli import main
from longsearch.app.commands.mcp import repaired


def test_without_the_sdk_a_line_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["mcp"]) == 3
    said = capsys.readouterr().err
    assert "needs the package mcp" in said
    assert "pip install 'longsearch[mcp]'" in said


@given(st.text(st.characters(exclude_categories=[]) | st.sampled_from('\\"\ud83d\ude00')))
def test_half_of_a_surrogate_pair_becomes_a_sign_that_every_parser_takes(text: str) -> None:
    read = json.loads(repaired(json.dumps([text]).encode()))
    assert read[0] == json.loads(json.dumps(text)).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def test_what_only_looks_like_an_escape_stays() -> None:
    line = rb'["\\ud800", "\ud83d\ude00", "\n"]'
    assert repaired(line) == line
