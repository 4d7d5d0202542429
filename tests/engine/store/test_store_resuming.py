"""Saved states, from which a grown document resumes."""

import pytest

from longsearch.engine.store.embedding import resuming
from longsearch.engine.store.records import SavedState
from longsearch.engine.store.store import Store
from tests.engine.store.store_helpers import add, check_invariants, document, record, unit_vectors


def finish(store: Store, path: str, seed: str, state: bytes) -> int:
    document_id = add(store, path, seed, 3)
    store.add_vectors(document_id, 0, unit_vectors(3), 27, None)
    store.finish_embedding(document_id, unit_vectors(1)[0], 28, SavedState(document_id, 2, 18, state))
    return document_id


def test_a_finished_document_has_its_saved_state(store: Store) -> None:
    document_id = finish(store, "a.pdf", "one", b"state")
    assert store.saved_state("a.pdf") == SavedState(document_id, 2, 18, b"state")
    assert store.saved_state("b.pdf") is None
    check_invariants(store)


def test_an_unfinished_document_has_the_state_where_it_stopped(store: Store) -> None:
    document_id = add(store, "a.pdf", "one", 3)
    assert store.saved_state("a.pdf") is None
    store.add_vectors(document_id, 0, unit_vectors(1), 9, b"half")
    assert store.saved_state("a.pdf") == SavedState(document_id, 1, 9, b"half")


def test_saved_states_are_bounded_in_total_size_and_the_newest_are_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resuming, "KEPT_BYTES", 1000)
    for number in range(5):
        finish(store, f"{number}.pdf", f"{number}", bytes(400))
    assert [store.saved_state(f"{number}.pdf") is not None for number in range(5)] == [False, False, False, True, True]
    finish(store, "huge.pdf", "huge", bytes(1001))
    assert store.saved_state("huge.pdf") is None
    with store.reading() as db:
        assert db.execute("SELECT coalesce(sum(length(state)), 0) FROM resume_points").get <= 1000


def test_a_saved_state_is_deleted_with_its_document_and_with_its_model(store: Store) -> None:
    finish(store, "a.pdf", "one", b"state")
    finish(store, "b.pdf", "two", b"state")
    store.forget(["a.pdf"])
    check_invariants(store)
    assert store.saved_state("a.pdf") is None
    store.use_model("another", 8)
    assert store.saved_state("b.pdf") is None


def test_a_saved_state_whose_vectors_are_gone_is_not_resumed(store: Store) -> None:
    finish(store, "a.pdf", "one", b"state")
    saved = store.saved_state("a.pdf")
    store.forget(["a.pdf"])
    resuming_id = store.add_document(record("b.pdf"), *document("two", 3), saved=saved)
    (pending,) = store.pending()
    assert pending.document_id == resuming_id
    assert pending.state is None
    assert pending.n_passages_done == 0
