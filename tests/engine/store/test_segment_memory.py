"""The memory of mapped segments: which pages a process gives back, and that it reads the same afterwards."""

import mmap
from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.store.segments import files

_STATUS = Path("/proc/self/smaps")
_ROWS, _DIM = 2_000, 384


def resident_bytes(path: Path) -> int:
    """How much of a mapped file is in the memory of this process."""
    of_maps = _STATUS.read_text().split(f"{path}\n")[1:]
    return sum(1024 * int(one.partition("\nRss:")[2].split()[0]) for one in of_maps)


@pytest.mark.skipif(not _STATUS.exists(), reason="Linux alone says which pages a process holds")
def test_postings_are_let_go_and_read_again_and_codes_stay(tmp_path: Path) -> None:
    written = {name: np.full((_ROWS, _DIM), number, np.int8) for number, name in enumerate(("codes", "positions"), 1)}
    with files.writing(tmp_path / "index.db", "vectors", {n: ("i1", a.shape) for n, a in written.items()}) as made:
        token, writer = made
        for name, array in written.items():
            writer.write(name, [array])
    path = files.path_of(tmp_path / "index.db", "vectors", token)
    mapped = files.mapped(path, token)
    assert all(mapped[name].sum(dtype=int) == array.sum(dtype=int) for name, array in written.items())
    held = resident_bytes(path)
    files.let_pages_go(kept_bytes=1 << 60)
    assert resident_bytes(path) == held
    files.let_pages_go(kept_bytes=0)
    least = _ROWS * _DIM - mmap.PAGESIZE  # the last page of the codes is let go: it is the first of the positions too
    assert least <= resident_bytes(path) < 1.2 * _ROWS * _DIM < held
    assert all(np.array_equal(mapped[name], array) for name, array in written.items())
