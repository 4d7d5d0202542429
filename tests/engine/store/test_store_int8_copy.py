"""The scan of the int8 copy finds the same vectors as sqlite-vec, whatever changed since the copy was written."""

import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from store_helpers import add, open_store

from longsearch.engine.store import vectors
from longsearch.engine.store.store import Store
from longsearch.engine.store.vec0 import int8_copy

DIM = 96
_PASSAGES = 500


def clustered(n: int, seed: int) -> NDArray[np.float32]:
    """(n, DIM) unit vectors around 20 centres, like those of texts on 20 subjects."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((20, DIM))
    found = centres[random.integers(0, 20, n)] + 0.6 * random.standard_normal((n, DIM))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def embed(store: Store, name: str, seed: int) -> None:
    document_id = add(store, name, name, _PASSAGES)
    given_vectors = clustered(_PASSAGES, seed)
    store.add_vectors(document_id, 0, given_vectors, 9 * _PASSAGES, None)
    store.finish_embedding(document_id, given_vectors[0], 9 * _PASSAGES)


@pytest.fixture
def large_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An index with 5,000 passages and their copy."""
    monkeypatch.setattr(int8_copy, "MIN_PASSAGES", 3_000)
    with open_store(tmp_path / "index.db") as opened:
        opened.use_model("model-a", DIM)
        for number in range(10):
            embed(opened, f"{number}.pdf", number)
        opened.tidy()
        yield opened


def scan(
    store: Store, query: NDArray[np.float32], k: int, allowed: NDArray[np.int64] | None = None
) -> dict[int, float]:
    with store.reading() as db:
        found = int8_copy.nearest(db, store.path, query, k, allowed)
        assert found is not None
        assert found == sorted(found, key=lambda row: (-row[1], row[0]))
        return dict(found)


def compare_all(
    store: Store, query: NDArray[np.float32], k: int, allowed: NDArray[np.int64] | None = None
) -> dict[int, float]:
    with store.reading() as db:
        return dict(vectors.nearest_by_sqlite_vec(db, "passage_vectors", query, k, allowed))


def check_agreement(store: Store, k: int = 20, allowed: NDArray[np.int64] | None = None) -> None:
    recalls = []
    for query in clustered(30, seed=99):
        found, expected = scan(store, query, k, allowed), compare_all(store, query, k, allowed)
        assert len(found) == len(expected)
        recalls.append(len(found.keys() & expected.keys()) / max(len(expected), 1))
        for rowid in found.keys() & expected.keys():
            assert found[rowid] == pytest.approx(expected[rowid], abs=1e-6)
    assert np.mean(recalls) >= 0.99


@pytest.mark.parametrize("k", [1, 20, 200, 6000])
def test_the_scan_finds_what_a_comparison_of_all_vectors_finds(large_store: Store, k: int) -> None:
    check_agreement(large_store, min(k, vectors.K_MAX))


def test_a_search_uses_the_copy(large_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "nearest_by_sqlite_vec", None)
    query = clustered(1, seed=5)[0]
    with large_store.reading() as db:
        assert dict(vectors.nearest(db, "passage_vectors", query, 5)) == scan(large_store, query, 5)


@pytest.mark.parametrize("every", [2, 97, 4999])
def test_a_filter_is_applied_before_ranking(large_store: Store, every: int) -> None:
    check_agreement(large_store, 20, np.arange(1, 5001, every, dtype=np.int64))


def test_vectors_added_and_deleted_since_the_copy_was_written_are_taken_into_account(large_store: Store) -> None:
    large_store.forget(["3.pdf", "9.pdf"])
    for number in (20, 21, 22):
        embed(large_store, f"{number}.pdf", number)
    check_agreement(large_store)


def test_a_new_row_in_a_hole_is_not_mistaken_for_the_deleted_row(large_store: Store) -> None:
    large_store.forget(["9.pdf"])
    embed(large_store, "new.pdf", 50)  # sqlite-vec fills the holes of its newest storage chunk
    check_agreement(large_store)


