"""Connects processes of one user on one machine: by a Unix socket, on Windows by a named pipe with a key.

The folder of a Unix socket lets only the user in. A named pipe lies in no folder, so both sides prove that they know a
key: 32 random bytes in a file of the user's own folder, new with each server.
"""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection, Listener

_KEY_BYTES = 32
_QUEUE = 32  # callers that wait to be accepted: with multiprocessing's 1, a second one would be turned away


@dataclass(frozen=True, slots=True)
class Door:
    """A place at which a server listens."""

    family: str
    """The name of the family in `multiprocessing.connection`."""
    address: str
    file: Path
    """The socket, or the file of the key. Without it nobody listens."""
    has_key: bool

    @property
    def key(self) -> bytes | None:
        """The key. Raises OSError if there is no file."""
        return self.file.read_bytes() if self.has_key else None


def door(path: Path, platform: str = sys.platform) -> Door:
    """Return the door whose socket would lie at `path`."""
    if platform == "win32":
        return Door("AF_PIPE", rf"\\.\pipe\longsearch-{path.stem}", path.with_suffix(".key"), has_key=True)
    return Door("AF_UNIX", str(path), path, has_key=False)


def connect(there: Door, timeout_s: float) -> "Connection":
    """Connect to the server. Raises OSError, EOFError or `multiprocessing.AuthenticationError` if there is none.

    A server that is stopped accepts nobody: on Unix, neither to connect nor to send, nor to receive what has begun to
    come, takes longer than `timeout_s`.
    """
    from multiprocessing.connection import Client, Connection

    if there.has_key:
        return Client(there.address, family=there.family, authkey=there.key)
    import socket  # after multiprocessing, which has imported it

    with socket.socket(socket.AF_UNIX) as unix:
        limit(unix.fileno(), timeout_s)
        unix.connect(there.address)
        return Connection(unix.detach())


def limit(descriptor: int, timeout_s: float) -> None:
    """Let no sending and no receiving on a Unix socket take longer: it then raises BlockingIOError. Not on Windows."""
    if os.name == "nt":
        return
    import socket
    import struct

    with socket.socket(fileno=os.dup(descriptor)) as unix:
        seconds = struct.pack("@ll", *divmod(max(1, int(timeout_s * 1e6)), 1_000_000))  # 0 would be no limit
        unix.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, seconds)
        unix.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, seconds)


@contextmanager
def listening(here: Door) -> "Iterator[Listener]":
    """Listen at the door. The caller holds a lock, so what lies there was left by a server that died."""
    from multiprocessing.connection import Listener

    here.file.unlink(missing_ok=True)
    if here.has_key:
        _write(here.file, secrets.token_bytes(_KEY_BYTES))
    with Listener(here.address, family=here.family, backlog=_QUEUE, authkey=here.key) as listener:
        if not here.has_key:
            here.file.chmod(0o600)
        try:
            yield listener
        finally:
            if here.has_key:
                here.file.unlink(missing_ok=True)


def _write(file: Path, key: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(file, flags, 0o600), "wb") as made:
        made.write(key)
