"""What a terminal sends reaches the app as by Textual's own driver, and Esc without its wait."""

import os
import pty
import sys
from collections.abc import Iterator, Sequence
from threading import Event, Thread
from typing import Any
from unittest.mock import Mock

import pytest

if sys.platform == "win32":
    pytest.skip("Textual's own driver reads the keys on Windows", allow_module_level=True)

from textual import messages
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key

from longsearch.tui.app import LongsearchApp
from longsearch.tui.terminal_input import ESCAPE_S, TerminalInput
from tests.tui.fake_backend import three_reports

LAST = "\x1b[24~"
"""F12: the input ends with it."""
SENT = (
    "why did it overheat é 한 👩‍👧\r\x7f\t\x01",
    "\x1b[A\x1bOP\x1b[15~\x1b[1;5C\x1b[6~\x1bj",
    "\x1b[<0;12;7M\x1b[<0;12;7m\x1b[<64;3;4M\x1b[<35;9;9M",
    "\x1b[200~pasted \x1b text\r\nof two lines\x1b[201~",
    "\x1b[I\x1b[O\x1b[?2026;2$y\x1b[48;40;140;640;1120t",
    "\x1b[106;1;106u\x1b[27u\x1b[57358u",
    "\x1b[unknown\x1b[999~",
)


class Reads:
    """A driver that keeps what it read."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver.__new__(driver)
        self.driver.exit_event, self.driver._debug, self.driver._app = Event(), False, Mock()
        self.driver.process_message = self._keep
        self.found: list[str] = []

    def _keep(self, message: Any) -> None:
        self.found.append(repr(message))
        if getattr(message, "key", "") == "f12":
            self.driver.exit_event.set()

    def of(self, sent: bytes) -> list[str]:
        """Return what it read of a pipe."""
        self.driver.fileno, theirs = os.pipe()
        try:
            os.write(theirs, sent)
            self.driver.run_input_thread()
        finally:
            os.close(theirs)
            os.close(self.driver.fileno)
        return self.found

    def of_parts(self, parts: Sequence[bytes]) -> list[str]:
        """Return what it read of parts; b"" stands for a while without any."""
        waiting: Iterator[bytes] = iter(parts)
        given: list[bytes] = []

        def has_more(_: float) -> bool:
            given[:] = given or [next(waiting)]
            if not given[0]:
                given.clear()
            return bool(given)

        self.driver._has_more, self.driver._sent = has_more, given.pop
        self.driver.run_input_thread()
        return self.found


def every_message(sent: str) -> list[str]:
    """Return what Textual's own driver reads, of F12 too."""
    return Reads(LinuxDriver).of((sent + LAST).encode())


def test_all_that_a_terminal_sends_is_read_as_by_textuals_driver() -> None:
    for sent in SENT:
        assert Reads(TerminalInput).of((sent + LAST).encode()) == every_message(sent), sent


def test_a_sequence_may_come_in_two_parts() -> None:
    for text in SENT:
        sent = (text + LAST).encode()
        whole = Reads(TerminalInput).of(sent)
        for at in range(1, len(sent)):
            assert Reads(TerminalInput).of_parts([sent[:at], sent[at:]]) == whole, (sent[:at], sent[at:])


def test_escape_alone_is_a_key_as_soon_as_nothing_follows() -> None:
    assert ESCAPE_S <= 0.01 or "ESCDELAY" in os.environ
    found = Reads(TerminalInput).of_parts([b"\x1b", b"", b"j", b"\x1b", b"", LAST.encode()])
    escape = repr(Key("escape", "\x1b"))
    assert found == [escape, every_message("j")[0], escape, *every_message("")]


def test_a_byte_that_is_not_utf_8_costs_nothing_else() -> None:
    found = Reads(TerminalInput).of(b"a\xff\xc3(b" + LAST.encode())
    assert [found[0], found[-2]] == every_message("ab")[:2]


def test_the_app_reads_its_terminal_so() -> None:
    assert LongsearchApp(three_reports()).driver_class is TerminalInput


def test_the_app_ends_when_its_terminal_has_gone_and_no_signal_says_so() -> None:
    ours, theirs = pty.openpty()
    reads = Reads(TerminalInput)
    reads.driver.fileno = theirs
    thread = Thread(target=reads.driver.run_input_thread)
    thread.start()
    os.close(ours)
    thread.join(60)
    os.close(theirs)
    (said,) = reads.driver._app.post_message.call_args.args
    assert isinstance(said, messages.ExitApp)
