"""Files that move during a walk are neither forgotten nor embedded again."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from longsearch.indexer import walk as walk_module
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.pipeline import Pipeline
from longsearch.indexer.walk import CLOCK_TICK_NS, FolderStamp, WalkProblem, is_unchanged, walk
from tests.indexer.fake_encoder import FakeEncoder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two files in two folders that did not change just now."""
    for name in ("a", "z"):
        folder = tmp_path / "root" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.txt").write_text(f"one two three four {name}")
    settle(tmp_path / "root")
    return tmp_path / "root"


def settle(root: Path) -> None:
    """Set the folders' times back, so that a walk does not take them for changed just now."""
    for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
        os.utime(folder, ns=(10**18, folder.stat().st_mtime_ns - 10 * CLOCK_TICK_NS))


def test_a_file_that_moves_into_a_folder_already_listed_is_not_forgotten(
    root: Path, tmp_path: Path, extractor: ExtractorProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = FakeEncoder()

    def walk_and_move(
        root: Path, problems: list[WalkProblem], folders: dict[str, FolderStamp], passed_over: Counter[str]
    ) -> Iterator[FileStamp]:
        for stamp in walk(root, problems, folders, passed_over):
            yield stamp
            if stamp.path == "a/a.txt":  # folder "a" is already listed, "z" is not
                (root / "z" / "z.txt").rename(root / "a" / "moved.txt")

    with Store.open(tmp_path / "index.db", root=root) as store:
        pipeline = Pipeline(root, store, extractor, encoder)
        pipeline.read()
        pipeline.embed()
        n_tokens = encoder.tokens_read
        with monkeypatch.context() as patch:
            patch.setattr(walk_module, "walk", walk_and_move)
            patch.setattr(walk_module, "MAX_WALKS", 1)
            assert pipeline.read().n_forgotten == 0
        assert "z/z.txt" in {status.path for status in store.files()}
        settle(root)
        assert pipeline.read().n_moved == 1
        pipeline.embed()
        assert {status.path: status.status for status in store.files()} == {
            "a/a.txt": FileStatus.CURRENT,
            "a/moved.txt": FileStatus.CURRENT,
        }
    assert encoder.tokens_read == n_tokens


def test_a_file_that_vanishes_before_it_is_read_does_not_fail_and_keeps_its_document(
    root: Path, tmp_path: Path, extractor: ExtractorProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = FakeEncoder()

    def walk_then_move(
        root: Path, problems: list[WalkProblem], folders: dict[str, FolderStamp], passed_over: Counter[str]
    ) -> Iterator[FileStamp]:
        yield from list(walk(root, problems, folders, passed_over))
        (root / "a" / "touched.txt").rename(root / "a" / "once more.txt")
        settle(root)
        folders.clear()

    with Store.open(tmp_path / "index.db", root=root) as store:
        pipeline = Pipeline(root, store, extractor, encoder)
        pipeline.read()
        pipeline.embed()
        n_tokens = encoder.tokens_read
        (root / "a" / "a.txt").rename(root / "a" / "touched.txt")
        os.utime(root / "a" / "touched.txt", ns=(1, 1))
        settle(root)
        with monkeypatch.context() as patch:
            patch.setattr(walk_module, "walk", walk_then_move)
            summary = pipeline.read()
        assert (summary.n_failed, summary.n_forgotten) == (0, 0)
        pipeline.read()
        pipeline.embed()
        assert {status.path for status in store.files()} == {"a/once more.txt", "z/z.txt"}
    assert encoder.tokens_read == n_tokens


def test_a_folder_changes_when_an_entry_is_added_removed_or_renamed(root: Path) -> None:
    for change in (
        lambda: (root / "a" / "new.txt").touch(),
        lambda: (root / "a" / "new.txt").rename(root / "a" / "newer.txt"),
        lambda: (root / "a" / "newer.txt").unlink(),
        lambda: (root / "a").rename(root / "b"),
    ):
        settle(root)
        folders: dict[str, FolderStamp] = {}
        list(walk(root, [], folders))
        assert is_unchanged(root, folders)
        change()
        assert not is_unchanged(root, folders)


def test_a_folder_that_changed_just_now_is_not_trusted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed_ns = (root / "a").stat().st_mtime_ns
    for later_ns, is_trusted in ((CLOCK_TICK_NS // 2, False), (2 * CLOCK_TICK_NS, True), (-2 * CLOCK_TICK_NS, True)):
        monkeypatch.setattr("longsearch.indexer.walk.time.time_ns", lambda now_ns=changed_ns + later_ns: now_ns)
        folders: dict[str, FolderStamp] = {}
        list(walk(root, [], folders))
        assert is_unchanged(root, {"a": folders["a"]}) == is_trusted
