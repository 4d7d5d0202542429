"""Tells on which file system a folder lies, which drives are mounted in it, and whether the kernel can watch it.

Reads Linux's table of mounts. Other systems keep no such table: there every folder counts as local. The functions that
parse the table are pure; `filesystem_of`, `drives_under` and `has_watch_left` ask the system.
"""

import ctypes
import errno
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

REMOTE_TYPES = frozenset((
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "coda", "ceph", "lustre", "beegfs", "glusterfs", "gpfs",
    "davfs", "9p", "virtiofs", "vboxsf", "prl_fs", "fuse.vmhgfs-fuse",
    "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.davfs2", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse",
    "fuse.gvfsd-fuse", "fuse.smbnetfs", "fuse.curlftpfs", "fuse.juicefs", "fuse.gcsfuse", "fuse.onedriver",
    "fuse.google-drive-ocamlfuse",
))  # fmt: skip
"""File systems that other machines or programs can change without the kernel noticing."""

_MOUNTS = Path("/proc/self/mounts")
_IN_CREATE = 0x100
_ESCAPE = re.compile(rb"\\([0-7]{3})")


def filesystem_type(path: bytes, mounts: bytes) -> str:
    """Return the type of the file system that `path` lies on; "" if the table does not say.

    `path` is absolute and has its links resolved. `mounts` is a table of mounts in the format of proc(5). If two file
    systems are mounted at one point, the later one hides the earlier.
    """
    found, depth = "", -1
    for _, point, kind in _mounts(mounts):
        if len(point) >= depth and (path + b"/").startswith(point + b"/"):
            found, depth = kind.decode(errors="replace"), len(point)
    return found


def mounted_under(path: bytes, mounts: bytes) -> frozenset[tuple[bytes, bytes]]:
    """Return (device, mount point) of everything mounted inside the folder `path`; arguments as `filesystem_type`."""
    folder = path.rstrip(b"/") + b"/"
    return frozenset((source, point) for source, point, _ in _mounts(mounts) if point.startswith(folder))


def _mounts(table: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield (device, mount point, type) of each valid line."""
    for line in table.splitlines():
        fields = line.split(b" ")
        if len(fields) >= 3:
            point = _ESCAPE.sub(lambda code: bytes([int(code[1], 8) & 255]), fields[1]).rstrip(b"/")
            yield fields[0], point, fields[2]


def filesystem_of(path: Path) -> str:
    """Return the type of the file system that `path` lies on; "" if this system keeps no table of mounts."""
    try:
        return filesystem_type(os.fsencode(path), _MOUNTS.read_bytes())
    except OSError:
        return ""


def drives_under(path: Path) -> frozenset[tuple[bytes, bytes]]:
    """Return (device, mount point) of everything mounted inside `path`; nothing if there is no table of mounts."""
    try:
        return mounted_under(os.fsencode(path), _MOUNTS.read_bytes())
    except OSError:
        return frozenset()


def has_watch_left(folder: Path) -> bool:
    """Return whether the kernel grants one more inotify watch.

    Call this after starting to watch: watchdog silently skips subfolders for which it gets no watch.
    """
    if not sys.platform.startswith("linux"):
        return True
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_CLOEXEC)
    if descriptor < 0:  # the limit on inotify instances is reached; the running observer already has its own
        return True
    try:
        return libc.inotify_add_watch(descriptor, os.fsencode(folder), _IN_CREATE) >= 0 or (
            ctypes.get_errno() != errno.ENOSPC
        )
    finally:
        os.close(descriptor)
