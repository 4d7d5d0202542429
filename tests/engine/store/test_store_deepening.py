"""The width of each document, and the replacement of its vectors by those of the whole model."""

import numpy as np
import pytest
from numpy.typing import NDArray

from longsearch.engine.store.excerpts import packed
from longsearch.engine.store.records import SavedState
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.engine.store.store_helpers import (
    add,
    check_invariants,
    document,
    embed,
    record,
    search,
    unit_vectors,
    vector_of,
    vectors_of_passages,
)

OLD, NEW = unit_vectors(3, seed=1), unit_vectors(3, seed=2)
WHOLE = unit_vectors(1, seed=5)[0]


def narrow(store: Store, path: str = "a.pdf", seed: str = "one", width: float = 0.5) -> int:
    """A complete document of three passages of nine tokens, read at `width`."""
    document_id = add(store, path, seed, 3)
    assert store.add_vectors(document_id, 0, OLD, 27, b"state", width=width)
    assert store.finish_embedding(document_id, OLD[0], 28, SavedState(document_id, 2, 18, b"narrow", width))
    return document_id


def found(store: Store, query: NDArray[np.float32]) -> float:
    return search(store, "anything", SearchMode.MEANING, query).hits[0].score


def test_a_document_is_narrow_if_a_narrower_model_made_its_vectors(store: Store) -> None:
    embed(store, add(store, "whole.pdf", "whole"))
    assert store.narrow() == []
    document_id = narrow(store)
    assert [(d.document_id, d.n_passages_done, d.state, d.width) for d in store.narrow()] == [
        (document_id, 0, None, None)
    ]
    progress = store.progress()
    assert (progress.n_narrow, progress.n_tokens_narrow) == (1, 27)
    assert (progress.n_current, progress.n_tokens, progress.n_tokens_embedded) == (2, 54, 54)


def test_an_unfinished_document_keeps_its_width_with_its_state(store: Store) -> None:
    document_id = add(store, "a.pdf", "one", 3)
    assert [pending.width for pending in store.pending()] == [None]
    store.add_vectors(document_id, 0, OLD[:1], 9, b"half", width=0.25)
    assert [(pending.state, pending.width) for pending in store.pending()] == [(b"half", 0.25)]
    assert store.saved_state("a.pdf") == SavedState(document_id, 1, 9, b"half", 0.25)
    assert store.narrow() == []  # it is not complete yet


def test_a_document_without_passages_is_not_narrow(store: Store) -> None:
    add(store, "empty.pdf", "empty", 0)
    assert store.narrow() == []


def test_a_grown_document_inherits_the_width_of_the_state(store: Store) -> None:
    narrow(store, width=0.25)
    saved = store.saved_state("a.pdf")
    assert saved is not None
    assert saved.width == 0.25
    grown = store.add_document(record("a.pdf"), *document("two", 4), saved=saved)
    (pending,) = store.pending()
    assert (pending.document_id, pending.n_passages_done, pending.width) == (grown, 2, 0.25)


def test_passages_are_replaced_one_after_another_while_all_can_be_searched(store: Store) -> None:
    document_id = narrow(store)
    excerpts = [packed(np.array([0, 4]), unit_vectors(2, seed=7), NEW[0])] * 2
    assert store.deepen_vectors(document_id, 0, NEW[:2], 18, b"middle", excerpts)
    np.testing.assert_array_equal(vectors_of_passages(store, document_id), np.concatenate((NEW[:2], OLD[2:])))
    (left,) = store.narrow()
    assert (left.n_passages_done, left.n_tokens_done, left.state, left.width) == (2, 18, b"middle", 1.0)
    assert store.progress().n_tokens_narrow == 9
    check_invariants(store)
    assert found(store, OLD[2]) > 0.6  # its old vector is still there
    assert store.deepen_vectors(document_id, 2, NEW[2:], 27, None)
    assert store.finish_deepening(document_id, WHOLE, 28, SavedState(document_id, 2, 18, b"wide"))
    np.testing.assert_array_equal(vectors_of_passages(store, document_id), NEW)
    whole = vector_of(store, document_id)
    assert whole is not None
    np.testing.assert_array_equal(whole, WHOLE)
    assert store.narrow() == []
    assert (store.progress().n_narrow, store.progress().n_tokens_narrow) == (0, 0)
    assert store.saved_state("a.pdf") == SavedState(document_id, 2, 18, b"wide", 1.0)
    with store.reading() as db:
        assert db.execute("SELECT count(*) FROM excerpt_vectors").get == 2


