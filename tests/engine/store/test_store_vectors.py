"""Vectors come in batches, are checked, resume after an interruption, and are found by cosine."""

from pathlib import Path

import apsw
import numpy as np
import pytest

from longsearch.engine.index.opening import open_index
from longsearch.engine.index.sqlite import SqliteBackend
from longsearch.engine.passages import EXCERPT_WEIGHT
from longsearch.engine.store import vectors
from longsearch.engine.store.segments.candidate_filter import CandidateFilter
from longsearch.engine.store.segments.files import Segments
from longsearch.engine.store.store import Store
from longsearch.engine.store.vec0 import storage_chunks
from tests.engine.store.store_helpers import (
    DIM,
    add,
    check_invariants,
    embed,
    open_store,
    unit_vectors,
    vector_of,
    vectors_of_passages,
)


def test_an_interrupted_document_resumes_from_its_state(store: Store) -> None:
    document_id = add(store, "a.pdf", "a", n_passages=5)
    given = unit_vectors(5)
    store.add_vectors(document_id, 0, given[:2], 20, b"after two")
    (pending,) = store.pending()
    assert (pending.document_id, pending.n_passages_done, pending.n_tokens_done) == (document_id, 2, 20)
    assert pending.state == b"after two"
    store.add_vectors(document_id, 2, given[2:], 45, b"after five")
    store.add_vectors(document_id, 5, given[:0], 46, b"no passage ended here")
    assert vector_of(store, document_id) is None
    store.finish_embedding(document_id, given[0], 46)
    assert store.pending() == []
    assert (vectors_of_passages(store, document_id) == given).all()
    assert (vector_of(store, document_id) == given[0]).all()
    with store.reading() as db:
        assert db.execute("SELECT count(*) FROM embeddings WHERE state IS NOT NULL").get == 0


def test_begun_documents_are_pending_first_then_the_shortest(store: Store) -> None:
    long, short, begun = (add(store, f"{n}.pdf", str(n), n_passages=n) for n in (9, 2, 5))
    store.add_vectors(begun, 0, unit_vectors(1), 9, b"state")
    assert [pending.document_id for pending in store.pending()] == [begun, short, long]
    assert [pending.document_id for pending in store.pending(limit=1)] == [begun]


@pytest.mark.parametrize(("first", "n", "complaint"), [(1, 1, "passage 0 is next"), (0, 4, "4 vectors for 3 passages")])
def test_vectors_out_of_order_are_refused(store: Store, first: int, n: int, complaint: str) -> None:
    document_id = add(store, "a.pdf", "a")
    with pytest.raises(ValueError, match=complaint):
        store.add_vectors(document_id, first, unit_vectors(n), 1, None)
    assert len(vectors_of_passages(store, document_id)) == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, 2.0])
def test_a_vector_that_is_not_a_unit_vector_is_refused(store: Store, value: float) -> None:
    document_id = add(store, "a.pdf", "a")
    bad = unit_vectors(3)
    bad[1, 0] = value
    bad[1, 1:] = 0
    with pytest.raises(ValueError, match="length 1"):
        store.add_vectors(document_id, 0, bad, 1, None)


