"""Files come, change, move, are copied and go; the store keeps exactly what they hold."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_helpers import add, check_invariants, document, embed, open_store, record

from engine.errors import StoreError
from engine.store.store import Store
from engine.types import FileState


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "index.db") as opened:
        opened.use_model("model-a", 8)
        yield opened
        check_invariants(opened)


def n_rows(store: Store, table: str) -> int:
    with store.reading() as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").get)


def test_the_catalogue_says_how_each_file_was_when_it_was_indexed(store: Store) -> None:
    store.add_document(record("a.pdf", 123, -5, 2**64 - 1), *document("a"))
    store.add_failure(record("b.pdf"), "encrypted", "give the password")
    known = store.catalogue()
    assert (known["a.pdf"].size, known["a.pdf"].mtime_ns, known["a.pdf"].inode) == (123, -5, 2**64 - 1)
    assert (known["a.pdf"].failed, known["b.pdf"].failed) == (False, True)


def test_a_renamed_file_keeps_its_vectors(store: Store) -> None:
    content_id = add(store, "old.pdf", "a")
    vectors = embed(store, content_id)
    assert store.move("old.pdf", record("new.pdf"))
    assert list(store.catalogue()) == ["new.pdf"]
    assert (store.passage_vectors(content_id) == vectors).all()


def test_a_move_onto_a_known_file_forgets_what_that_one_held(store: Store) -> None:
    content_id = add(store, "a.pdf", "a")
    embed(store, add(store, "b.pdf", "b"))
    assert store.move("a.pdf", record("b.pdf"))
    assert [status.path for status in store.files()] == ["b.pdf"]
    assert n_rows(store, "contents") == 1
    assert store.text(content_id).title == "Title of a"


def test_a_move_onto_itself_changes_nothing(store: Store) -> None:
    add(store, "a.pdf", "a")
    assert store.move("a.pdf", record("a.pdf", size=11))
    assert store.catalogue()["a.pdf"].size == 11


def test_a_move_from_an_unknown_path_says_so_and_changes_nothing(store: Store) -> None:
    add(store, "b.pdf", "b")
    assert not store.move("never.pdf", record("b.pdf"))
    assert list(store.catalogue()) == ["b.pdf"]


def test_a_copy_costs_no_second_content_and_outlives_the_original(store: Store) -> None:
    content_id = add(store, "a.pdf", "a")
    assert store.link(record("copy.pdf"), document("a")[0])
    assert n_rows(store, "contents") == 1
    store.forget(["a.pdf"])
    assert store.text(content_id).title == "Title of a"
    store.forget(["copy.pdf"])
    assert n_rows(store, "contents") == 0


def test_an_unknown_hash_links_nothing(store: Store) -> None:
    assert not store.link(record("a.pdf"), b"unknown")
    assert store.catalogue() == {}


def test_a_forgotten_file_leaves_nothing_in_any_table(store: Store) -> None:
    embed(store, add(store, "a.pdf", "a"))
    half_done = add(store, "b.pdf", "b")
    store.add_vectors(half_done, 0, store.passage_vectors(half_done), 4, b"state")
    store.forget(["a.pdf", "b.pdf", "never.pdf"])
    tables = ("files", "contents", "text_parts", "passages", "embeddings", "passage_vectors", "document_vectors")
    assert [n_rows(store, table) for table in tables] == [0] * len(tables)
    assert n_rows(store, "words_docsize") == 0


def test_a_changed_file_replaces_what_it_held_under_a_new_id(store: Store) -> None:
    first = add(store, "a.pdf", "first")
    embed(store, first)
    second = add(store, "a.pdf", "second")
    assert second > first
    assert n_rows(store, "contents") == 1
    with pytest.raises(StoreError, match="no longer in the index"):
        store.text(first)


def test_content_read_again_replaces_it_for_all_files_that_hold_it(store: Store) -> None:
    content_hash, text, passages = document("a")
    store.add_document(record("a.pdf"), content_hash, text, passages[:1], "only page 1 could be read")
    store.link(record("copy.pdf"), content_hash)
    again = store.add_document(record("a.pdf"), content_hash, text, passages)
    assert [status.reason for status in store.files()] == ["", ""]
    assert store.passages(again) == passages
    assert n_rows(store, "contents") == 1


def test_an_id_is_never_given_twice(store: Store) -> None:
    first = add(store, "a.pdf", "a")
    store.forget(["a.pdf"])
    assert add(store, "a.pdf", "a") > first


def test_a_file_that_fails_loses_its_content_and_keeps_its_reason(store: Store) -> None:
    add(store, "a.pdf", "a")
    store.add_failure(record("a.pdf"), "encrypted", "give the password")
    (status,) = store.files()
    assert (status.state, status.reason, status.hint) == (FileState.FAILED, "encrypted", "give the password")
    assert n_rows(store, "contents") == 0
    store.add_failure(record("a.pdf"), "")
    assert store.files()[0].reason == "Unknown error"


def test_a_touched_file_keeps_its_content(store: Store) -> None:
    content_id = add(store, "a.pdf", "a")
    assert store.touch(record("a.pdf", mtime_ns=99))
    assert store.catalogue()["a.pdf"].mtime_ns == 99
    assert store.passages(content_id)
    assert not store.touch(record("b.pdf"))


names = st.binary(min_size=1, max_size=40).map(lambda name: os.fsdecode(name.replace(b"\0", b"x")))


@settings(deadline=None, max_examples=40)
@given(st.lists(names, min_size=1, max_size=4, unique=True))
def test_any_bytes_may_be_a_name(tmp_path_factory: pytest.TempPathFactory, paths: list[str]) -> None:
    folder = tmp_path_factory.mktemp("names")
    with open_store(folder / "index.db") as store:
        for path in paths:
            store.add_document(record(path), *document(path))
        assert set(store.catalogue()) == set(paths)
        assert {status.path for status in store.files()} == set(paths)
        store.forget(paths)
        check_invariants(store)
        assert store.catalogue() == {}


def test_the_next_retry_is_the_earliest_of_all_files(store: Store) -> None:
    assert store.next_retry() is None
    for name, retry_at in (("a.pdf", 300.0), ("b.pdf", None), ("c.pdf", 200.5)):
        store.add_failure(record(name), "a drive that fails", "", n_failures=1, retry_at=retry_at)
    assert store.next_retry() == 200.5
