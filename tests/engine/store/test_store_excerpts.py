"""Excerpt vectors are kept in three codes, tell the nearest excerpt, and go with their passages."""

from collections.abc import Sequence

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from longsearch.engine.store import documents, excerpts
from longsearch.engine.store.records import SavedState
from longsearch.engine.store.schema import migrate
from longsearch.engine.store.store import Store
from tests.engine.store.store_helpers import DIM, add, document, embed, record, unit_vectors, vectors_of_passages


def table_alone() -> apsw.Connection:
    """An empty database. It does not check that the passages of the excerpts exist."""
    db = apsw.Connection(":memory:")
    migrate(db)
    return db


def at_places(vectors: NDArray[np.float32], of_passage: NDArray[np.float32] | None = None) -> bytes:
    """Pack these vectors as excerpts of five characters each, by default of a passage that is like none of them."""
    if of_passage is None:
        of_passage = unit_vectors(1, vectors.shape[1], seed=999)[0]
    return excerpts.packed(5 * np.arange(len(vectors)), vectors, of_passage)


def nearest(
    db: apsw.Connection, query: NDArray[np.float32], ids: Sequence[int], cosines: NDArray[np.float32] | None = None
) -> dict[int, tuple[int, int, float]]:
    """(start, stop, cosine) of the nearest excerpt of each passage; by default their passages are as in `at_places`."""
    if cosines is None:
        cosines = np.repeat(unit_vectors(1, len(query), seed=999) @ query, len(ids))
    numbers, *found = (column.tolist() for column in excerpts.nearest(db, query, np.array(ids, np.int64), cosines))
    return dict(zip(numbers, zip(*found, strict=True), strict=True))


def n_kept(store: Store) -> int:
    with store.reading() as db:
        return int(db.execute("SELECT count(*) FROM excerpt_vectors").get)


@pytest.mark.parametrize("dim", [255, 7, 1])
@settings(max_examples=20, deadline=None)
@given(sizes=st.lists(st.integers(0, 7), min_size=1, max_size=6), seed=st.integers(0, 99))
def test_the_nearest_excerpt_is_the_exact_one_within_rounding(dim: int, sizes: list[int], seed: int) -> None:
    given_vectors = [unit_vectors(n, dim, seed + place) for place, n in enumerate(sizes)]
    query = unit_vectors(1, dim, seed + 100)[0]
    db = table_alone()
    excerpts.add(db, range(len(sizes)), [at_places(vectors) for vectors in given_vectors])
    found = nearest(db, query, range(len(sizes) + 3))
    assert sorted(found) == [place for place, n in enumerate(sizes) if n]
    for place, (start, stop, cosine) in found.items():
        number = start // 5
        assert stop == (-1 if number + 1 == sizes[place] else start + 5)
        exact = given_vectors[place] @ query
        rounding = np.abs(given_vectors[place]).max() / 14 * np.abs(query).sum()  # at worst half a step per coordinate
        assert abs(cosine - exact[number]) <= rounding + 1e-5
        assert exact[number] >= exact.max() - 2 * rounding


def in_two_bits(vector: NDArray[np.float32]) -> list[float]:
    """The coordinates of a vector of a normal distribution in two bits, found without the store's code."""
    step = 0.9957 * float(np.sqrt(np.mean(vector.astype(float) ** 2)))
    levels = [(-3 if value < -step else -1 if value < 0 else 1 if value < step else 3) for value in vector.tolist()]
    return scaled(vector.tolist(), levels)


def by_passage(vector: NDArray[np.float32], of_passage: NDArray[np.float32]) -> list[float]:
    """The coordinates of a vector as a share of its passage's and three levels, found without the store's code."""
    share = round(127 * float(vector @ of_passage)) / 127
    left = [own - share * other for own, other in zip(vector.tolist(), of_passage.tolist(), strict=True)]
    border = 0.612 * float(np.sqrt(np.mean(np.square(left))))
    levels = [(value > border) - (value < -border) for value in left]
    return [share * other + own for other, own in zip(of_passage.tolist(), scaled(left, levels), strict=True)]


def scaled(vector: list[float], levels: list[int]) -> list[float]:
    """The levels such that their product with the vector is that of the vector with itself."""
    scale = sum(value**2 for value in vector) / sum(map(float.__mul__, vector, map(float, levels)))
    return [level * scale for level in levels]


