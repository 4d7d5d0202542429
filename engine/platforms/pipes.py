"""Reads the pipes of another process with a time limit: by `selectors`, on Windows by threads."""

import os
import queue
import selectors
import sys
import threading
from collections.abc import Sequence
from typing import IO, Protocol

_READ_BYTES = 1 << 20
_AHEAD = 4  # blocks that a thread reads before somebody takes them
_LOOK_EVERY_S = 0.1


class PipeReader(Protocol):
    """Reads some pipes."""

    def read(self, timeout_s: float | None = None) -> tuple[int, bytes] | None:
        """Return the pipe that has something new, and its bytes: b"" at its end. None after `timeout_s` seconds."""

    def close(self) -> None:
        """End reading. The pipes stay open."""


class SelectReader:
    """Reads by `selectors`. On Windows they read sockets only."""

    def __init__(self, pipes: Sequence[IO[bytes]]) -> None:
        self._selector = selectors.DefaultSelector()
        for number, pipe in enumerate(pipes):
            self._selector.register(pipe, selectors.EVENT_READ, number)

    def read(self, timeout_s: float | None = None) -> tuple[int, bytes] | None:
        """See `PipeReader`."""
        for key, _ in self._selector.select(timeout_s):
            data = os.read(key.fd, _READ_BYTES)
            if not data:
                self._selector.unregister(key.fileobj)
            return int(key.data), data
        return None

    def close(self) -> None:
        """See `PipeReader`."""
        self._selector.close()


class ThreadReader:
    """Reads by a thread for each pipe."""

    def __init__(self, pipes: Sequence[IO[bytes]]) -> None:
        self._found: queue.Queue[tuple[int, bytes]] = queue.Queue(_AHEAD)
        self._closing = threading.Event()
        for number, pipe in enumerate(pipes):
            threading.Thread(target=self._read_all, args=(number, pipe.fileno()), daemon=True).start()

    def read(self, timeout_s: float | None = None) -> tuple[int, bytes] | None:
        """See `PipeReader`."""
        try:
            return self._found.get(timeout=timeout_s) if timeout_s != 0 else self._found.get_nowait()
        except queue.Empty:
            return None

    def close(self) -> None:
        """See `PipeReader`."""
        self._closing.set()

    def _read_all(self, number: int, descriptor: int) -> None:
        data = b"?"
        while data and not self._closing.is_set():
            try:
                data = os.read(descriptor, _READ_BYTES)
            except OSError:  # the pipe was closed
                data = b""
            self._put((number, data))

    def _put(self, found: tuple[int, bytes]) -> None:
        while not self._closing.is_set():
            try:
                return self._found.put(found, timeout=_LOOK_EVERY_S)
            except queue.Full:
                continue


def reader_of(pipes: Sequence[IO[bytes]], platform: str = sys.platform) -> PipeReader:
    """Return a reader of these pipes."""
    return ThreadReader(pipes) if platform == "win32" else SelectReader(pipes)
