"""Damage in the files of segments: each flipped bit is found when it is read, and the slow twins answer instead."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from longsearch.engine.store.segments import files, vector_search
from longsearch.engine.store.segments.files import FACTORS, Arrays, DamagedSegmentError, block_sums

NUMBERS = np.random.default_rng(48)
WRITTEN: dict[str, NDArray[Any]] = {
    "ids": np.arange(5_000, dtype=np.int64),  # of 512 such numbers the bits cancel out
    "codes": NUMBERS.integers(-127, 128, (300, 20), dtype=np.int8),
    "scales": NUMBERS.integers(1, 9, 300).astype(np.float32),
    "signs": NUMBERS.integers(0, 1 << 62, (6, 300), dtype=np.uint64),
    "counts": NUMBERS.integers(0, 9, 9_001, dtype=np.uint8),
}


def a_segment(folder: Path) -> tuple[Path, str]:
    with files.writing(folder / "index", "words", {name: (own.dtype, own.shape) for name, own in WRITTEN.items()}) as (
        token,
        writer,
    ):
        for name, array in WRITTEN.items():
            writer.write(name, [array])
    return files.path_of(folder / "index", "words", token), token


def all_read(segment: Arrays) -> None:
    """Read everything, in each of the ways in which a search reads."""
    rows = np.arange(0, 300, 7)
    cosines = vector_search._cosines(segment, rows, np.ones(20, np.float32))
    assert np.array_equal(cosines, WRITTEN["codes"][rows].sum(axis=1) * WRITTEN["scales"][rows])
    assert np.array_equal(segment.part("counts", 4_000, 5_000), WRITTEN["counts"][4_000:5_000])
    assert np.array_equal(segment.rows("counts", 30 * rows), WRITTEN["counts"][30 * rows])
    assert all(np.array_equal(segment[name], array) for name, array in WRITTEN.items())


@given(place=st.integers(0), bit=st.integers(0, 7), kind=st.sampled_from(["flip", "zero", "cut"]))
def test_no_damage_of_a_segment_is_read_as_if_it_were_whole(
    tmp_path_factory: pytest.TempPathFactory, place: int, bit: int, kind: str
) -> None:
    path, token = a_segment(tmp_path_factory.mktemp("damage"))
    whole = path.read_bytes()
    all_read(files.mapped(path, token))
    files.mapped.cache_clear()
    data, at = bytearray(whole), place % len(whole)
    if kind == "flip":
        data[at] ^= 1 << bit
    elif kind == "zero":
        data[at // 512 * 512 : at // 512 * 512 + 512] = bytes(len(data[at // 512 * 512 : at // 512 * 512 + 512]))
    else:
        del data[at:]
    path.write_bytes(data)
    try:
        all_read(files.mapped(path, token))  # asserts that what is read is what was written
    except DamagedSegmentError:
        assert not path.exists()
    except (ValueError, KeyError):
        pass  # the header


def test_a_header_of_endless_brackets_is_damage(tmp_path: Path) -> None:
    path, token = a_segment(tmp_path)
    data = bytearray(path.read_bytes())
    head = len(files._MAGIC)
    data[head : files._HEADER_BYTES] = b"[" * (files._HEADER_BYTES - head)
    path.write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        files.mapped(path, token)


def test_a_part_and_rows_are_compared_alone(tmp_path: Path) -> None:
    path, token = a_segment(tmp_path)
    data = bytearray(path.read_bytes())
    at = data.index(WRITTEN["counts"][-64:].tobytes())
    data[at] ^= 1
    path.write_bytes(data)
    segment = files.mapped(path, token)
    assert len(segment.part("counts", 0, 4_096)) == 4_096
    assert len(segment.rows("counts", np.array([5_000, 8_191]))) == 2
    with pytest.raises(DamagedSegmentError):
        segment.rows("counts", np.array([3, 8_192]))
    with pytest.raises(DamagedSegmentError):
        segment.part("counts", 8_990, 9_001)
    assert segment.is_damaged


def test_the_checksum_of_rows_is_the_same_whichever_are_taken() -> None:
    codes = WRITTEN["codes"]
    assert np.array_equal(block_sums(codes[[3, 5]]), block_sums(codes)[[3, 5]])


def test_a_segment_of_an_older_longsearch_has_no_checksums(tmp_path: Path) -> None:
    arrays = Arrays(tmp_path / "old", {"ids": np.arange(3)}, {}, {})
    assert arrays["ids"].tolist() == [0, 1, 2]


def test_a_checksum_tells_every_bit_that_changes() -> None:
    bits = np.uint64(1) << np.arange(64, dtype=np.uint64)
    changes = FACTORS[:, None] * bits  # of the sum, whose upper 32 bits are kept
    assert (changes >= 2**32).all()
    assert (changes <= np.uint64(2**64 - 2**32)).all()


def test_a_segment_with_the_longer_checksums_of_an_older_longsearch_is_read_and_its_damage_told(tmp_path: Path) -> None:
    path, token = a_segment(tmp_path)
    raw = {name: array.copy() for name, array in files.mapped(path, token).raw.items()}
    sums = {name: block_sums(array) for name, array in raw.items()}

    def opened() -> Arrays:
        return Arrays(path, raw, sums, {name: np.ones(len(own), np.bool_) for name, own in sums.items()})

    all_read(opened())
    raw["codes"][7, 3] ^= 1
    raw["counts"][4_500] ^= 8
    with pytest.raises(DamagedSegmentError):
        vector_search._cosines(opened(), np.array([7]), np.ones(20, np.float32))
    with pytest.raises(DamagedSegmentError):
        opened().part("counts", 4_000, 5_000)
