"""A search by segments finds the vectors that a comparison of all finds, whatever changed meanwhile."""

import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from longsearch.engine.index.sqlite import SqliteBackend
from longsearch.engine.store import manifest, vectors
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments import files, sign_scan, upkeep, vector_search
from longsearch.engine.store.segments.candidate_filter import CandidateFilter
from longsearch.engine.store.segments.files import DamagedSegmentError, Segments
from longsearch.engine.store.segments.sign_scan import packed
from longsearch.engine.store.segments.vector_search import VectorSearch
from longsearch.engine.store.store import Store
from longsearch.engine.store.vec0.storage_chunks import codes_of, scales_of
from tests.engine.store.store_helpers import add, open_store

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
    """An index with 5,000 passages and segments of their vectors."""
    monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 2_000)
    with open_store(tmp_path / "index.db") as opened:
        opened.use_model("model-a", DIM)
        for number in range(10):
            embed(opened, f"{number}.pdf", number)
        opened.tidy()
        yield opened


def by_segments(
    db: apsw.Connection, query: NDArray[np.float32], k: int, allowed: NDArray[np.int64] | None = None
) -> list[tuple[int, float]] | None:
    segments = VectorSearch.open(Segments(db), Kind.VECTORS, DIM)
    return segments and segments.nearest(query, k, None if allowed is None else CandidateFilter(holding=allowed))


def scan(
    store: Store, query: NDArray[np.float32], k: int, allowed: NDArray[np.int64] | None = None
) -> dict[int, float]:
    with store.reading() as db:
        found = by_segments(db, query, k, allowed)
        assert found is not None
        assert found == sorted(found, key=lambda row: (-row[1], row[0]))
        return dict(found)


def compare_all(
    store: Store, query: NDArray[np.float32], k: int, allowed: NDArray[np.int64] | None = None
) -> dict[int, float]:
    with store.reading() as db:
        return dict(vectors.nearest_of_all(db, "passage_vectors", query, k, allowed))


def check_agreement(store: Store, k: int = 20, allowed: NDArray[np.int64] | None = None) -> None:
    recalls = []
    for query in clustered(30, seed=99):
        found, expected = scan(store, query, k, allowed), compare_all(store, query, k, allowed)
        assert len(found) == len(expected)
        recalls.append(len(found.keys() & expected.keys()) / max(len(expected), 1))
        for rowid in found.keys() & expected.keys():
            assert found[rowid] == pytest.approx(expected[rowid], abs=5e-5)
    assert np.mean(recalls) >= 0.99


def segment_files(store: Store, kind: Kind = Kind.VECTORS) -> list[Path]:
    """The files of the segments that count."""
    with store.reading() as db:
        return [files.path_of(store.path, kind, one.token) for one in manifest.read(db, kind).segments]


@pytest.mark.parametrize("k", [1, 20, 200, 6000])
def test_segments_give_the_nearest_of_a_comparison_of_all_vectors(large_store: Store, k: int) -> None:
    check_agreement(large_store, min(k, vectors.K_MAX))


def test_signs_alone_pick_candidates_among_which_the_nearest_are(
    large_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_search, "_BEYOND", 120)
    monkeypatch.setattr(vector_search, "_LEAST_BY_WEIGHT", 300)
    check_agreement(large_store, 20)


def test_a_search_uses_the_segments(large_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "nearest_of_all", None)
    query = clustered(1, seed=5)[0]
    with large_store.reading() as db:
        assert dict(SqliteBackend(Segments(db), len(query)).nearest_passages(query, 5)) == scan(large_store, query, 5)


@pytest.mark.parametrize("every", [2, 97, 4999])
def test_only_allowed_passages_are_ranked(large_store: Store, every: int) -> None:
    check_agreement(large_store, 20, np.arange(1, 5001, every, dtype=np.int64))


