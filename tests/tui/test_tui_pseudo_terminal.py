"""The terminal is asked what it can draw before the app starts, and what the app writes to it is a page."""

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import numpy as np
import pytest
import rich.cells

from longsearch.tui.graphics.probe import Probe
from longsearch.tui.graphics.terminal import BLOCKS, QUESTIONS, Graphics, GraphicsProtocol
from longsearch.tui.graphics.vowel_signs import give_vowel_signs_cells
from tests.tui.decoding import from_kitty

ANSWERS = b"\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.40)\x1b\\\x1b[6;16;8t\x1b[?62;c"
PATIENCE_S = 60.0
PROGRAM = """
from tests.tui.fake_backend import three_reports
from longsearch.tui.graphics.probe import Probe
probe = Probe()
from longsearch.tui.app import LongsearchApp
graphics, typed = probe.finish()
LongsearchApp(three_reports(), graphics=graphics, typed=typed).run()
"""


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """A pseudo-terminal: (the terminal's side, the program's side)."""
    for name in ("TMUX", "SSH_CONNECTION", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 110, 110 * 8, 30 * 16))
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def read_until(terminal: int, wanted: bytes, output: bytearray) -> None:
    """Read what is written to the terminal until `wanted` is among it."""
    end = time.monotonic() + PATIENCE_S
    while wanted not in output:
        assert time.monotonic() < end, f"{wanted!r} never came: {bytes(output[-500:])!r}"
        if select.select([terminal], [], [], 0.1)[0]:
            output += os.read(terminal, 1 << 16)


def test_the_answers_are_read_and_the_terminals_mode_is_as_before(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    mode = termios.tcgetattr(theirs)
    probe = Probe(theirs, theirs)
    asked = bytearray()
    read_until(ours, QUESTIONS, asked)
    os.write(ours, b"why" + ANSWERS)
    graphics, typed = probe.finish()
    assert graphics == Graphics(GraphicsProtocol.KITTY, 8, 16) and typed == "why"
    assert termios.tcgetattr(theirs) == mode
    assert bytes(asked) == QUESTIONS, "the answers are not echoed"


@pytest.mark.parametrize(("column", "has_cells"), [(2, False), (3, True), (40, False)])
def test_the_terminal_shows_whether_a_vowel_sign_takes_a_cell(
    terminal: tuple[int, int], column: int, has_cells: bool
) -> None:
    probe = Probe(terminal[1], terminal[1])
    os.write(terminal[0], b"why\x1b[12;%dR" % column + ANSWERS)
    assert probe.finish()[1] == "why"
    assert probe.gives_vowel_signs_cells is has_cells


def test_vowel_signs_are_counted_as_the_terminal_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    known = vars(rich.cells)["load_cell_table"]
    monkeypatch.setattr(rich.cells, "load_cell_table", known)  # is there again after the test
    others = ("naïve", "한국어", "ติดตั้ง", "שָׁלוֹם", "👩‍👩‍👧", "e\u0301")
    before = [rich.cells.cell_len(text) for text in others]
    assert rich.cells.cell_len("कानूनी पक्ष") == 7
    give_vowel_signs_cells()
    assert rich.cells.cell_len("कानूनी पक्ष") == 9  # ा and ी; ू and ् stand below
    assert rich.cells.cell_len("আমি") == 3
    assert [rich.cells.cell_len(text) for text in others] == before
    monkeypatch.undo()
    rich.cells.get_character_cell_size.cache_clear()
    rich.cells.cached_cell_len.cache_clear()
    assert rich.cells.cell_len("कानूनी पक्ष") == 7


def test_a_terminal_that_says_nothing_gets_half_blocks(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longsearch.tui.graphics.probe.WAIT_S", 0.01)
    assert Probe(terminal[1], terminal[1]).finish() == (BLOCKS, "")


def test_only_a_capable_terminal_is_asked(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w+b") as file:
        assert Probe(file.fileno(), file.fileno()).finish() == (BLOCKS, "")
        assert file.tell() == 0
    monkeypatch.setenv("TERM", "dumb")
    assert Probe(terminal[1], terminal[1]).finish() == (BLOCKS, "")
    assert not select.select([terminal[0]], [], [], 0)[0]


def test_in_a_terminal_with_graphics_v_writes_the_page_and_leaving_takes_it_away(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    environment = os.environ | {"COLORTERM": "truecolor"}
    command = [sys.executable, "-c", PROGRAM]
    app = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=Path(__file__).parents[2]
    )
    output = bytearray()
    try:
        read_until(ours, QUESTIONS, output)
        os.write(ours, ANSWERS)
        read_until(ours, b"documents ready", output)
        os.write(ours, b"valve\r")
        read_until(ours, b"3 documents", output)
        os.write(ours, b"\rv")
        read_until(ours, b"\x1b8", output)
        keys, pixels = from_kitty(output.decode("utf-8", "replace"))
        assert pixels.shape == (int(keys["r"]) * 16, int(keys["c"]) * 8, 3)
        assert (pixels == 255).all(axis=2).any() and (pixels == 0x60).all(axis=2).any()
        assert np.unique(pixels.reshape(-1, 3), axis=0).shape[0] > 3, "the passage is marked"
        del output[:]
        os.write(ours, b"\x11")
        read_until(ours, b"a=d,d=I", output)
        reader = threading.Thread(target=lambda: read_until(ours, b"\x1b[?1049l", output))
        reader.start()
        assert app.wait(PATIENCE_S) == 0
        reader.join()
    finally:
        app.kill()
        app.wait()


def test_ctrl_z_suspends_the_app_and_a_signal_of_the_shell_brings_its_screen_back(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    environment, place = os.environ | {"TERM": "xterm"}, Path(__file__).parents[2]
    command = [sys.executable, "-c", PROGRAM]  # in a group of its own, as a job of a shell is
    app = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=place, process_group=0
    )
    output = bytearray()
    try:
        read_until(ours, b"documents ready", output)
        os.write(ours, b"valve\r")
        read_until(ours, b"3 documents", output)  # all is drawn: what comes after the signal is drawn for it
        os.write(ours, b"\x1a")
        read_until(ours, b"\x1b[?1049l", output)
        assert os.WIFSTOPPED(os.waitpid(app.pid, os.WUNTRACED)[1])
        del output[:]
        app.send_signal(signal.SIGCONT)
        read_until(ours, b"\x1b[?1049h", output)
        read_until(ours, b"documents ready", output)
        read_until(ours, b"3 documents", output)
    finally:
        app.kill()
        app.wait()
