"""Asks the terminal what it can draw, before the app starts: while the app runs, it reads all that the terminal says.

The questions are sent first and the answers are read last, so the app is imported while the terminal answers.
"""

import os
import select
import sys
import time
from contextlib import suppress
from typing import Any

from longsearch.tui.graphics.terminal import (
    AUTO,
    BLOCKS,
    QUESTIONS,
    Graphics,
    gives_vowel_signs_cells,
    graphics_of,
    is_complete,
    is_light,
    typed_among,
)

WAIT_S = 0.15
"""Seconds to wait for the answers; over SSH, `WAIT_FAR_S`. A terminal on this machine needs a few milliseconds."""
WAIT_FAR_S = 0.5


class Probe:
    """`Probe()` asks; `finish` returns what the terminal answered. Use both once, one after the other."""

    def __init__(self, input_fd: int = 0, output_fd: int = 1, wished: str = AUTO) -> None:
        """`wished`: the protocol of the settings."""
        self._input, self._output, self._wished = input_fd, output_fd, wished
        self._mode: list[Any] | None = None
        self.is_light = False
        """Whether the terminal has said that its background is light; known once `finish` has returned."""
        self.gives_vowel_signs_cells = False
        """Whether it has shown that vowel signs take cells of their own; known once `finish` has returned."""
        can_answer = os.environ.get("TERM", "dumb") != "dumb"
        if sys.platform == "win32" or not (can_answer and os.isatty(input_fd) and os.isatty(output_fd)):
            return
        import termios
        import tty

        with suppress(OSError, termios.error):
            self._mode = termios.tcgetattr(input_fd)
            tty.setcbreak(input_fd, termios.TCSANOW)  # else the terminal would show the answers as if they were typed
            os.write(output_fd, QUESTIONS)

    def finish(self) -> tuple[Graphics, str]:
        """Return how the terminal draws, and the text that a person has typed meanwhile."""
        if self._mode is None:
            return BLOCKS, ""
        import termios

        answers = self._answers()
        with suppress(OSError, termios.error):
            termios.tcsetattr(self._input, termios.TCSANOW, self._mode)
        is_multiplexed = "TMUX" in os.environ or os.environ.get("TERM", "").startswith(("screen", "tmux"))
        self.is_light = is_light(answers)
        self.gives_vowel_signs_cells = gives_vowel_signs_cells(answers)
        typed = typed_among(answers).decode("utf-8", "ignore")
        graphics = graphics_of(answers, self._cell(), os.environ, is_multiplexed, self._wished)
        return graphics, typed if typed.isprintable() else ""

    def _answers(self) -> bytes:
        """Return all that arrives until the last answer, or until it is too late."""
        answers = b""
        deadline = time.monotonic() + (WAIT_FAR_S if "SSH_CONNECTION" in os.environ else WAIT_S)
        while not is_complete(answers) and (left_s := deadline - time.monotonic()) > 0:
            if select.select([self._input], [], [], left_s)[0]:
                read = os.read(self._input, 4_096)
                if not read:
                    break
                answers += read
        return answers

    def _cell(self) -> tuple[int, int] | None:
        """Return the pixels of a cell as the system knows them."""
        import fcntl
        import struct
        import termios

        with suppress(OSError):
            answer = fcntl.ioctl(self._output, termios.TIOCGWINSZ, bytes(8))
            rows, columns, width, height = struct.unpack("HHHH", answer)
            if rows and columns and width and height:
                return width // columns, height // rows
        return None
