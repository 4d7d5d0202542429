"""While a drive in a root is away the index keeps its files, and nothing is embedded when the drive is back."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import longsearch.indexer.walk
from longsearch.engine.store.store import Store
from longsearch.indexer.drives import Drives, find_drives
from longsearch.indexer.walk import FolderStamp, WalkProblem
from tests.indexer.pipeline_bench import Bench

ROOT_DEVICE, USB, NESTED = 1, 2, 3


def folders(**devices: int) -> dict[str, FolderStamp]:
    return {path.replace("_", "/"): FolderStamp(5, device) for path, device in {"": ROOT_DEVICE, **devices}.items()}


def nothing_there(path: str) -> bool:
    return False


def away(folder: str, files_stay: str) -> WalkProblem:
    return WalkProblem(folder, f"its drive is away; its {files_stay} in the index")


def test_a_drive_is_a_folder_on_another_device_than_the_one_around_it() -> None:
    found = find_drives(
        (), folders(a=1, usb=USB, usb_b=USB, usb_c=NESTED, usb_c_d=NESTED), (), nothing_there, ROOT_DEVICE
    )
    assert found == Drives(frozenset({"usb", "usb/c"}), ())


@pytest.mark.parametrize("listed", [folders(usb=ROOT_DEVICE), folders()], ids=["an empty folder", "no folder"])
def test_a_drive_whose_files_are_missing_is_away_and_remembered(listed: dict[str, FolderStamp]) -> None:
    found = find_drives({"usb"}, listed, ["usb/a.pdf", "usb/b/c.pdf", "usb2/d.pdf"], nothing_there, ROOT_DEVICE)
    assert found == Drives(frozenset({"usb"}), (away("usb", "2 files stay"),))


def test_if_a_drive_and_a_drive_inside_it_are_away_only_the_outer_drive_is_reported() -> None:
    found = find_drives({"usb", "usb/c"}, folders(), ["usb/a.pdf", "usb/c/d.pdf"], nothing_there, ROOT_DEVICE)
    assert found == Drives(frozenset({"usb", "usb/c"}), (away("usb", "2 files stay"),))
    inner = find_drives({"usb", "usb/c"}, folders(usb=USB, usb_c=USB), ["usb/c/d.pdf"], nothing_there, ROOT_DEVICE)
    assert inner == Drives(frozenset({"usb", "usb/c"}), (away("usb/c", "1 file stays"),))


def test_a_file_missing_from_a_mounted_drive_is_gone() -> None:
    assert find_drives({"usb"}, folders(usb=USB), ["usb/a.pdf"], nothing_there, ROOT_DEVICE).away == ()


def test_a_file_missing_from_a_folder_that_was_never_a_drive_is_gone() -> None:
    assert find_drives((), folders(usb=ROOT_DEVICE), ["usb/a.pdf"], nothing_there, ROOT_DEVICE) == Drives(
        frozenset(), ()
    )


def test_a_folder_that_holds_a_copy_of_its_former_drive_is_no_longer_a_drive() -> None:
    assert find_drives({"usb"}, folders(usb=ROOT_DEVICE), [], nothing_there, ROOT_DEVICE) == Drives(frozenset(), ())


@pytest.mark.parametrize("ignored", ["all", "all/usb"])
def test_an_ignored_drive_is_not_away(ignored: str) -> None:
    listed = folders(all=ROOT_DEVICE) if ignored == "all/usb" else folders()
    assert find_drives({"all/usb"}, listed, ["all/usb/a.pdf"], lambda path: path == ignored, ROOT_DEVICE).away == ()


NAMES = st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map("/".join)


@given(st.sets(NAMES), st.dictionaries(NAMES, st.integers(1, 2)), st.sets(NAMES.map("{}/x.txt".format)))
def test_a_former_drive_with_missing_files_is_away_and_remembered(
    remembered: set[str], devices: dict[str, int], missing: set[str]
) -> None:
    listed = folders()
    for path, device in sorted(devices.items()):  # the folders around a listed folder are listed too
        for stop in range(1, path.count("/") + 2):
            listed.setdefault("/".join(path.split("/")[:stop]), FolderStamp(5, device))
    found = find_drives(remembered, listed, missing, nothing_there, ROOT_DEVICE)
    mounted = find_drives((), listed, (), nothing_there, ROOT_DEVICE).folders
    assert {problem.path for problem in found.away} <= (remembered - mounted) & found.folders
    assert all(any(path.startswith(problem.path + "/") for path in missing) for problem in found.away)
    kept = {path for path in missing if any(path.startswith(problem.path + "/") for problem in found.away)}
    assert kept == {path for path in missing if any(path.startswith(f"{f}/") for f in remembered - mounted)}


class UsbBench:
    """A root with one file and a drive at "usb", which has a device of its own while it is plugged in."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bench, self.folder, self.elsewhere = bench, bench.root / "usb", bench.root.with_name("drive")
        self.folder.mkdir()
        true_look = longsearch.indexer.walk.change_and_device

        def look(folder: Path) -> tuple[int, int]:
            changed_ns, device = true_look(folder)
            return changed_ns, device + (not self.elsewhere.exists() and folder.is_relative_to(self.folder))

        monkeypatch.setattr(longsearch.indexer.walk, "change_and_device", look)
        bench.write("own.txt")
        (self.folder / "sub").mkdir()
        bench.write("usb/a.txt")
        bench.write("usb/sub/b.txt")
        bench.run()
        bench.encoder.tokens_read = 0

    def unplug(self, keep_folder: bool = True) -> None:
        self.folder.rename(self.elsewhere)
        if keep_folder:
            self.folder.mkdir()

    def plug(self) -> None:
        if self.folder.exists():
            self.folder.rmdir()
        self.elsewhere.rename(self.folder)

    def paths(self) -> set[str]:
        return set(self.bench.statuses())


