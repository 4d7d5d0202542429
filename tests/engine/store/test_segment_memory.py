"""The memory of mapped segments: which pages a process gives back and reads again, and which are read ahead."""

import mmap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from longsearch.engine.store.segments import files, vector_search

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


def test_a_first_search_has_the_rows_that_it_compares_read_at_once_and_little_else(tmp_path: Path) -> None:
    codes = np.arange(_ROWS * _DIM, dtype=np.int64).astype(np.int8).reshape(_ROWS, _DIM)
    shapes = {"codes": ("i1", codes.shape), "scales": ("f4", (_ROWS,))}
    with files.writing(tmp_path / "index.db", "vectors", shapes) as (token, writer):
        writer.write("codes", [codes])
        writer.write("scales", [np.ones(_ROWS, np.float32)])
    mapped = files.mapped(files.path_of(tmp_path / "index.db", "vectors", token), token)
    content, asked = mapped.path.read_bytes(), []
    mapped.whole = SimpleNamespace(madvise=lambda _, start, n: asked.append((start, n)))  # type: ignore[assignment]
    wanted = np.array([0, 3, 1_000, 1_999])
    for _ in range(9):
        vector_search._cosines(mapped, wanted, np.ones(_DIM, np.float32))
    n_times = files.Arrays(mapped.path, {}, {}, {}).n_fetches
    assert len(asked) == 3 * n_times + 1  # once the scales
    assert all(start % mmap.PAGESIZE == 0 for start, _ in asked)
    read = b"".join(content[start : start + n] for start, n in asked[:3])
    assert all(codes[row].tobytes() in read for row in (0, 3, 1_000, 1_999))
    assert len(read) < 3 * mmap.PAGESIZE + 6 * _DIM
    asked.clear()
    for _ in range(2):
        assert np.array_equal(mapped["codes"], codes)
    assert len(asked) == 1 and asked[0][1] >= codes.nbytes
