"""The child process as the parent sees it: start, ask, wait with a deadline, kill. POSIX. Knows no format."""

import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from indexer.extract import messages
from indexer.extract.child import OUT_OF_MEMORY_STATUS
from indexer.extract.limits import MAX_FRAME_BYTES

_SOURCE_ROOT = str(Path(__file__).parents[2])
# -P and the path appended by hand: neither the current folder nor ours may come before the standard library.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from indexer.extract.child import main; main()"
_READ_BYTES = 1 << 20


class ChildGoneError(Exception):
    """The child was killed or died; the text says why. It is no longer running."""


class ChildTimedOutError(ChildGoneError):
    """The child was killed because it took too long."""


class ChildProcess:
    """One child in its own session. Not for two threads at once."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-c", _PROGRAM, _SOURCE_ROOT]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101 - PIPE was asked for
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._answers, selectors.EVENT_READ)
        self._received = bytearray()

    @property
    def pid(self) -> int:
        """Its process id, which is its session's too."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it still runs; one that waits for a request may have been killed by someone else."""
        return self._process.poll() is None

    def ask(self, request: messages.Request) -> None:
        """Send `request`. Raises `ChildGoneError`."""
        try:
            self._requests.write(messages.encode(request))
            self._requests.flush()
        except OSError as error:
            raise self._gone() from error

    def next_message(self, timeout_s: float) -> messages.Message:
        """The next message. Raises `ChildGoneError` where none comes within `timeout_s` or it makes no sense."""
        deadline = time.monotonic() + timeout_s
        header = self._take(messages.HEADER.size, deadline, timeout_s)
        (n_bytes,) = messages.HEADER.unpack(header)
        if n_bytes > MAX_FRAME_BYTES:
            raise self._gone("sent nonsense")
        try:
            return messages.decode(self._take(n_bytes, deadline, timeout_s))
        except (ValueError, KeyError, TypeError) as error:
            raise self._gone("sent nonsense") from error

    def _take(self, n_bytes: int, deadline: float, timeout_s: float) -> bytes:
        while len(self._received) < n_bytes:
            if not self._selector.select(max(0.0, deadline - time.monotonic())):
                self.kill()
                raise ChildTimedOutError(f"took more than {timeout_s:.0f} s")
            data = os.read(self._answers.fileno(), _READ_BYTES)
            if not data:
                raise self._gone()
            self._received += data
        taken = bytes(self._received[:n_bytes])
        del self._received[:n_bytes]
        return taken

    def _gone(self, reason: str = "") -> ChildGoneError:
        """Kill what is left; why it is gone: `reason`, or what its exit status says."""
        if reason:
            self.kill()
            return ChildGoneError(reason)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)  # its pipe is closed: it is about to end by itself
        self.kill()
        status = self._process.returncode
        if status == OUT_OF_MEMORY_STATUS:
            return ChildGoneError("needed more than 1 GB of memory")
        if status < 0:
            # A library that gets no more memory aborts: it cannot be told from other crashes.
            return ChildGoneError(f"crashed the reader, or too much for its 1 GB of memory ({_signal_name(-status)})")
        return ChildGoneError(f"made the reader fail (status {status})")

    def interrupt(self) -> None:
        """From another thread: end it; whoever waits for its next message hears that it is gone."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL) if self._process.returncode is None else None

    def kill(self) -> None:
        """End it and free its pipes; may be called twice."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL) if self._process.poll() is None else None
        self._process.wait()
        self._selector.close()
        for pipe in (self._requests, self._answers):
            with suppress(OSError):  # what could not be sent is lost with the child
                pipe.close()


def _signal_name(number: int) -> str:
    return signal.strsignal(number) or f"signal {number}"