ALL = {"own.txt", "usb/a.txt", "usb/sub/b.txt"}


@pytest.fixture
def usb(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[UsbBench]:
    yield UsbBench(bench, monkeypatch)


@pytest.mark.parametrize("keep_folder", [True, False])
def test_the_files_of_a_drive_that_is_away_are_kept_and_not_embedded_again(usb: UsbBench, keep_folder: bool) -> None:
    usb.unplug(keep_folder)
    for _ in range(2):
        summary = usb.bench.run()
        assert summary.problems == ("usb: its drive is away; its 2 files stay in the index",)
        assert (summary.n_forgotten, usb.paths()) == (0, ALL)
    usb.plug()
    assert usb.bench.run().problems == ()
    assert (usb.paths(), usb.bench.encoder.tokens_read) == (ALL, 0)


def test_the_index_remembers_that_a_folder_was_a_drive(usb: UsbBench, tmp_path: Path) -> None:
    usb.unplug()
    usb.bench.store.close()
    with Store.open(tmp_path / "index.sqlite", root=usb.bench.root) as store:
        usb.bench.store = store
        assert usb.bench.run().n_forgotten == 0
        assert usb.paths() == ALL


def test_a_file_deleted_on_a_mounted_drive_is_forgotten(usb: UsbBench) -> None:
    (usb.folder / "a.txt").unlink()
    assert usb.bench.run().n_forgotten == 1
    assert usb.paths() == ALL - {"usb/a.txt"}


def test_a_file_in_the_folder_of_a_drive_that_is_away_is_read_and_the_files_of_the_drive_are_kept(
    usb: UsbBench,
) -> None:
    usb.unplug()
    usb.bench.write("usb/stray.txt")
    for _ in range(2):
        usb.bench.run()
        assert usb.paths() == {*ALL, "usb/stray.txt"}


def test_the_files_of_a_drive_that_is_away_are_forgotten_once_it_is_ignored(usb: UsbBench) -> None:
    usb.unplug()
    (usb.bench.root / ".longsearchignore").write_text("usb\n")
    for n_forgotten in (2, 0):
        assert usb.bench.run().n_forgotten == n_forgotten
    assert usb.paths() == {"own.txt"}
    assert usb.bench.store.drives() == frozenset()


def test_the_files_of_a_drive_that_is_away_are_kept_even_if_the_root_has_no_others(usb: UsbBench) -> None:
    (usb.bench.root / "own.txt").unlink()
    usb.bench.run()
    usb.unplug()
    assert usb.bench.run().problems == ("usb: its drive is away; its 2 files stay in the index",)
    assert usb.paths() == ALL - {"own.txt"}


def test_the_files_of_a_drive_mounted_at_another_folder_are_moved_and_not_read(usb: UsbBench) -> None:
    usb.unplug(keep_folder=False)
    usb.elsewhere.rename(usb.bench.root / "disk")
    summary = usb.bench.run()
    assert (summary.n_moved, summary.n_read, summary.problems) == (2, 0, ())
    assert usb.paths() == {"own.txt", "disk/a.txt", "disk/sub/b.txt"}


def test_files_deleted_from_a_copy_of_a_former_drive_are_forgotten(usb: UsbBench) -> None:
    usb.unplug(keep_folder=False)
    shutil.copytree(usb.elsewhere, usb.folder)
    assert usb.bench.run().problems == ()
    (usb.folder / "a.txt").unlink()
    assert usb.bench.run().n_forgotten == 1
    assert usb.bench.encoder.tokens_read == 0


def test_a_root_that_was_a_drive_is_away_when_its_device_equals_that_of_the_folder_around_it() -> None:
    there = find_drives((), {"": FolderStamp(5, USB), "a": FolderStamp(5, USB)}, (), nothing_there, ROOT_DEVICE)
    assert there == Drives(frozenset({""}), ())
    gone = find_drives({""}, folders(), ["a/b.pdf", "c.pdf"], nothing_there, ROOT_DEVICE)
    assert gone == Drives(frozenset({""}), (away("", "2 files stay"),))
    assert str(gone.away[0]) == "the folder itself: its drive is away; its 2 files stay in the index"
    inner = find_drives({"", "usb"}, folders(), ["usb/b.pdf", "c.pdf"], nothing_there, ROOT_DEVICE)
    assert inner.away == (away("", "2 files stay"),)


def test_when_a_root_is_away_a_file_in_its_mount_point_does_not_make_the_index_forget_files(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_look, elsewhere = longsearch.indexer.walk.change_and_device, bench.root.with_name("drive")

    def look(folder: Path) -> tuple[int, int]:
        changed_ns, device = true_look(folder)
        return changed_ns, device + (not elsewhere.exists() and folder.is_relative_to(bench.root))

    monkeypatch.setattr(longsearch.indexer.walk, "change_and_device", look)
    for name in ("a.txt", "b.txt"):
        bench.write(name)
    bench.run()
    bench.root.rename(elsewhere)
    bench.root.mkdir()
    bench.write("README.md")
    for _ in range(2):
        summary = bench.run()
        assert summary.problems == ("the folder itself: its drive is away; its 2 files stay in the index",)
        assert set(bench.statuses()) == {"a.txt", "b.txt", "README.md"}
    shutil.rmtree(bench.root)
    elsewhere.rename(bench.root)
    bench.encoder.tokens_read = 0
    assert bench.run().problems == ()
    assert (set(bench.statuses()), bench.encoder.tokens_read) == ({"a.txt", "b.txt"}, 0)