@pytest.mark.parametrize("is_idle", [False, True])
def test_vectors_added_and_deleted_since_the_segments_were_written_are_taken_into_account(
    large_store: Store, is_idle: bool
) -> None:
    large_store.forget(["3.pdf", "9.pdf"])
    for number in (20, 21, 22):
        embed(large_store, f"{number}.pdf", number)
    if is_idle:
        large_store.tidy()
    check_agreement(large_store)
    check_agreement(large_store, 20, np.arange(1, 8000, 3, dtype=np.int64))


def test_compacted_vectors_are_found(large_store: Store) -> None:
    large_store.forget([f"{number}.pdf" for number in range(0, 10, 2)])
    for number in range(30, 38):
        embed(large_store, f"{number}.pdf", number)
    large_store.forget([f"{number}.pdf" for number in range(30, 38, 2)])
    large_store.tidy()
    check_agreement(large_store)


def test_vectors_that_were_replaced_are_read_from_the_index(large_store: Store) -> None:
    document_id = add(large_store, "narrow.pdf", "narrow", _PASSAGES)
    old, new = clustered(_PASSAGES, 40), clustered(_PASSAGES, 41)
    large_store.add_vectors(document_id, 0, old, 9, None, width=0.5)
    large_store.finish_embedding(document_id, old[0], 9)
    large_store.tidy()
    large_store.deepen_vectors(document_id, 0, new[:300], 9, b"state")
    check_agreement(large_store)
    large_store.deepen_vectors(document_id, 300, new[300:], 9, None)
    large_store.finish_deepening(document_id, new[0], 9)
    check_agreement(large_store)
    large_store.tidy()
    check_agreement(large_store)
    assert max(scan(large_store, new[5], 1).values()) == pytest.approx(1, abs=5e-5)


def test_only_the_owner_can_read_segments_and_no_temporary_file_is_left(large_store: Store) -> None:
    for path in segment_files(large_store) + segment_files(large_store, Kind.WORDS):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not list(large_store.path.parent.glob("*.new"))


def test_another_models_vectors_are_not_found_by_segments(large_store: Store) -> None:
    large_store.use_model("model-b", DIM)
    query = clustered(1, seed=5)[0]
    with large_store.reading() as db:
        assert SqliteBackend(Segments(db), len(query)).nearest_passages(query, 5) == []
        assert by_segments(db, query, 5) is None
    large_store.tidy()
    assert not list(large_store.path.parent.glob("*-vectors-*"))  # nothing is left to search


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "other", "long"])
def test_a_missing_or_damaged_segment_does_not_change_the_answer(large_store: Store, damage: str) -> None:
    files.mapped.cache_clear()
    path = segment_files(large_store)[-1]
    content = path.read_bytes()
    damaged = {"empty": b"", "cut": content[:-1], "other": b"\xff" * len(content), "long": content + b"\0"}
    path.unlink()
    if damage != "missing":
        path.write_bytes(damaged[damage])
    query = clustered(1, seed=5)[0]
    with large_store.reading() as db:
        assert by_segments(db, query, 5) is None
        assert dict(SqliteBackend(Segments(db), len(query)).nearest_passages(query, 5)) == compare_all(
            large_store, query, 5
        )
    large_store.tidy()
    check_agreement(large_store)


def test_wrong_vectors_in_a_segment_are_found_and_made_anew(large_store: Store) -> None:
    path, query = _with_wrong_codes(large_store), np.full(DIM, DIM**-0.5, np.float32)
    with large_store.reading() as db:
        with pytest.raises(DamagedSegmentError, match="codes"):
            by_segments(db, query, 5)
        assert dict(SqliteBackend(Segments(db), len(query)).nearest_passages(query, 5)) == compare_all(
            large_store, query, 5
        )
    assert not path.exists()
    large_store.tidy()
    check_agreement(large_store)


def _with_wrong_codes(large_store: Store) -> Path:
    path = segment_files(large_store)[0]
    with large_store.reading() as db:
        listed = manifest.read(db, Kind.VECTORS).segments[0]
    codes = files.mapped(path, listed.token)["codes"]
    content = bytearray(path.read_bytes())
    start = content.find(codes[:50].tobytes())
    content[start : start + codes.size] = b"\x30" * codes.size
    files.mapped.cache_clear()
    path.unlink()
    path.write_bytes(content)
    return path


