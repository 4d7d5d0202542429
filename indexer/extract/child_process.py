"""A child process that reads or draws files for this one: starts it, asks it, waits until a deadline, kills it.

This module knows the messages, and no file. `engine.platforms` knows the differences of platforms.
"""

import signal
import socket
import subprocess
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress

from longsearch.engine.errors import ExtractionError
from longsearch.engine.platforms.pipes import PipeReader, reader_of
from longsearch.engine.platforms.processes import Group, group_of, kept_waiting_s, outliving, processor_s
from longsearch.indexer.extract.child import OUT_OF_MEMORY_STATUS
from longsearch.indexer.extract.tools import folders_of_programs, remove_folder_of
from longsearch.indexer.extract.wire import handing, jail, protocol
from longsearch.indexer.extract.wire.limits import MEMORY_BYTES, START_TIMEOUT_S, STARVED_TIMES, STUCK_S
from longsearch.indexer.extract.wire.protocol import AnyRequest, Ended, Failed, GoesOn, Message, Started


class ChildGoneError(Exception):
    """The child was killed or died, and no longer runs; the text says why."""


class ChildTimedOutError(ChildGoneError):
    """The child was killed because it took too long."""


class TimeLimit:
    """How long a child may work. While others have the processors, its time stands still, up to a limit."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._began_at = time.monotonic()
        self._granted_s = 0.0

    @property
    def left_s(self) -> float:
        """Seconds until the child has to end; 0 if it is late."""
        return max(0.0, self.timeout_s + self._granted_s - (time.monotonic() - self._began_at))

    def grant(self, seconds: float) -> None:
        """Note that the child was kept waiting so long, at most since the limit began."""
        elapsed_s = time.monotonic() - self._began_at
        self._granted_s = min(self._granted_s + seconds, elapsed_s, STARVED_TIMES * self.timeout_s)


class ChildProcess:
    """One child process, apart from this one's terminal. It is killed when nothing refers to this object any more."""

    def __init__(self, command: Sequence[str]) -> None:
        ends: Sequence[socket.socket | None] = socket.socketpair() if jail.version() else (None, None)
        self._files, theirs = ends
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and program
            (*command, *([str(theirs.fileno()), *folders_of_programs()] if theirs else [])),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            pass_fds=[theirs.fileno()] if theirs else [],
            **outliving(),
        )
        if theirs:
            theirs.close()
        self._group = group_of(self._process, MEMORY_BYTES)
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101 - both are PIPE
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._reader = reader_of([self._answers])
        self._received = bytearray()
        self.pid = self._process.pid
        self._kept_waiting_s = 0.0
        # A forgotten child would wait for requests as long as this process lives.
        self._end = weakref.finalize(self, _end, self._process, self._group, self._reader, self._files)

    @property
    def is_alive(self) -> bool:
        """Whether the child still runs; an idle one may have been killed by another program."""
        return self._process.poll() is None

    def converse(
        self,
        request: AnyRequest,
        timeout_s: float,
        limit: TimeLimit,
        take: Callable[[Message], None],
        stuck_s: float = STUCK_S,
    ) -> None:
        """Send `request` and `take` every message of the answer but the last.

        The child works at most `timeout_s` seconds between two messages, uses a processor for about `stuck_s` of them,
        and takes no longer than `limit` in all; its start does not count between messages. Raises the child's own
        `ExtractionError`, `ChildGoneError`, and whatever `take` raises. After an unfinished answer the child is killed,
        or the rest of the answer would be taken for the next file's.
        """
        finished = False
        try:
            self._newly_kept_waiting_s()
            self._ask(request)
            wait_s = START_TIMEOUT_S
            while not finished:
                if limit.left_s < wait_s:
                    limit.grant(self._newly_kept_waiting_s())
                message = self._next_message(min(wait_s, limit.left_s), limit, stuck_s)
                wait_s = timeout_s
                finished = isinstance(message, Ended | Failed)
                if isinstance(message, Failed):
                    raise ExtractionError(message.message, message.hint)
                if not isinstance(message, Started | GoesOn | Ended):
                    take(message)
        finally:
            if not finished:
                self.kill()

    def _ask(self, request: AnyRequest) -> None:
        try:
            if request.is_handed and self._files is not None:
                handing.hand_over(request.path, self._files)
            self._requests.write(protocol.encode(request))
            self._requests.flush()
        except OSError as error:
            raise self._death() from error

    def _next_message(self, timeout_s: float, of_all: TimeLimit, stuck_s: float) -> Message:
        limits = TimeLimit(timeout_s), of_all, stuck_s
        try:
            n_bytes = protocol.body_length(self._receive(protocol.HEADER.size, *limits))
            return protocol.decode(self._receive(n_bytes, *limits))
        except (ValueError, KeyError, TypeError) as error:
            raise ChildGoneError("sent nonsense") from error

    def _receive(self, n_bytes: int, limit: TimeLimit, of_all: TimeLimit, stuck_s: float = STUCK_S) -> bytes:
        used_before_s: float | None = None  # until the first look: most messages come before it
        while len(self._received) < n_bytes:
            found = self._reader.read(min(limit.left_s, stuck_s / 3))
            if found is None:
                used_s = processor_s(self.pid)
                used_before_s = used_s if used_before_s is None else used_before_s
                if used_s - used_before_s >= stuck_s:
                    raise ChildGoneError(f"did not go on in {stuck_s:.0f} s of processor time")
                waited_s = self._newly_kept_waiting_s()
                limit.grant(waited_s)
                of_all.grant(waited_s)
                if limit.left_s:
                    continue
                raise ChildTimedOutError(f"took more than {limit.timeout_s:.0f} s")
            _, data = found
            if not data:
                raise self._death()
            self._received += data
        taken = bytes(self._received[:n_bytes])
        del self._received[:n_bytes]
        return taken

    def _newly_kept_waiting_s(self) -> float:
        """Return how long the child has waited for a processor since this was asked last."""
        before, self._kept_waiting_s = self._kept_waiting_s, kept_waiting_s(self.pid)
        return max(0.0, self._kept_waiting_s - before)

    def _death(self) -> ChildGoneError:
        """Return an error that says, by the exit status, why the child closed its pipes."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)  # the pipe is closed, so the child is about to end by itself
        self.kill()
        status = self._process.returncode
        if status == OUT_OF_MEMORY_STATUS:
            return ChildGoneError("needed more than 1 GB of memory")
        if status < 0:  # a library that runs out of memory aborts, which looks like any other crash
            name = signal.strsignal(-status) or f"signal {-status}"
            return ChildGoneError(f"crashed the reader, or needed more than 1 GB of memory ({name})")
        return ChildGoneError(f"made the reader fail (status {status})")

    def interrupt(self) -> None:
        """Kill the child and its subprocesses. A `converse` in another thread then raises `ChildGoneError`."""
        self._group.kill()

    def kill(self) -> None:
        """Kill the child and free its pipes; may be called twice."""
        self._end()


def _end(process: "subprocess.Popen[bytes]", group: Group, reader: PipeReader, files: socket.socket | None) -> None:
    group.kill()
    process.wait()
    remove_folder_of(process.pid)
    group.close()
    reader.close()
    if files is not None:
        files.close()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None  # noqa: S101 - both are PIPE
        with suppress(OSError):  # the rest of a request cannot be sent any more
            pipe.close()
