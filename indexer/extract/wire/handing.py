"""Hands an open file from the parent to the child that reads it: in its `jail` the child can open none by its path."""

import os
import socket
import stat
from pathlib import Path

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.sources import Opened

HINT = "check that it is there and that you may read it"
_held: list[int] = []
"""In the child: the file that was handed over last, and stays open until the next."""
_ends: dict[int, socket.socket] = {}
"""In the child: the end of its channel."""


def hand_over(file: str, channel: socket.socket) -> None:
    """Open a file and send it to the child. Raises ExtractionError, and OSError if the child is gone."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe in its place must not block
    except OSError as error:
        raise ExtractionError(f"cannot be opened: {error.strerror or error}", HINT) from error
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise ExtractionError("not a regular file")
        socket.send_fds(channel, [b"f"], [opened])
    finally:
        os.close(opened)


def take(file: str, channel: int) -> Opened:
    """Return the file that the parent handed over last; `file` is its path, for its name."""
    while _held:
        os.close(_held.pop())
    if channel not in _ends:
        _ends[channel] = socket.socket(fileno=channel)
    _, _held[:], _, _ = socket.recv_fds(_ends[channel], 1, 1)
    return Opened(Path(file).name, _held[0])
