"""The whole job without torch: a plain install has none. Each test runs in a process in which nobody can import it."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from longsearch.app.daemon import thread_limit
from longsearch.app.models import cards
from longsearch.engine.inference import numpy_encoder

REPOSITORY = Path(__file__).parents[2]
BLOCKED = """
import sys
for name in ("torch", "transformers", "onnxruntime"):
    sys.modules[name] = None
from longsearch.app.cli import main
"""
JOB = """
import json, longsearch
root = sys.argv[1]
print(main(["index", "-q", root]))
print(main(["search", "why do harbours keep two clocks", root, "--mode", "meaning"]))
print(main(["similar", root + "/tides.md", root]))
print(longsearch.search(root, "the moon", mode="meaning").hits[0].title)
"""
REFUSED = """
print(main(["eval", "somewhere"]))
print(main(["bench"]))
"""


def run(program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + program, *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_folder_is_indexed_and_searched_by_meaning_without_torch(root: Path) -> None:
    ended = run(JOB, str(root))
    assert ended.returncode == 0, ended.stderr
    printed = ended.stdout.splitlines()
    assert printed[:2] == ["2 files: 2 current; 512 of 512 tokens embedded", "0"]
    assert printed.count("0") == 3
    assert printed[-1] == "Why harbours keep two clocks"


def test_a_command_that_needs_torch_says_how_to_install_it() -> None:
    ended = run(REFUSED)
    assert ended.stdout.splitlines() == ["3", "3"]
    assert ended.stderr.count("needs torch, which is not installed") == 2
    assert ended.stderr.count("pip install 'longsearch[torch]'") == 2


def test_a_card_that_nobody_uses_is_told_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cards.shutil, "which", lambda _: "/usr/bin/nvidia-smi")
    cards.tell_once()
    assert capsys.readouterr().err == ""  # torch is here
    monkeypatch.setattr("longsearch.engine.inference.opening.has_torch", lambda: False)
    for expected in (1, 0):
        cards.tell_once()
        assert capsys.readouterr().err.count("longsearch[torch]") == expected


def test_half_of_the_threads_read_on_battery(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_limit, "has_torch", lambda: False)
    monkeypatch.setattr(numpy_encoder, "saves_power", False)
    for on_battery in (True, False):
        thread_limit.ThreadLimit(partial(bool, on_battery)).adapt()
        assert numpy_encoder.saves_power is on_battery