def test_the_copy_is_rewritten_only_when_much_is_new(large_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = int8_copy.path_of(large_store.path)
    before = path.stat().st_ino
    embed(large_store, "new.pdf", 50)
    large_store.tidy()
    assert path.stat().st_ino == before
    monkeypatch.setattr(int8_copy, "_MAX_NEW_CHUNKS", 0)
    large_store.tidy()
    assert path.stat().st_ino != before
    check_agreement(large_store)


def test_the_copy_is_written_while_vectors_come_and_checked_once_per_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(int8_copy, "MIN_PASSAGES", 1_500)
    monkeypatch.setattr(int8_copy, "CHECK_EVERY_PASSAGES", 1_000)
    monkeypatch.setattr(int8_copy, "_MAX_NEW_CHUNKS", 0)
    looked: list[int] = []
    refresh = int8_copy.refresh
    monkeypatch.setattr(int8_copy, "refresh", lambda *given: looked.append(number) or refresh(*given))
    with open_store(tmp_path / "index.db") as store, open_store(tmp_path / "index.db", read_only=True) as reader:
        store.use_model("model-a", DIM)
        with reader.reading():  # this reader keeps the log from being emptied
            for number in range(6):
                assert int8_copy.path_of(store.path).exists() == (number >= 4)
                with store.changing():
                    embed(store, f"{number}.pdf", number)
        assert looked == [1, 3, 5]
        check_agreement(store)


def test_only_the_owner_can_read_the_copy_and_no_temporary_file_is_left(large_store: Store) -> None:
    path = int8_copy.path_of(large_store.path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not list(path.parent.glob("*.new"))


def test_a_copy_of_another_models_vectors_is_not_used(large_store: Store) -> None:
    large_store.use_model("model-b", DIM)
    query = clustered(1, seed=5)[0]
    with large_store.reading() as db:
        assert vectors.nearest(db, "passage_vectors", query, 5) == []
        assert int8_copy.nearest(db, large_store.path, query, 5, None) is None
    large_store.tidy()
    assert not int8_copy.path_of(large_store.path).exists()  # nothing is left to copy


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "other", "long"])
def test_a_missing_or_damaged_copy_does_not_change_the_answer(large_store: Store, damage: str) -> None:
    path = int8_copy.path_of(large_store.path)
    content = path.read_bytes()
    damaged = {"empty": b"", "cut": content[:-1], "other": b"\xff" * len(content), "long": content + b"\0"}
    path.unlink() if damage == "missing" else path.write_bytes(damaged[damage])
    query = clustered(1, seed=5)[0]
    with large_store.reading() as db:
        assert int8_copy.nearest(db, large_store.path, query, 5, None) is None
        assert dict(vectors.nearest(db, "passage_vectors", query, 5)) == compare_all(large_store, query, 5)
    large_store.tidy()
    check_agreement(large_store)


def test_a_copy_with_wrong_estimates_is_not_used(large_store: Store) -> None:
    path = int8_copy.path_of(large_store.path)
    content = bytearray(path.read_bytes())
    codes = int8_copy._HEADER.itemsize + 8 + 12 * 1024  # after the first record's id, rowids and scales
    content[codes : codes + 1024 * DIM] = b"\x30" * (1024 * DIM)
    path.write_bytes(content)
    query = np.full(DIM, DIM**-0.5, np.float32)
    with large_store.reading() as db:
        assert int8_copy.nearest(db, large_store.path, query, 5, None) is None


def test_a_full_disk_while_writing_the_copy_is_no_error(large_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    int8_copy.path_of(large_store.path).unlink()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(int8_copy.os, "fsync", full)
    large_store.tidy()
    assert not [file for file in large_store.path.parent.iterdir() if "int8" in file.name]


def test_an_index_older_than_int8_copies_gets_a_copy(large_store: Store) -> None:
    with large_store.changing() as db:
        db.execute("DELETE FROM meta WHERE key = 'vector_table'")
    large_store.tidy()
    check_agreement(large_store)


@given(arrays(np.float32, (7, 5), elements=st.floats(-1, 1, width=32)))
def test_quantization_is_off_by_at_most_half_a_step(given_vectors: NDArray[np.float32]) -> None:
    codes, scales = int8_copy.quantized(given_vectors)
    assert (np.abs(codes * scales[:, None] - given_vectors) <= scales[:, None] * 0.501 + 1e-30).all()
