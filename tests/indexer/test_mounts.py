"""Tables of mounts in Linux's format tell the file systems and the drives of folders."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.indexer.mounts import (
    REMOTE_TYPES,
    drives_under,
    filesystem_of,
    filesystem_type,
    has_watch_left,
    mounted_under,
)

TABLE = rb"""sysfs /sys sysfs rw 0 0
/dev/sda1 / ext4 rw,relatime 0 0
nas:/export /home/ada/nas nfs4 rw,vers=4.2 0 0
//nas/my\040papers /home/ada/my\040papers cifs rw 0 0
host:/ /home/ada/nas/inner fuse.sshfs rw 0 0
/dev/sdb1 /home/ada/nas/disk ext4 rw 0 0
old /mnt/twice nfs rw 0 0
new /mnt/twice xfs rw 0 0
odd\011\134 /mnt/tab\011and\134 9p rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (b"/", "ext4"),
        (b"/home/ada/papers", "ext4"),
        (b"/home/ada/nas", "nfs4"),
        (b"/home/ada/nas/a/b", "nfs4"),
        (b"/home/ada/nasty", "ext4"),
        (b"/home/ada/my papers/x", "cifs"),
        (b"/home/ada/nas/inner/y", "fuse.sshfs"),
        (b"/home/ada/nas/disk", "ext4"),
        (b"/mnt/twice/a", "xfs"),
        (b"/mnt/tab\tand\\/a", "9p"),
    ],
)
def test_a_path_lies_on_the_innermost_and_latest_mount(path: bytes, expected: str) -> None:
    assert filesystem_type(path, TABLE) == expected


def test_the_drives_in_a_folder_are_the_mounts_below_it() -> None:
    assert mounted_under(b"/home/ada/nas", TABLE) == {
        (b"host:/", b"/home/ada/nas/inner"),
        (b"/dev/sdb1", b"/home/ada/nas/disk"),
    }
    assert mounted_under(b"/home/ada/nas/inner", TABLE) == frozenset()
    assert len(mounted_under(b"/mnt", TABLE)) == 3


@given(st.binary(max_size=60), st.binary(max_size=200))
def test_an_invalid_table_is_no_error(path: bytes, table: bytes) -> None:
    assert isinstance(filesystem_type(b"/" + path, table), str)
    assert isinstance(mounted_under(b"/" + path, table), frozenset)


def test_network_file_systems_are_remote_and_local_ones_are_not() -> None:
    assert {"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs"} <= REMOTE_TYPES
    assert not {"ext4", "xfs", "btrfs", "tmpfs", "fuseblk", "overlay", "apfs", ""} & REMOTE_TYPES


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a table")
def test_the_table_of_this_system_tells_the_file_system_of_a_folder() -> None:
    assert filesystem_of(Path("/proc")) == "proc"
    assert b"/proc" in {point for _, point in drives_under(Path("/"))}


def test_a_watch_is_left_here_even_if_the_folder_is_gone(tmp_path: Path) -> None:
    assert has_watch_left(tmp_path)
    assert has_watch_left(tmp_path / "gone")
