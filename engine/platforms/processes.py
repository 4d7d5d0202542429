"""Starts processes that outlive this one, says whether a process runs or waits, and kills one with its children."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import subprocess  # 5 ms that a search need not wait: it only asks whether a process runs

_DETACHED_PROCESS, _NEW_PROCESS_GROUP = 0x8, 0x200  # of Windows' CreateProcess


def outliving(platform: str = sys.platform) -> dict[str, Any]:
    """Return the options of `Popen` for a program that goes on when this one or its terminal ends."""
    if platform == "win32":
        return {"creationflags": _DETACHED_PROCESS | _NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def is_running(pid: int, platform: str = sys.platform) -> bool:
    """Return whether a process with this id runs, whoever owns it."""
    if platform == "win32":  # os.kill would end it
        import psutil

        return bool(psutil.pid_exists(pid))
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def kept_waiting_s(pid: int) -> float:
    """Return the seconds that a process was ready to run while others had the processors; 0 where that is unknown."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def processor_s(pid: int) -> float:
    """Return the processor time that a process itself has used, in seconds; 0 where that is unknown."""
    import psutil  # takes 30 ms, and only who waits long asks

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


class Group(Protocol):
    """A process with all that it has started."""

    def kill(self) -> None:
        """Kill them; may be called again."""

    def close(self) -> None:
        """Give back what the system keeps for the group."""


class Session:
    """A POSIX session, which its first process leads: one started with `start_new_session`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def kill(self) -> None:
        """See `Group`."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """See `Group`."""


def group_of(process: "subprocess.Popen[bytes]", memory_bytes: int, platform: str = sys.platform) -> Group:
    """Return the group of a process that was just started with the options of `outliving`.

    On Windows each process of the group may take `memory_bytes` of memory; elsewhere a process limits itself.
    """
    if platform != "win32":
        return Session(process)
    from longsearch.engine.platforms.job_objects import Job, kernel32

    job = Job(kernel32(), memory_bytes)
    job.add(int(process._handle))  # type: ignore[attr-defined]
    return job