def test_a_vector_of_another_dimension_is_refused(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    with pytest.raises(ValueError, match="shape"):
        store.add_vectors(document_id, 0, unit_vectors(3, dim=DIM + 1), 1, None)


def test_a_document_is_finished_only_once_and_only_after_its_passages(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    with pytest.raises(ValueError, match="0 of 3"):
        store.finish_embedding(document_id, unit_vectors(1)[0], 1)
    embed(store, document_id)
    with pytest.raises(ValueError, match="document too"):
        store.finish_embedding(document_id, unit_vectors(1)[0], 1)
    with pytest.raises(ValueError, match="it is done"):
        store.add_vectors(document_id, 3, unit_vectors(0), 1, None)


def test_vectors_of_a_deleted_document_are_dropped(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    store.forget(["a.pdf"])
    assert not store.add_vectors(document_id, 0, unit_vectors(3), 1, None)
    assert not store.finish_embedding(document_id, unit_vectors(1)[0], 1)


def test_vectors_need_a_model(tmp_path: Path) -> None:
    with open_store(tmp_path / "other.db") as store:
        document_id = add(store, "a.pdf", "a")
        with pytest.raises(ValueError, match="use_model"):
            store.add_vectors(document_id, 0, unit_vectors(3), 1, None)
        assert vectors_of_passages(store, document_id).shape == (0, 0)
        assert vector_of(store, document_id) is None


def test_an_index_has_the_excerpt_weight_that_its_model_gave_last(store: Store) -> None:
    assert excerpt_weight(store) == EXCERPT_WEIGHT
    for weight in (0.8, EXCERPT_WEIGHT):
        assert not store.use_model("model-a", DIM, weight)
        assert excerpt_weight(store) == weight


def excerpt_weight(store: Store) -> float:
    with open_index(store.path) as index:
        return index.excerpt_weight


def test_the_same_model_keeps_the_vectors_and_another_drops_them(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    embed(store, document_id)
    assert not store.use_model("model-a", DIM)
    assert len(vectors_of_passages(store, document_id)) == 3
    assert store.use_model("model-b", DIM + 8)
    assert store.model_in_use() == ("model-b", DIM + 8)
    assert vectors_of_passages(store, document_id).shape == (0, DIM + 8)
    assert [pending.n_passages_done for pending in store.pending()] == [0]


@pytest.mark.parametrize("k", [1, 7, 200])
def test_the_nearest_vectors_are_those_of_a_full_comparison(store: Store, k: int) -> None:
    given = np.concatenate([embed(store, add(store, f"{n}.pdf", str(n), 40), seed=n) for n in range(5)])
    query = unit_vectors(1, seed=99)[0]
    cosines = given @ query
    with store.reading() as db:
        found = SqliteBackend(Segments(db), len(query)).nearest_passages(query, k)
    assert [passage_id - 1 for passage_id, _ in found] == np.argsort(-cosines, kind="stable")[:k].tolist()
    np.testing.assert_allclose([cosine for _, cosine in found], np.sort(cosines)[::-1][:k], atol=1e-6)


def test_a_filter_is_applied_before_ranking(store: Store) -> None:
    given = np.concatenate([embed(store, add(store, f"{n}.pdf", str(n), 40), seed=n) for n in range(3)])
    query = unit_vectors(1, seed=99)[0]
    allowed = np.array([3, 50, 77, 119], dtype=np.int64)
    with store.reading() as db:
        found = SqliteBackend(Segments(db), len(query)).nearest_passages(query, 3, CandidateFilter(holding=allowed))
        assert (
            SqliteBackend(Segments(db), len(query)).nearest_passages(query, 3, CandidateFilter(holding=allowed[:0]))
            == []
        )
    best = allowed[np.argsort(-(given[allowed - 1] @ query))][:3]
    assert [passage_id for passage_id, _ in found] == best.tolist()


def test_the_nearest_document_is_found_by_its_own_vector(store: Store) -> None:
    ids = [add(store, f"{n}.pdf", str(n)) for n in range(4)]
    for number, document_id in enumerate(ids):
        embed(store, document_id, seed=10 * number)
    query = vector_of(store, ids[2])
    assert query is not None
    with store.reading() as db:
        (best, *_) = SqliteBackend(Segments(db), len(query)).nearest_documents(query, 3)
    assert best == (ids[2], pytest.approx(1, abs=1e-6))


def test_vectors_read_without_sqlite_vec_equal_those_it_returns(store: Store) -> None:
    ids = [add(store, f"{n}.pdf", str(n), 400) for n in range(6)]
    for document_id in ids:
        embed(store, document_id, seed=document_id)
    store.forget(["0.pdf", "3.pdf"])
    with store.reading() as db:
        expected = dict(db.execute("SELECT rowid, embedding FROM passage_vectors").fetchall())
        found = vectors.of_ids(db, "passage_vectors", range(3000))
        query = unit_vectors(1, seed=5)[0]
        sql = "SELECT rowid, 1 - vec_distance_cosine(embedding, vec_int8(?)) FROM passage_vectors"
        cosines = dict(db.execute(sql, (storage_chunks.codes_of(query[None]).tobytes(),)).fetchall())
        nearest = vectors.nearest_of_all(db, "passage_vectors", query, 4_000, None)
        directory = storage_chunks.directory(db)
    codes = storage_chunks.codes_of(np.stack([found[rowid] for rowid in expected]))
    assert dict(zip(expected, map(bytes, codes), strict=True)) == expected
    assert dict(nearest) == pytest.approx(cosines, abs=1e-6)
    assert sorted(directory.rowids[directory.live].tolist()) == sorted(expected)


def write_in_float32(db: apsw.Connection) -> None:
    """Write all vectors as an index before schema 18 has them."""
    for table in vectors.TABLES:
        for chunk_id in storage_chunks.directory(db, table).chunk_ids.tolist():
            codes = storage_chunks.read_chunk(db, table, DIM, chunk_id)
            blob = (codes * storage_chunks.scales_of(codes)[:, None]).astype(np.float32).tobytes()
            db.execute(f"UPDATE {table}_vector_chunks00 SET vectors = ? WHERE rowid = ?", (blob, chunk_id))


def test_vectors_in_float32_change_and_become_int8_and_all_stays_what_it_was(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [add(store, f"{n}.pdf", str(n), 500) for n in range(8)]
    given = {document_id: embed(store, document_id, seed=document_id) for document_id in ids}
    with store.changing() as db:
        write_in_float32(db)
    store.forget(["0.pdf"])
    del given[ids[0]]
    new = add(store, "new.pdf", "new", 500)
    given[new] = embed(store, new, seed=99)

    def n_of_float() -> int:
        with store.reading() as db:
            return len(storage_chunks.of_float32(db, "passage_vectors", DIM))

    def check() -> None:
        check_invariants(store)
        for document_id, own in given.items():
            assert (vectors_of_passages(store, document_id) == own).all()

    before = n_of_float()
    check()
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        to_int8, n_left = storage_chunks.to_int8, iter([True, False])
        patched.setattr(storage_chunks, "to_int8", lambda *given: to_int8(*given) if next(n_left) else interrupt())
        store.tidy()
    assert 0 < n_of_float() == before - 1
    check()
    store.tidy()
    assert n_of_float() == 0
    check()


def interrupt() -> None:
    raise KeyboardInterrupt
