"""Full disks, read-only disks and clocks that jump are reported clearly and lose nothing."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from longsearch.app.indexing.opening import open_pipeline
from longsearch.app.paths import index_path
from longsearch.engine.errors import LongsearchError, NoIndexError, StoreError
from longsearch.engine.index.opening import open_index
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from longsearch.indexer.pipeline import Pipeline, ReadSummary
from tests.engine.store.store_helpers import check_invariants
from tests.faults.full_disk import installed
from tests.faults.index_contents import assert_same, index_contents
from tests.faults.restless_folder import RestlessFolder
from tests.indexer.extracting import OneChild
from tests.indexer.fake_encoder import FakeEncoder


def index(root: Path) -> ReadSummary:
    with open_pipeline(root, FakeEncoder(), lambda: False) as (pipeline, _):
        summary = pipeline.read()
        pipeline.embed()
    return summary


def index_until_full(root: Path, n_writes: int) -> bool:
    """Index on a disk with room for `n_writes`. Returns whether it became full, which must have been reported."""
    with installed() as disk:
        disk.n_left = n_writes
        try:
            index(root)
        except StoreError as error:
            assert "disk is full" in error.message
            assert "Make room" in error.hint
            return True
    return False


def test_a_disk_that_becomes_full_at_any_write_loses_nothing(
    home: Path, rounds: int, note: Callable[[str], None]
) -> None:
    folder = RestlessFolder(home / "root", seed=rounds)
    n_full = 0
    for n_writes in range(0, 12 * rounds, 4):
        folder.work(2)
        n_full += index_until_full(folder.root, n_writes)
        with suppress(NoIndexError), open_index(index_path(folder.root)) as store:
            check_invariants(store)
    index(folder.root)
    with Store.open(home / "undisturbed.sqlite", root=folder.root) as store, OneChild() as extractor:
        undisturbed = Pipeline(folder.root, store, extractor, FakeEncoder())
        undisturbed.read()
        undisturbed.embed()
    assert_same(index_contents(index_path(folder.root)), index_contents(home / "undisturbed.sqlite"), atol=0)
    assert n_full > 0
    note(f"disk full in {n_full} runs: reported, nothing lost, and the rest was indexed once there was room")


def test_indexed_files_can_be_searched_while_the_disk_is_full(home: Path) -> None:
    folder = RestlessFolder(home / "root", seed=1)
    index(folder.root)
    folder.create()
    assert index_until_full(folder.root, 0)
    with open_index(index_path(folder.root)) as store:
        assert {file.status for file in store.files()} == {FileStatus.CURRENT}


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="permissions mean nothing to root")
def test_a_home_that_cannot_be_written_is_reported(home: Path) -> None:
    (home / "root").mkdir()
    data = Path(os.environ["XDG_DATA_HOME"])
    data.chmod(0o500)
    with pytest.raises(LongsearchError, match="cannot be made") as caught:
        index(home / "root")
    assert "XDG_DATA_HOME" in caught.value.hint
    data.chmod(0o700)
    path = index_path(home / "root")
    path.parent.chmod(0o500)
    with pytest.raises(LongsearchError):
        index(home / "root")
    path.parent.chmod(0o700)
    index(home / "root")


def test_a_file_from_the_future_is_indexed_once_and_again_when_it_changes(home: Path) -> None:
    root = home / "root"
    root.mkdir()
    path = root / "a.txt"
    path.write_text("one two three")
    os.utime(path, ns=(2**62, 2**62))
    assert index(root).n_read == 1
    assert index(root).n_read == 0
    path.write_text("four five six")  # the same size and the present time: older than the known time
    assert index(root).n_read == 1
    with open_index(index_path(root)) as store:
        assert [file.status for file in store.files()] == [FileStatus.CURRENT]


@pytest.mark.parametrize("jump_s", [-(10**9), 10**9])
def test_a_clock_that_jumps_loses_nothing(home: Path, monkeypatch: pytest.MonkeyPatch, jump_s: float) -> None:
    folder = RestlessFolder(home / "root", seed=3)
    index(folder.root)
    before = index_contents(index_path(folder.root))
    true_time = time.time
    monkeypatch.setattr(time, "time", lambda: true_time() + jump_s)
    assert index(folder.root) == ReadSummary(0, 0, 0, 0, (), finished=True)
    folder.create()
    assert index(folder.root).n_read == 1
    after = index_contents(index_path(folder.root))
    assert len(after) == len(before) + 1
    assert {held["status"].status for held in after.values()} == {FileStatus.CURRENT}
    with open_index(index_path(folder.root)) as store:
        assert store.progress().activity == ""
