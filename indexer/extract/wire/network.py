"""Takes the network away from the process that reads files (Linux): it can open no socket but one of this machine.

A filter of system calls (seccomp) refuses `socket` for every family but Unix's, which LibreOffice needs, and io_uring,
which opens sockets too. Programs that the process starts inherit it. It costs nothing that can be measured: 8
instructions for each system call. Other systems have no such filter without a program of their own.
"""

import ctypes
import errno
import os
import struct
import sys
from functools import cache

_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""Name -> (number of the architecture, number of the call `socket`)."""
_IO_URING_SETUP = 425
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FAMILY = 0, 4, 16  # places in what the filter is given
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
_X32 = 0x40000000
NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2


@cache
def leave_network() -> bool:
    """Refuse this process and its children the network from now on; return whether the system can do that."""
    if sys.platform != "linux" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    if (machine := _MACHINES.get(os.uname().machine)) is None:
        return False
    code = b"".join(struct.pack("HBBI", *one) for one in program(*machine))
    instructions = ctypes.create_string_buffer(code, len(code))
    given = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(instructions)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return int(prctl(_SET_SECCOMP, _FILTER, ctypes.byref(given), 0, 0)) == 0


def program(architecture: int, socket_call: int) -> list[tuple[int, int, int, int]]:
    """Return the filter: (code, steps if true, steps if false, number) of each instruction. Others are refused."""
    return [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, 7, architecture),  # a 32-bit program has other numbers
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 5, 0, _X32),
        (_EQUAL, 4, 0, _IO_URING_SETUP),
        (_EQUAL, 0, 2, socket_call),
        (_LOAD, 0, 0, _FAMILY),
        (_EQUAL, 0, 1, 1),  # AF_UNIX
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
