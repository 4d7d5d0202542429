"""Cuts the power in the middle of indexing and of changes to the basket, and looks at what a new start finds.

    python -m tests.faults.power --cuts 200 --seed 1

All writes and syncs are recorded once: of SQLite's files by a file layer below its checksums, of own files by the calls
of `os`. A cut keeps what was synced before it; of the writes since, each is there, lost, or torn at a sector of 512
bytes. Segments are not replayed: a lost one is made anew. *acknowledged* is a document of an earlier commit whose log
was synced, and a passage whose `add` had returned.
"""

import argparse
import os
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw

from tests.indexer.fake_encoder import FakeEncoder

SECTOR = 512
Event = tuple[str, str, int, bytes]
"""(what happened, the file, where, the bytes)."""
events: list[Event] = []


class _File(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int]) -> None:
        self._name = Path(name.filename() if isinstance(name, apsw.URIFilename) else name or "temporary").name
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 (SQLite's name)
        events.append(("write", self._name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        events.append(("truncate", self._name, size, b""))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        events.append(("sync", self._name, 0, b""))


class Recorder(apsw.VFS):
    """SQLite's file layer, below all others, which records what is written."""

    def __init__(self) -> None:
        super().__init__("recorder", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> _File:  # noqa: N802
        return _File(name, flags)

    def xDelete(self, name: str, is_synced: bool) -> None:  # noqa: N802
        super().xDelete(name, is_synced)
        events.append(("delete", Path(name).name, 0, b""))
        if is_synced:
            events.append(("sync", Path(name).name, 0, b""))


def changed(data: bytes, event: Event) -> bytes:
    """Return the content of a file after an event."""
    what, _, at, new = event
    if what in ("truncate", "delete"):
        return data[:at].ljust(at, b"\0")
    if what == "replace":
        return new
    return data.ljust(at, b"\0")[:at] + new + data[at + len(new) :]


def after_cut(recorded: list[Event], chance: random.Random) -> dict[str, bytes]:
    """Return the content of each file after a cut behind these events."""
    last_sync = {name: number for number, (what, name, _, _) in enumerate(recorded) if what == "sync"}
    content: dict[str, bytes] = {}
    for number, event in enumerate(recorded):
        what, name, at, new = event
        if what in ("sync", "mark"):
            continue
        # file systems write changes of folders in their order, at the latest with the next sync of any file
        synced = max(last_sync.values(), default=-1) if what == "delete" else last_sync.get(name, -1)
        fate = "there" if number < synced else chance.choice(("there", "lost", "torn"))
        if fate == "torn" and what == "write" and len(new) > SECTOR:
            first = chance.randrange(len(new) // SECTOR) * SECTOR
            event = (what, name, at, new[:first]) if chance.random() < 0.5 else (what, name, at + first, new[first:])
        elif fate != "there":
            continue
        content[name] = changed(content.get(name, b""), event)
    return content


def index_run(home: Path, n_rounds: int) -> None:
    """Index a folder that grows, and note after each commit what the index holds."""
    from longsearch.engine.store.store import Store
    from longsearch.indexer.extract.pool import ExtractorPool
    from longsearch.indexer.pipeline import Pipeline

    root = home / "root"
    root.mkdir()
    with ExtractorPool(1) as pool:
        for number in range(n_rounds):
            (root / f"{number}.txt").write_text(f"word{number} " * 3_000)
            with Store.open(home / "index.sqlite") as store:
                pipeline = Pipeline(root, store, pool, FakeEncoder())
                pipeline.read()
                events.append(("mark", "", number + 1, b""))
                pipeline.embed()


def basket_run(n_changes: int) -> None:
    """Add passages to the basket, with the calls of `os` recorded."""
    from longsearch.app.user_data.basket import Basket
    from tests.app.test_basket_command import a_passage

    real_sync, real_replace, synced = os.fsync, Path.replace, set[int]()

    def sync(descriptor: int) -> None:
        real_sync(descriptor)
        synced.add(os.fstat(descriptor).st_ino)
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            events.extend(("sync", name, 0, b"") for name in {one[1] for one in events if one[0] == "replace"})

    def replace(old: Path, new: Path) -> Path:
        data, is_synced = old.read_bytes(), old.stat().st_ino in synced
        events.append(("replace", Path(new).name, 0, data if is_synced else data[: len(data) // 2]))
        return real_replace(old, new)

    with patch("os.fsync", sync), patch.object(Path, "replace", replace):
        for number in range(n_changes):
            Basket().add(a_passage(number))
            events.append(("mark", "", number + 1, b""))


def opened_index(folder: Path, recorded: list[Event]) -> str:
    """Open what a cut left of the index, and say what became of it."""
    from longsearch.engine.store import examination
    from longsearch.engine.store.store import Store

    syncs = [number for number, event in enumerate(recorded) if event[:2] == ("sync", "index.sqlite-wal")]
    marks = [n for number, (what, _, n, _) in enumerate(recorded) if what == "mark" and syncs and number < syncs[-1]]
    with Store.open(folder / "index.sqlite") as store:
        with store.reading() as db:
            if found := list(examination.of_pages(db)):
                return f"WRONG: {found[0].what}"
        held = {file.path for file in store.files()}
        lost = {f"{number}.txt" for number in range(max(marks, default=0))} - held
        if lost and not store.notes:
            return f"LOST: {sorted(lost)}"
        return "begun anew, and told" if store.notes else "all acknowledged"


def opened_basket(recorded: list[Event]) -> str:
    """Open what a cut left of the basket, and say what became of it."""
    from longsearch.app.user_data.basket import Basket

    marks = [n for what, _, n, _ in recorded if what == "mark"]
    n_held = len(Basket().file.read().get("passages", []))
    return "all acknowledged" if n_held >= max(marks, default=0) else f"LOST: {n_held} of {max(marks)}"


def main() -> None:
    """Record both runs, cut each at random places, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    recorder = Recorder()
    for name in ("index", "basket"):
        with tempfile.TemporaryDirectory() as home:
            os.environ |= {"HOME": home, "XDG_DATA_HOME": f"{home}/data"}
            events.clear()
            index_run(Path(home), 12) if name == "index" else basket_run(40)
        recorded, counts = list(events), Counter[str]()
        for _ in range(options.cuts):
            at = chance.randrange(1, len(recorded) + 1)
            with tempfile.TemporaryDirectory() as home:
                os.environ |= {"HOME": home, "XDG_DATA_HOME": f"{home}/data"}
                from longsearch.app.paths import data_folder

                folder = Path(home) if name == "index" else data_folder()
                for file, data in after_cut(recorded[:at], chance).items():
                    if not file.endswith("-shm"):
                        (folder / file).write_bytes(data)
                try:
                    said = opened_index(folder, recorded[:at]) if name == "index" else opened_basket(recorded[:at])
                except Exception as error:
                    said = f"{type(error).__name__}: {error!s:.90}"
                counts[said] += 1
        print(f"{name}: {len(recorded):,} events, {options.cuts} cuts")
        for said, n in counts.most_common():
            print(f"  {n:4} {said}")
    recorder.unregister()


if __name__ == "__main__":
    main()
