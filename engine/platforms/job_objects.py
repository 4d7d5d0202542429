"""A job object of Windows: processes that end together, each with a limit of memory.

The system ends them all when the last handle of the job is closed, so they end with this process too. See "Job
Objects" and JOBOBJECT_EXTENDED_LIMIT_INFORMATION in Microsoft's documentation of Win32.
"""

import ctypes
from typing import Any

_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_PROCESS_MEMORY, _DIE_ON_UNHANDLED_EXCEPTION, _KILL_ON_CLOSE = 0x100, 0x400, 0x2000
_EXIT_CODE = 1


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("BasicLimitInformation", BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


def kernel32() -> Any:
    """Return the system's library, with the types of the functions that a job needs."""
    library = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]  # on Windows alone
    handle, number = ctypes.c_void_p, ctypes.c_uint32
    library.CreateJobObjectW.restype, library.CreateJobObjectW.argtypes = handle, (handle, ctypes.c_wchar_p)
    library.SetInformationJobObject.argtypes = (handle, ctypes.c_int, handle, number)
    library.AssignProcessToJobObject.argtypes = (handle, handle)
    library.TerminateJobObject.argtypes = (handle, number)
    library.CloseHandle.argtypes = (handle,)
    return library


class Job:
    """One job object."""

    def __init__(self, library: Any, memory_bytes: int) -> None:
        """`memory_bytes`: of each process. Raises OSError if the system refuses."""
        self._library = library
        self._handle = library.CreateJobObjectW(None, None)
        limits = ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _PROCESS_MEMORY | _DIE_ON_UNHANDLED_EXCEPTION | _KILL_ON_CLOSE
        limits.ProcessMemoryLimit = memory_bytes
        size = ctypes.sizeof(limits)
        if not self._handle or not library.SetInformationJobObject(
            self._handle, _EXTENDED_LIMITS, ctypes.byref(limits), size
        ):
            self.close()
            raise OSError("Windows made no job object with a limit of memory")

    def add(self, process_handle: int) -> None:
        """Put a process into the job; what it starts from now on belongs to it. Raises OSError if it cannot be."""
        if not self._library.AssignProcessToJobObject(self._handle, process_handle):
            raise OSError("Windows did not put the process into its job object")

    def kill(self) -> None:
        """Kill all processes of the job."""
        if self._handle:
            self._library.TerminateJobObject(self._handle, _EXIT_CODE)

    def close(self) -> None:
        """Close the handle, which kills them too."""
        if self._handle:
            self._library.CloseHandle(self._handle)
        self._handle = None
