"""Passages like another: ranked by their own vectors, near-duplicates folded."""

import pytest

from longsearch.engine.errors import LongsearchError
from longsearch.engine.search import similar_passages
from longsearch.engine.store import documents
from longsearch.engine.store.store import Store
from tests.engine.search.search_helpers import add, kept, names, toward
from tests.engine.store.store_helpers import of_store

asked_passage = of_store(similar_passages.asked_passage)
similar_to_passage = of_store(similar_passages.similar_to_passage)

VALVE = "The valve behind the second pump stayed open for more than two hours and nobody in the room noticed it."


def test_passages_like_another_are_ranked_by_the_cosines_of_their_own_vectors(store: Store) -> None:
    own = add(store, "a.pdf", ["Asked about.", "In the same document."], [toward(1), toward(1, 1)], title="Apples")
    add(store, "b.pdf", ["Far away.", "Very near."], [toward(0, 1), toward(1, 0.1)])
    with store.reading() as db:
        second = documents.passages(db, own)[1]
    found = similar_to_passage(store, asked_passage(store, own, 0))
    assert [[passage.text for passage in hit.passages] for hit in found.hits] == [
        ["Very near."],
        ["In the same document."],
    ]
    assert [hit.score for hit in found.hits] == pytest.approx([kept(1, 0.1), 0.5**0.5], abs=1e-6)
    assert asked_passage(store, own, second.start).text == "In the same document."
    assert (found.note, found.similar_to) == ("", "a passage of Apples")


def test_near_duplicates_are_folded_and_counted(store: Store) -> None:
    own = add(store, "a.pdf", [VALVE], [toward(1)])
    add(store, "copy.pdf", [VALVE.replace(" two ", " three ") + " It is said."], [toward(1, 0.1)])
    add(store, "b.pdf", ["Quite another sentence, about the hydrogen that collected under the dome."], [toward(1, 0.2)])
    add(
        store, "c.pdf", ["Quite another sentence - about the hydrogen that collected under the dome!"], [toward(1, 0.3)]
    )
    found = similar_to_passage(store, asked_passage(store, own, 0))
    assert names(found) == ["b.pdf"]
    assert found.note == "2 near-duplicates folded"


def test_a_passage_without_a_vector_says_that_it_must_be_read_first(store: Store) -> None:
    own = add(store, "a.pdf", ["A."])
    with pytest.raises(LongsearchError, match="has not been read for its meaning yet"):
        asked_passage(store, own, 0)