@pytest.mark.parametrize("dim", [384, 257])
def test_from_256_dimensions_on_an_excerpt_is_a_share_of_its_passage_and_three_levels(dim: int) -> None:
    passages, query = unit_vectors(4, dim, seed=50), unit_vectors(1, dim, seed=1)[0]
    mixed = [0.6 * unit_vectors(n, dim, seed=n) + 0.8 * own for n, own in zip((1, 2, 5, 200), passages, strict=True)]
    vectors = [own / np.linalg.norm(own, axis=1, keepdims=True) for own in mixed]
    packed = [at_places(own, of_passage) for own, of_passage in zip(vectors, passages, strict=True)]
    assert all(0 <= len(one) - len(own) * (5 + -(-dim // 5)) <= 2 for one, own in zip(packed, vectors, strict=True))
    db = table_alone()
    excerpts.add(db, range(4), packed)
    for id_, (start, _, cosine) in nearest(db, query, range(4), passages @ query).items():
        expected = np.array([by_passage(own, passages[id_]) for own in vectors[id_]]) @ query
        assert start == 5 * int(expected.argmax())
        assert cosine == pytest.approx(expected.max(), abs=5e-4)


@pytest.mark.parametrize("dim", [384, 257])
def test_two_bits_of_an_older_longsearch_are_read_beside_rows_of_today(dim: int) -> None:
    vectors, query = [unit_vectors(n, dim, seed=n) for n in (1, 2, 5, 200)], unit_vectors(1, dim, seed=1)[0]
    packed = [excerpts._in_two_bits(5 * np.arange(len(own)), own) for own in vectors]
    assert all(0 < len(one) - len(own) * (4 + -(-dim // 4)) <= 2 for one, own in zip(packed, vectors, strict=True))
    db = table_alone()
    excerpts.add(db, range(5), [*packed, at_places(vectors[1])])
    found = nearest(db, query, range(5))
    for id_, own in enumerate(vectors):
        start, _, cosine = found[id_]
        expected = np.array([in_two_bits(vector) for vector in own]) @ query
        assert start == 5 * int(expected.argmax())
        assert cosine == pytest.approx(expected.max(), abs=5e-4)
    assert found[4][2] == pytest.approx((vectors[1] @ query).max(), abs=0.07)


@pytest.mark.parametrize("dim", [256, 257, 300, 384, 512, 768])
def test_the_length_of_a_row_tells_its_code(dim: int) -> None:
    vectors = np.ones((401, dim), np.float32)
    for n in range(1, 402):
        starts, own = np.arange(n), vectors[:n]
        assert excerpts._code_of(len(excerpts._in_two_bits(starts, own)), dim) is excerpts._TWO_BITS
        assert excerpts._code_of(n * excerpts._FOUR_BITS.record(dim).itemsize, dim) is excerpts._FOUR_BITS
        row = excerpts.packed(starts, own, own[0] / dim**0.5)
        assert excerpts._code_of(len(row), dim) is excerpts._DIFFERENCE
        assert len(row) // excerpts._DIFFERENCE.record(dim).itemsize == n


@pytest.mark.parametrize(
    ("dim", "share", "least", "most"),
    [(255, 0, 0.003, 0.01), (384, 0, 0.02, 0.025), (384, 0.6, 0.015, 0.02), (384, 0.8, 0.01, 0.015)],
)
def test_rounding_moves_a_cosine_the_less_the_more_an_excerpt_is_like_its_passage(
    dim: int, share: float, least: float, most: float
) -> None:
    own, passages, query = unit_vectors(300, dim), unit_vectors(300, dim, seed=5), unit_vectors(1, dim, seed=1)[0]
    vectors = (share * passages + (1 - share**2) ** 0.5 * own).astype(np.float32)
    db, packed = table_alone(), map(at_places, vectors[:, None], passages)
    excerpts.add(db, range(len(vectors)), list(packed))
    found = nearest(db, query, range(len(vectors)), passages @ query)
    moved = np.array([found[row][2] for row in range(len(vectors))]) - vectors @ query
    assert least < np.sqrt((moved**2).mean()) < most


def test_the_excerpts_of_an_older_index_get_two_bits_a_few_passages_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    db, query = table_alone(), unit_vectors(1, 384, seed=1)[0]
    vectors = [unit_vectors(3, 384, seed=seed) for seed in range(7)]
    with monkeypatch.context() as before:
        before.setattr(excerpts, "_LEAST_DIM", 999)
        excerpts.add(db, range(1, 8), [at_places(own) for own in vectors])
    db.execute("INSERT INTO meta VALUES ('old_excerpts', 0)")
    long = nearest(db, query, range(1, 8))
    assert excerpts.make_smaller(db, 384, 3)
    mixed = nearest(db, query, range(1, 8))
    assert [mixed[id_] == long[id_] for id_ in range(1, 8)] == 3 * [False] + 4 * [True]
    while excerpts.make_smaller(db, 384, 3):
        pass
    assert db.execute("SELECT count(*) FROM meta WHERE key = 'old_excerpts'").get == 0
    assert db.execute("SELECT max(length(vectors)) FROM excerpt_vectors").get < 310
    for id_, (start, _, cosine) in nearest(db, query, range(1, 8)).items():
        exact = vectors[id_ - 1] @ query
        assert cosine == pytest.approx(exact[start // 5], abs=0.07)
        assert exact.max() - exact[start // 5] < 0.07


def test_a_passage_with_an_excerpt_that_begins_far_away_keeps_its_start() -> None:
    db = table_alone()
    excerpts.add(db, [1], [excerpts.packed(np.array([0, 70_000]), unit_vectors(2, 384), unit_vectors(1, 384)[0])])
    assert nearest(db, unit_vectors(2, 384)[1], [1])[1][0] == 70_000


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_are_refused(value: float) -> None:
    bad = unit_vectors(2)
    bad[1, 0] = value
    with pytest.raises(ValueError, match="finite"):
        at_places(bad)


def test_excerpts_must_match_the_number_of_passages(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    with pytest.raises(ValueError, match="zip"):
        store.add_vectors(document_id, 0, unit_vectors(2), 18, None, [at_places(unit_vectors(2))])
    assert n_kept(store) == len(vectors_of_passages(store, document_id)) == 0


def test_an_excerpt_of_zeros_has_a_cosine_of_zero(store: Store) -> None:
    document_id = add(store, "a.pdf", "a", n_passages=1)
    store.add_vectors(document_id, 0, unit_vectors(1), 9, None, [at_places(np.zeros((2, DIM), np.float32))])
    with store.reading() as db:
        (found,) = nearest(db, unit_vectors(1)[0], documents.passage_ids(db, document_id)).values()
    assert found == (0, 5, 0.0)


def test_excerpts_are_deleted_with_their_document_their_model_and_at_a_restart(store: Store) -> None:
    first, second = (add(store, f"{name}.pdf", name, n_passages=6) for name in "ab")
    for document_id in (first, second):
        embed(store, document_id)
    assert n_kept(store) == 8  # every third passage has none
    store.forget(["a.pdf"])
    assert n_kept(store) == 4
    store.restart_embedding(second)
    assert n_kept(store) == 0
    embed(store, second)
    store.use_model("model-b", DIM)
    assert n_kept(store) == 0


def test_a_grown_document_inherits_the_excerpts_of_its_beginning(store: Store) -> None:
    document_id = add(store, "a.md", "a", n_passages=3)
    given_vectors = [unit_vectors(2, seed=place) for place in range(3)]
    store.add_vectors(document_id, 0, unit_vectors(3), 27, None, [at_places(vectors) for vectors in given_vectors])
    store.finish_embedding(document_id, unit_vectors(1)[0], 27, SavedState(document_id, 2, 18, b"state"))
    saved = store.saved_state("a.md")
    grown = store.add_document(record("a.md", 20), *document("grown", 5), saved=saved)
    query = unit_vectors(1, seed=9)[0]
    with store.reading() as db:
        ids = documents.passage_ids(db, grown)
        found = nearest(db, query, ids)
    assert sorted(found) == ids[:2]
    for place, id_ in enumerate(ids[:2]):
        assert found[id_][0] == 5 * int((given_vectors[place] @ query).argmax())
