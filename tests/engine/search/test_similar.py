"""More like this: compares whole documents."""

import numpy as np
import pytest

from longsearch.engine.errors import LongsearchError, StoreError
from longsearch.engine.search import similar
from longsearch.engine.store import documents, vectors
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode, SearchResults
from tests.engine.search.search_helpers import add, names, toward
from tests.engine.store.store_helpers import of_store

similarity_of_passages = of_store(similar.similarity_of_passages)
title_and_vector = of_store(similar.title_and_vector)
similar_to_vector = of_store(similar.similar_to_vector)


def like(store: Store, document_id: int, under: str = "") -> SearchResults:
    """The documents most similar to one of the index, which itself stands first."""
    title, vector = title_and_vector(store, document_id)
    return similar_to_vector(store, vector, title, under=under)


def test_similar_documents_are_ranked_by_cosine(store: Store) -> None:
    own = add(store, "a.pdf", ["A."], [toward(0, 0, 1)], title="On apples", whole=toward(1, 1))
    add(store, "b.pdf", ["B."], [toward(0, 0, 1)], whole=toward(1, 0))
    add(store, "c.pdf", ["C."], [toward(0, 0, 1)], whole=toward(95, 127))
    found = like(store, own)
    assert names(found) == ["a.pdf", "c.pdf", "b.pdf"]
    assert [hit.score for hit in found.hits] == pytest.approx(
        [1.0, 222 / (2 * (95**2 + 127**2)) ** 0.5, 1 / 2**0.5], abs=1e-6
    )
    assert [hit.rank for hit in found.hits] == [1, 2, 3]
    assert (found.similar_to, found.query, found.mode, found.note) == ("On apples", "", SearchMode.MEANING, "")


def test_each_hit_shows_its_passages_nearest_to_the_whole_document(store: Store) -> None:
    own = add(store, "a.pdf", ["A."], [toward(1)])
    add(store, "b.pdf", ["far", "near", "nearest"], [toward(0, 1), toward(1, 1), toward(127, 13)], whole=toward(2, 1))
    _, hit = like(store, own).hits
    assert [passage.text for passage in hit.passages] == ["nearest", "near", "far"]
    assert [passage.page for passage in hit.passages] == [3, 2, 1]
    assert [p.score for p in hit.passages] == pytest.approx([127 / (127**2 + 13**2) ** 0.5, 0.5**0.5, 0.0], abs=1e-6)
    assert all(passage.excerpt is None for passage in hit.passages)


def test_documents_and_passages_are_limited_to_the_numbers_asked_for(store: Store) -> None:
    for number in range(5):
        add(store, f"{number}.pdf", [f"{number} {i}" for i in range(7)], [toward(1)] * 7)
    found = similar_to_vector(store, toward(1), "another", k=3)
    assert len(found.hits) == 3
    assert {len(hit.passages) for hit in found.hits} == {5}


def test_similar_documents_can_be_limited_to_a_folder(store: Store) -> None:
    own = add(store, "a.pdf", ["A."], [toward(1)])
    add(store, "near/b.pdf", ["B."], [toward(1, 2)])
    add(store, "nearby/c.pdf", ["C."], [toward(127, 13)])
    assert names(like(store, own, under="near")) == ["near/b.pdf"]
    assert names(like(store, own, under="none")) == []


def test_documents_without_similarity_are_not_listed(store: Store) -> None:
    own = add(store, "a.pdf", ["A."], [toward(1)])
    add(store, "b.pdf", ["B."], [toward(0, 1)])
    add(store, "c.pdf", ["C."], [toward(-1, 1)])
    assert names(like(store, own)) == ["a.pdf"]


def test_the_note_counts_documents_without_vectors(store: Store) -> None:
    own = add(store, "a.pdf", ["A."], [toward(1)])
    add(store, "b.pdf", ["B."])
    assert like(store, own).note == "1 document has not been read for its meaning yet"
    add(store, "c.pdf", ["C."])
    assert like(store, own).note == "2 documents have not been read for their meaning yet"


def test_a_document_without_a_vector_raises_an_error(store: Store) -> None:
    waiting = add(store, "b.pdf", ["B."], title="On pears")
    with pytest.raises(LongsearchError, match="On pears has not been read for its meaning yet"):
        title_and_vector(store, waiting)


def test_a_deleted_document_raises_an_error(store: Store) -> None:
    gone = add(store, "a.pdf", ["A."], [toward(1)])
    store.forget(["a.pdf"])
    with pytest.raises(StoreError, match="no longer in the index"):
        title_and_vector(store, gone)


def test_a_vector_of_another_dimension_is_refused(store: Store) -> None:
    add(store, "a.pdf", ["A."], [toward(1)])
    with pytest.raises(ValueError, match="shape"):
        similar_to_vector(store, np.ones(3, np.float32) / 3**0.5, "another")


def test_the_nearness_of_every_passage_of_a_document_is_its_cosine_with_the_query(store: Store) -> None:
    own = add(store, "a.pdf", ["far", "near", "nearest"], [toward(0, 1), toward(1, 1), toward(127, 13)])
    add(store, "b.pdf", ["other"], [toward(1)])
    waiting = add(store, "c.pdf", ["no vector yet"])
    found = similarity_of_passages(store, own, toward(1))
    assert [cosine for _, _, cosine in found] == pytest.approx([0, 0.5**0.5, 127 / (127**2 + 13**2) ** 0.5], abs=1e-6)
    with store.reading() as db:
        passages, vectors_of = documents.passages(db, own), vectors.of_passages(db, own)
    assert [(start, stop) for start, stop, _ in found] == [(passage.start, passage.stop) for passage in passages]
    one_by_one = [sum(a * b for a, b in zip(vector, toward(1), strict=True)) for vector in vectors_of.tolist()]
    assert [cosine for _, _, cosine in found] == pytest.approx(one_by_one, abs=1e-6)
    assert similarity_of_passages(store, waiting, toward(1)) == ()
    assert similarity_of_passages(store, 999, toward(1)) == ()
