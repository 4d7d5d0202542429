"""An indexer that kills itself: `python -m tests.faults.indexing_child ROOT ENCODER N`.

It sends itself SIGKILL at SQLite's Nth write, sync or truncation (0: never). If it reaches the end, it prints how many
of these there were. Kills between two writes cover all kills: the kernel keeps what was written before.
"""

import os
import signal
import sys
from pathlib import Path

import apsw

import longsearch.indexer.embedding
from longsearch.app.indexing.opening import open_pipeline
from longsearch.engine.store.segments import upkeep
from longsearch.indexer.encoders import DocumentEncoder

n_steps = 0
die_at = 0


def _step() -> None:
    global n_steps
    n_steps += 1
    if n_steps == die_at:
        os.kill(os.getpid(), signal.SIGKILL)


class CountedFile(apsw.VFSFile):
    """A file that counts its changes, and may kill the process before a change."""

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 (SQLite's names)
        _step()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        _step()
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        _step()
        super().xTruncate(size)


class CountedDisk(apsw.VFS):
    """A virtual file system for SQLite that opens counted files."""

    def __init__(self, base: str) -> None:
        self._base = base
        super().__init__("counted", base, makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> CountedFile:  # noqa: N802
        return CountedFile(self._base, name, flags)


def make_encoder(name: str) -> DocumentEncoder:
    if name == "fake":
        from tests.indexer.fake_encoder import FakeEncoder

        return FakeEncoder()
    from longsearch.engine.inference.encoder import Encoder

    # small slices give many parts, so many places to die at; float32, because vectors depend on the batch by a rounding
    # error, which is 4e-4 in bfloat16
    return Encoder.open(dtype="float32", vertical_size=256)


if __name__ == "__main__":
    die_at = int(sys.argv[3])
    disk = CountedDisk(apsw.vfs_names()[0])
    longsearch.indexer.embedding.SAVE_EVERY_S = 0.0  # a state after every part, not after 10 s
    upkeep.LEAST_PASSAGES = upkeep.CHECK_EVERY = 50
    with open_pipeline(Path(sys.argv[1]), make_encoder(sys.argv[2]), lambda: False) as (pipeline, _):
        print("begun", flush=True)
        pipeline.read()
        pipeline.embed()
    print(n_steps)
