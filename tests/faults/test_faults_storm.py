"""A storm of new, renamed, moved, copied, touched and deleted files is watched and indexed while it goes on."""

import os
import random
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path

import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Passage
from longsearch.engine.types.progress import FileStatus
from longsearch.indexer import watch as watch_module
from longsearch.indexer.extract.assembly import Extraction
from longsearch.indexer.extract.reader import Result
from longsearch.indexer.pipeline import Pipeline
from longsearch.indexer.watch import RootWatch
from tests.engine.store.store_helpers import check_invariants
from tests.indexer.fake_encoder import FakeEncoder, FakePart

_FILES_PER_FOLDER = 100
_BURSTS = 40
_SWEEPS_TO_SETTLE = 20


class CountingEncoder(FakeEncoder):
    """An encoder that counts how often it embedded each text."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: Counter[str] = Counter()

    def stream(
        self, tokens: list[str], passages: list[Passage], saved_state: bytes | None = None
    ) -> Iterator[FakePart]:
        if saved_state is None:
            self.embedded[" ".join(tokens)] += 1
        return super().stream(tokens, passages, saved_state)


class PlainExtractor:
    """Reads text files in this process: a child has low priority, so the storm would depend on other load."""

    def extract_all(
        self, paths: Iterable[Path], head_only: bool = False, before_waiting: Callable[[], None] = lambda: None
    ) -> Generator[tuple[Path, Result]]:
        for path in paths:
            try:
                yield path, Extraction(DocumentText(path.read_text(), (), path.name), "", "")
            except OSError:
                yield path, ExtractionError("the file is gone")


class Storm:
    """Changes the folder `root`. Every new file holds a text of its own."""

    def __init__(self, root: Path, seed: int) -> None:
        self._root = root
        self._random = random.Random(seed)
        self._n_made = 0
        self._files: list[Path] = []
        self._folders: list[Path] = []

    def create(self, n_files: int) -> None:
        for _ in range(n_files):
            if self._n_made % _FILES_PER_FOLDER == 0:
                self._folders.append(self._root / f"folder {self._n_made}")
                self._folders[-1].mkdir()
            self._n_made += 1
            path = self._folders[-1] / f"{self._n_made}.txt"
            path.write_text(f"File number {self._n_made} of many.")
            self._files.append(path)

    def rage(self, n_changes: int) -> None:
        """Make changes that bring no new text, so they need no embedding."""
        kinds = [self._rename] * 10 + [self._delete] * 4 + [self._touch] * 4 + [self._copy] * 2 + [self._move_folder]
        for _ in range(n_changes):
            self._random.choice(kinds)()

    def _take(self) -> Path:
        place = self._random.randrange(len(self._files))
        self._files[place], self._files[-1] = self._files[-1], self._files[place]
        return self._files.pop()

    def _rename(self) -> None:
        path = self._take()
        self._n_made += 1
        self._files.append(path.rename(self._random.choice(self._folders) / f"renamed {self._n_made}.txt"))

    def _delete(self) -> None:
        if len(self._files) > 10:
            self._take().unlink()

    def _touch(self) -> None:
        os.utime(self._random.choice(self._files))

    def _copy(self) -> None:
        self._n_made += 1
        path = self._random.choice(self._folders) / f"copy {self._n_made}.txt"
        self._files.append(Path(shutil.copy(self._random.choice(self._files), path)))

    def _move_folder(self) -> None:
        """Rename a folder, at times into another folder."""
        self._n_made += 1
        old = self._folders.pop(self._random.randrange(len(self._folders)))
        others = [folder for folder in self._folders if old not in folder.parents]
        new = self._random.choice([self._root, *others[:3]]) / f"moved {self._n_made}"
        old.rename(new)
        self._folders = [_moved(folder, old, new) for folder in self._folders] + [new]
        self._files = [_moved(file, old, new) for file in self._files]


def _moved(path: Path, old: Path, new: Path) -> Path:
    return new / path.relative_to(old) if path.is_relative_to(old) else path


class Watcher:
    """Indexes whenever the watch is due, as the daemon does."""

    def __init__(self, root: Path, store: Store, encoder: CountingEncoder) -> None:
        self._wake = threading.Event()
        self._watch = RootWatch(root, self._wake.set)
        self._pipeline = Pipeline(root, store, PlainExtractor(), encoder, self._watch.is_due)
        self.n_sweeps = 0

    def index_until(self, is_over: Callable[[], bool]) -> None:
        """Index until the storm is over, all files are read and no events are waiting."""
        self._watch.start()
        assert self._watch.problem == ""
        finished, n_sweeps_after = False, 0
        try:
            while not (is_over() and finished and not self._watch.is_due() and not self._watch.is_expecting()):
                if self._watch.is_due() or not finished:
                    self._watch.begin_sweep()
                    self.n_sweeps += 1
                    n_sweeps_after += is_over()
                    assert n_sweeps_after < _SWEEPS_TO_SETTLE, "the watcher never settles"
                    finished = self._pipeline.read().finished and self._pipeline.embed()
                else:
                    self._wake.clear()
                    self._wake.wait(0.05)
        finally:
            self._watch.stop()


def test_a_storm_leaves_no_ghosts_misses_no_file_and_embeds_nothing_twice(
    tmp_path: Path, rounds: int, by_hand: bool, note: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_hand:
        monkeypatch.setattr(watch_module, "QUIET_S", 0.1)
    root, n_files = tmp_path / "root", 100 * rounds
    root.mkdir()
    encoder, storm = CountingEncoder(), Storm(root, seed=rounds)
    storm.create(n_files // 2)
    errors: list[BaseException] = []
    lull, lull_s = threading.Event(), 1.0 if by_hand else 0.02  # pauses, so that the storm goes on during the sweeps

    def rage() -> None:
        try:
            for _ in range(_BURSTS):
                storm.create(n_files // 2 // _BURSTS)
                storm.rage(n_files // _BURSTS)
                lull.wait(lull_s)
        except BaseException as error:
            errors.append(error)

    began = time.monotonic()
    raging = threading.Thread(target=rage)
    with Store.open(tmp_path / "index.db", root=root) as store:
        watcher = Watcher(root, store, encoder)
        raging.start()
        watcher.index_until(lambda: not raging.is_alive())
        raging.join()
        assert errors == []
        on_disk = {str(path.relative_to(root)) for path in root.rglob("*.txt")}
        known = {file.path: file.status for file in store.files()}
        check_invariants(store)
    ghosts, missing = known.keys() - on_disk, on_disk - known.keys()
    needless = sum(times - 1 for times in encoder.embedded.values())
    note(
        f"a storm over {n_files:,} files ({n_files:,} changes besides), {watcher.n_sweeps} sweeps, "
        f"{time.monotonic() - began:.0f} s: {len(on_disk):,} files left, {len(ghosts)} ghosts, {len(missing)} missing, "
        f"{needless} needless embeddings"
    )
    assert (ghosts, missing, needless) == (set(), set(), 0)
    assert set(known.values()) == {FileStatus.CURRENT}
