"""How the changes of a folder can be noticed: whether the kernel hears of them, and has a watch left; and which drives
have come or gone. By Linux's table of mounts; elsewhere the system's own way is taken as it is.

The decisions are pure; `filesystem_of`, `drives_under` and `has_watch_left` ask the system.
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
"""File systems that others change behind the kernel's back."""

_MOUNTS = Path("/proc/self/mounts")
_IN_CREATE = 0x100
_ESCAPE = re.compile(rb"\\([0-7]{3})")


def filesystem_type(path: bytes, mounts: bytes) -> str:
    """The type of the file system that `path` (absolute, links resolved) lies on, by a table of mounts as proc(5) has
    it; "" where the table does not say. Of two mounts on one point the later hides the earlier.
    """
    found, depth = "", -1
    for _, point, kind in _mounts(mounts):
        if len(point) >= depth and (path + b"/").startswith(point + b"/"):
            found, depth = kind.decode(errors="replace"), len(point)
    return found


def mounted_under(path: bytes, mounts: bytes) -> frozenset[tuple[bytes, bytes]]:
    """(what, where) of everything that is mounted in the folder `path`, which is as for `filesystem_type`."""
    folder = path.rstrip(b"/") + b"/"
    return frozenset((source, point) for source, point, _ in _mounts(mounts) if point.startswith(folder))


def _mounts(table: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """(what, where, type) of each line that makes sense."""
    for line in table.splitlines():
        fields = line.split(b" ")
        if len(fields) >= 3:
            point = _ESCAPE.sub(lambda code: bytes([int(code[1], 8) & 255]), fields[1]).rstrip(b"/")
            yield fields[0], point, fields[2]


def filesystem_of(path: Path) -> str:
    """As `filesystem_type`, for this system; "" where it keeps no such table."""
    try:
        return filesystem_type(os.fsencode(path), _MOUNTS.read_bytes())
    except OSError:
        return ""


def drives_under(path: Path) -> frozenset[tuple[bytes, bytes]]:
    """As `mounted_under`, for this system; none where it keeps no such table."""
    try:
        return mounted_under(os.fsencode(path), _MOUNTS.read_bytes())
    except OSError:
        return frozenset()


def has_watch_left(folder: Path) -> bool:
    """Whether the kernel would grant one more inotify watch. watchdog passes over subfolders that it gets none for
    and tells nobody, so after arming this is asked.
    """
    if not sys.platform.startswith("linux"):
        return True
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_CLOEXEC)
    if descriptor < 0:  # no further instance; what is armed has one
        return True
    try:
        return libc.inotify_add_watch(descriptor, os.fsencode(folder), _IN_CREATE) >= 0 or (
            ctypes.get_errno() != errno.ENOSPC
        )
    finally:
        os.close(descriptor)