def test_a_narrow_state_does_not_outlive_the_narrow_vectors(store: Store) -> None:
    document_id = narrow(store)
    store.deepen_vectors(document_id, 0, NEW, 27, None)
    store.finish_deepening(document_id, WHOLE, 28)
    assert store.saved_state("a.pdf") is None


def test_vectors_out_of_order_are_refused(store: Store) -> None:
    document_id = narrow(store)
    with pytest.raises(ValueError, match="passage 0 is next, not 1"):
        store.deepen_vectors(document_id, 1, NEW[1:], 27, b"state")
    with pytest.raises(ValueError, match="4 vectors for 3 passages"):
        store.deepen_vectors(document_id, 0, unit_vectors(4), 36, b"state")
    store.deepen_vectors(document_id, 0, NEW[:2], 18, b"state")
    with pytest.raises(ValueError, match="2 of 3 passages have new vectors"):
        store.finish_deepening(document_id, WHOLE, 28)
    with pytest.raises(ValueError, match="length 1"):
        store.deepen_vectors(document_id, 2, NEW[2:] * 2, 27, b"state")
    np.testing.assert_array_equal(vectors_of_passages(store, document_id), np.concatenate((NEW[:2], OLD[2:])))


def test_only_a_complete_narrow_document_is_read_again(store: Store) -> None:
    whole = add(store, "whole.pdf", "whole")
    embed(store, whole)
    half = add(store, "half.pdf", "half")
    store.add_vectors(half, 0, OLD[:1], 9, b"half", width=0.5)
    for document_id in (whole, half, 999):
        assert not store.deepen_vectors(document_id, 0, NEW, 27, b"state")
        assert not store.finish_deepening(document_id, WHOLE, 28)


def test_a_deleted_document_leaves_no_trace_of_its_second_reading(store: Store) -> None:
    document_id = narrow(store)
    store.deepen_vectors(document_id, 0, NEW[:1], 9, b"state")
    store.forget(["a.pdf"])
    check_invariants(store)
    assert store.narrow() == []


def test_another_model_ends_the_second_reading(store: Store) -> None:
    store.deepen_vectors(narrow(store), 0, NEW[:1], 9, b"state")
    store.use_model("model-b", 8)
    check_invariants(store)
    assert store.narrow() == []
    assert [pending.width for pending in store.pending()] == [None]


def test_a_second_reading_can_start_again(store: Store) -> None:
    document_id = narrow(store)
    store.deepen_vectors(document_id, 0, NEW[:2], 18, b"damaged")
    store.restart_deepening(document_id)
    (left,) = store.narrow()
    assert (left.n_passages_done, left.state) == (0, None)
    assert store.deepen_vectors(document_id, 0, NEW, 27, None)


def test_documents_that_are_read_again_come_first_then_the_shortest(store: Store) -> None:
    long = narrow(store, "long.pdf", "long")
    begun = narrow(store, "begun.pdf", "begun")
    short = add(store, "short.pdf", "short", 1)
    store.add_vectors(short, 0, OLD[:1], 9, None, width=0.5)
    store.finish_embedding(short, OLD[0], 10)
    store.deepen_vectors(begun, 0, NEW[:1], 9, b"state")
    assert [d.document_id for d in store.narrow()] == [begun, short, long]
    assert [d.document_id for d in store.narrow(limit=2)] == [begun, short]
