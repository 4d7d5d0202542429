"""Takes other files away from the process that reads one (Linux): it can open programs and fonts, nothing of a person.

The kernel's Landlock allows a list of places and refuses all others, to this process and to each that it starts. The
file to be read is handed over open (`handing`), or is on the list if a program has to open it. It restricts opening,
listing, writing and running; `stat` it does not. It costs a process 2 ms, which reads a thousand files. An older
kernel and other systems have no such thing.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from longsearch.indexer.extract.wire.network import NO_NEW_PRIVILEGES

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # numbers of the system calls, on every machine
_ASK_VERSION, _PATH_BENEATH = 1, 1
_RUN, _WRITE, _READ, _LIST, _TRUNCATE, _DEVICE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
_REMOVE_FILE, _MAKE_SOCKET = 1 << 5, 1 << 9
_OF_FILES = _RUN | _WRITE | _READ | _TRUNCATE | _DEVICE
_N_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Version of Landlock -> how many rights over files it knows; later ones know 16."""
_TCP, _SIGNALS_AND_ABSTRACT_SOCKETS = 3, 3
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store", "/snap", "/etc"),
    *(
        "/proc",
        "/sys/devices/system",
        "/run/current-system",
        "/var/cache/fontconfig",
        "/var/lib/libreoffice",
        "/var/spool/libreoffice",
    ),
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_FONTS = ("~/.fonts", "~/.local/share/fonts", "~/.config/fontconfig")


@cache
def version() -> int:
    """Return the version of Landlock that the kernel has; 0 if it has none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc().syscall(_CREATE, None, ctypes.c_size_t(0), _ASK_VERSION)))


def enter(
    import_root: str, programs: Iterable[str], readable: Iterable[str] = (), writable: Iterable[str] = ()
) -> bool:
    """Refuse this process all files but those of programs, `readable` and `writable`; return whether that was done.

    `programs`: the folders of those that it may start (`tools.folders_of_programs`).

    A second call can only take more away.
    """
    if not (known := version()):
        return False
    rights = (1 << _N_RIGHTS.get(known, 16)) - 1
    attributes = struct.pack("QQQ", rights, _TCP, _SIGNALS_AND_ABSTRACT_SOCKETS)
    attributes = attributes[: 8 if known < 4 else 16 if known < 6 else 24]
    rules = int(_libc().syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0))
    if rules < 0:
        return False
    try:
        for path in {*_of_programs(import_root, programs), *readable}:
            _allow(rules, path, rights & (_RUN | _READ | _LIST))
        _allow(rules, _DEVICES[0], rights & (_READ | _WRITE | _TRUNCATE))
        for path in _DEVICES[1:]:
            _allow(rules, path, _READ)
        for path in writable:
            _allow(rules, path, rights)
            _allow(rules, "/tmp", _REMOVE_FILE | _MAKE_SOCKET)  # noqa: S108 - LibreOffice has a socket there, ever so
        if _libc().prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            return False
        return int(_libc().syscall(_RESTRICT, rules, 0)) == 0
    finally:
        os.close(rules)


def _of_programs(import_root: str, programs: Iterable[str]) -> Iterator[str]:
    """Yield the places of Python, its libraries, other programs and fonts. A home folder is none, nor is one above."""
    home = Path.home().resolve()
    for place in (*sys.path, sys.prefix, sys.base_prefix, os.environ.get("TESSDATA_PREFIX", "")):
        if place and not home.is_relative_to(Path(place).resolve()):
            yield place
    yield from (*programs, import_root)
    yield from (*_SYSTEM, *map(os.path.expanduser, _FONTS))


def _allow(rules: int, path: str, rights: int) -> None:
    """Allow `rights` over what lies at `path`, if there is anything."""
    with suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rights &= -1 if os.path.isdir(path) else _OF_FILES  # noqa: PTH112 - a Path costs more
            _libc().syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
        finally:
            os.close(place)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
