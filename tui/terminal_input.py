"""Reads the keys that a terminal sends, on Linux and macOS.

Textual's driver waits 100 to 200 ms after Esc, in which the rest of an escape sequence could come. A byte that is not
UTF-8 ends it with a traceback. It reads the end of a terminal that has gone again and again, on a whole core. The
kernel ends a program with its terminal (SIGHUP), but not one under `nohup` or in a session of its own.
"""

import os
from codecs import getincrementaldecoder
from select import select

from textual import constants, messages
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key

ESCAPE = b"\x1b"
ESCAPE_S = constants.ESCAPE_DELAY if "ESCDELAY" in os.environ else 0.005
"""The wait for the rest of a sequence after Esc alone. A terminal writes a sequence in one piece."""
LOOK_EVERY_S = 0.1
"""How often it looks whether the app has ended."""
_MOST_BYTES = 4096


class TerminalInput(LinuxDriver):
    """Textual's driver, but for what the module says."""

    def run_input_thread(self) -> None:
        """Give the app what the terminal sends, until the app ends. End the app when the terminal has gone."""
        parser, decode = XTermParser(self._debug), getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            if self._has_more(LOOK_EVERY_S):
                if not (sent := self._sent()):
                    self._app.post_message(messages.ExitApp())
                    return
                if sent == ESCAPE and not self._has_more(ESCAPE_S):
                    self.process_message(Key("escape", "\x1b"))
                elif text := decode(sent):
                    for message in parser.feed(text):
                        self.process_message(message)
            for message in parser.tick():
                self.process_message(message)

    def _has_more(self, wait_s: float) -> bool:
        """Return whether the terminal sends something within so many seconds, or has gone."""
        return bool(select([self.fileno], [], [], wait_s)[0])

    def _sent(self) -> bytes:
        """Return what the terminal has sent; b"" if it has gone."""
        try:
            return os.read(self.fileno, _MOST_BYTES)
        except OSError:
            return b""
