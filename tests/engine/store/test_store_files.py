"""Files come, change, move, are copied and go; the store keeps exactly the documents that they hold."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longsearch.engine.errors import StoreError
from longsearch.engine.store import files
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from tests.engine.store.store_helpers import (
    add,
    check_invariants,
    document,
    embed,
    open_store,
    record,
    vectors_of_passages,
)


def n_rows(store: Store, table: str) -> int:
    with store.reading() as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").get)


def test_the_catalogue_has_the_stamp_of_each_file_when_it_was_indexed(store: Store) -> None:
    store.add_document(record("a.pdf", 123, -5, 2**64 - 1), *document("a"))
    store.add_failure(record("b.pdf"), "encrypted", "give the password")
    known = store.catalogue()
    assert known["a.pdf"].stamp == record("a.pdf", 123, -5, 2**64 - 1)
    assert (known["a.pdf"].failed, known["b.pdf"].failed) == (False, True)


def test_a_renamed_file_keeps_its_vectors(store: Store) -> None:
    document_id = add(store, "old.pdf", "a")
    vectors = embed(store, document_id)
    assert store.move([("old.pdf", record("new.pdf"))]) == 1
    assert list(store.catalogue()) == ["new.pdf"]
    assert (vectors_of_passages(store, document_id) == vectors).all()


def test_a_move_onto_a_known_file_replaces_its_document(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    embed(store, add(store, "b.pdf", "b"))
    assert store.move([("a.pdf", record("b.pdf"))]) == 1
    assert [status.path for status in store.files()] == ["b.pdf"]
    assert n_rows(store, "contents") == 1
    assert store.text(document_id).title == "Title of a"


def test_a_move_onto_itself_changes_nothing(store: Store) -> None:
    add(store, "a.pdf", "a")
    assert store.move([("a.pdf", record("a.pdf", size=11))]) == 1
    assert store.catalogue()["a.pdf"].stamp.size == 11


def test_a_move_from_an_unknown_path_is_not_counted_and_changes_nothing(store: Store) -> None:
    add(store, "b.pdf", "b")
    assert store.move([("never.pdf", record("b.pdf"))]) == 0
    assert list(store.catalogue()) == ["b.pdf"]


def test_files_that_swap_names_keep_their_vectors(store: Store) -> None:
    ids = {name: add(store, f"{name}.pdf", name) for name in "abc"}
    vectors = {name: embed(store, document_id, seed) for seed, (name, document_id) in enumerate(ids.items())}
    assert store.move([("a.pdf", record("b.pdf", 11)), ("b.pdf", record("c.pdf", 12)), ("c.pdf", record("a.pdf"))]) == 3
    sizes = {path: known.stamp.size for path, known in store.catalogue().items()}
    assert sizes == {"a.pdf": 10, "b.pdf": 11, "c.pdf": 12}
    with store.reading() as db:
        assert dict(db.execute("SELECT path, content_id FROM files")) == {
            b"a.pdf": ids["c"],
            b"b.pdf": ids["a"],
            b"c.pdf": ids["b"],
        }
    assert all((vectors_of_passages(store, document_id) == vectors[name]).all() for name, document_id in ids.items())


def test_a_move_from_an_unknown_path_keeps_the_file_at_its_target(store: Store) -> None:
    add(store, "a.pdf", "a")
    add(store, "b.pdf", "b")
    assert store.move([("never.pdf", record("b.pdf")), ("a.pdf", record("c.pdf"))]) == 1
    assert list(store.catalogue()) == ["b.pdf", "c.pdf"]


def test_the_last_recorded_drives_are_remembered(store: Store) -> None:
    assert store.drives() == frozenset()
    for folders in ({"usb", "a\udcff/b"}, {"usb"}, set[str]()):
        store.remember_drives(folders)
        assert store.drives() == folders


def test_a_copy_adds_no_second_document_and_outlives_the_original(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    assert store.link(record("copy.pdf"), document("a")[0])
    assert n_rows(store, "contents") == 1
    store.forget(["a.pdf"])
    assert store.text(document_id).title == "Title of a"
    store.forget(["copy.pdf"])
    assert n_rows(store, "contents") == 0


def test_an_unknown_hash_links_nothing(store: Store) -> None:
    assert not store.link(record("a.pdf"), b"unknown")
    assert store.catalogue() == {}


def test_a_forgotten_file_leaves_no_row_in_any_table(store: Store) -> None:
    embed(store, add(store, "a.pdf", "a"))
    half_done = add(store, "b.pdf", "b")
    store.add_vectors(half_done, 0, vectors_of_passages(store, half_done), 4, b"state")
    store.forget(["a.pdf", "b.pdf", "never.pdf"])
    tables = ("files", "contents", "text_parts", "passages", "embeddings", "passage_vectors", "document_vectors")
    assert [n_rows(store, table) for table in tables] == [0] * len(tables)
    assert n_rows(store, "words_docsize") == 0


def test_a_changed_file_gets_a_new_document_with_a_new_id(store: Store) -> None:
    first = add(store, "a.pdf", "first")
    embed(store, first)
    second = add(store, "a.pdf", "second")
    assert second > first
    assert n_rows(store, "contents") == 1
    with pytest.raises(StoreError, match="no longer in the index"):
        store.text(first)


def test_a_document_that_is_read_again_is_replaced_in_all_files_that_hold_it(store: Store) -> None:
    content_hash, text, passages = document("a")
    store.add_document(record("a.pdf"), content_hash, text, passages[:1], "only page 1 could be read")
    store.link(record("copy.pdf"), content_hash)
    again = store.add_document(record("a.pdf"), content_hash, text, passages)
    assert [status.reason for status in store.files()] == ["", ""]
    assert store.passages(again) == passages
    assert n_rows(store, "contents") == 1


def test_a_document_id_is_never_reused(store: Store) -> None:
    first = add(store, "a.pdf", "a")
    store.forget(["a.pdf"])
    assert add(store, "a.pdf", "a") > first


def test_a_failed_file_loses_its_document_and_keeps_the_reason(store: Store) -> None:
    add(store, "a.pdf", "a")
    store.add_failure(record("a.pdf"), "encrypted", "give the password")
    (status,) = store.files()
    assert (status.status, status.reason, status.hint) == (FileStatus.FAILED, "encrypted", "give the password")
    assert n_rows(store, "contents") == 0
    store.add_failure(record("a.pdf"), "")
    assert store.files()[0].reason == "Unknown error"


def test_a_touched_file_keeps_its_document(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    with store.changing() as db:
        assert files.touch(db, record("a.pdf", mtime_ns=99))
        assert not files.touch(db, record("b.pdf"))
    assert store.catalogue()["a.pdf"].stamp.mtime_ns == 99
    assert store.passages(document_id)


names = st.binary(min_size=1, max_size=40).map(lambda name: os.fsdecode(name.replace(b"\0", b"x")))


@settings(max_examples=40)
@given(st.lists(names, min_size=1, max_size=4, unique=True))
def test_any_bytes_can_be_a_file_name(tmp_path_factory: pytest.TempPathFactory, paths: list[str]) -> None:
    folder = tmp_path_factory.mktemp("names")
    with open_store(folder / "index.db") as store:
        for path in paths:
            store.add_document(record(path), *document(path))
        assert set(store.catalogue()) == set(paths)
        assert {status.path for status in store.files()} == set(paths)
        store.forget(paths)
        check_invariants(store)
        assert store.catalogue() == {}