def test_a_full_disk_while_writing_segments_is_no_error(
    large_store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    for path in segment_files(large_store):
        path.unlink()
    files.mapped.cache_clear()
    monkeypatch.setattr(files.os, "fsync", full)
    with caplog.at_level(logging.WARNING, "longsearch.segments"):
        large_store.tidy()
    assert "no segment of vectors was written" in caplog.text
    assert not list(large_store.path.parent.glob("*-vectors-*"))
    query = clustered(1, seed=5)[0]
    with large_store.reading() as db:
        assert dict(SqliteBackend(Segments(db), len(query)).nearest_passages(query, 5)) == compare_all(
            large_store, query, 5
        )


def test_an_index_without_segments_gets_them(large_store: Store) -> None:
    with large_store.changing() as db:
        for kind in Kind:
            manifest.forget(db, kind)
    old = large_store.path.with_name(large_store.path.name + "-int8")
    old.write_bytes(b"the copy that older versions wrote")
    large_store.tidy()
    check_agreement(large_store)
    assert not old.exists()


@given(arrays(np.float32, (7, 5), elements=st.floats(-1, 1, width=32, allow_subnormal=False)))
def test_codes_are_off_by_at_most_half_a_step_and_are_those_of_the_vector_that_they_stand_for(
    given_vectors: NDArray[np.float32],
) -> None:
    codes, steps = codes_of(given_vectors), np.abs(given_vectors).max(axis=1, keepdims=True) / 127
    assert (np.abs(codes * steps - given_vectors) <= steps * 0.501 + 1e-30).all()
    np.testing.assert_array_equal(codes_of(codes * scales_of(codes)[:, None]), codes)


@given(st.integers(0, 200), st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_the_distance_by_signs_counts_the_coordinates_with_different_signs(n: int, dim: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    given_vectors, query = random.standard_normal((n, dim)), random.standard_normal(dim)
    found = sign_scan.by_signs(packed(given_vectors >= 0), query)
    assert found.tolist() == ((given_vectors >= 0) != (query >= 0)).sum(axis=1).tolist()


@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_the_weighted_distance_adds_the_weights_of_the_coordinates_with_different_signs(
    n: int, dim: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    given_vectors, query = random.standard_normal((n, dim)), random.standard_normal(dim).astype(np.float32)
    places = np.flatnonzero(random.integers(0, 2, n))
    found = sign_scan.by_weighted_signs(packed(given_vectors >= 0), places, query)
    differ = (given_vectors[places] >= 0) != (query >= 0)
    assert found.tolist() == (differ * sign_scan.weights(query)).sum(axis=1).tolist()


def test_a_sign_counts_the_more_the_larger_the_coordinate_of_the_query_is() -> None:
    query = np.array([0.0, 0.1, -0.4, 0.8, -0.9, 0.95, 1, 1.1, -1.2, 1.3, 9], np.float32)
    assert sign_scan.weights(query).tolist() == [0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    assert not sign_scan.weights(np.zeros(5, np.float32)).any()


def test_weights_find_near_vectors_that_signs_alone_miss() -> None:
    """The 20 nearest of 20,000 vectors that hardly stand out, as in an index of which few passages fit the query."""
    random = np.random.default_rng(7)
    given_vectors = random.standard_normal((20_000, DIM)).astype(np.float32)
    found: dict[str, list[float]] = {"signs": [], "weights": []}
    for query in random.standard_normal((10, DIM)).astype(np.float32):
        nearest_twenty = set(np.argsort(given_vectors @ query)[-20:].tolist())
        places = np.arange(len(given_vectors))
        distances = {
            "signs": sign_scan.by_signs(packed(given_vectors >= 0), query),
            "weights": sign_scan.by_weighted_signs(packed(given_vectors >= 0), places, query),
        }
        for name, own in distances.items():
            best = set(np.argsort(own, kind="stable")[:2000].tolist())
            found[name].append(len(best & nearest_twenty) / 20)
    assert np.mean(found["weights"]) > np.mean(found["signs"]) + 0.05
