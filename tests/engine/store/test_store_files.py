"""Files come, change, move, are copied and go; the store keeps exactly what they hold."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_helpers import add, check_invariants, document, embed, open_store, record, vectors_of_passages

from engine.errors import StoreError
from engine.search.query import parse
from engine.search.searcher import search
from engine.store import files
from engine.store.documents import title_of
from engine.store.store import Store
from engine.types import FileStatus, SearchMode


def n_rows(store: Store, table: str) -> int:
    with store.reading() as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").get)


def test_the_catalogue_says_how_each_file_was_when_it_was_indexed(store: Store) -> None:
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


def test_a_move_onto_a_known_file_forgets_what_that_one_held(store: Store) -> None:
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


def test_a_move_from_an_unknown_path_says_so_and_changes_nothing(store: Store) -> None:
    add(store, "b.pdf", "b")
    assert store.move([("never.pdf", record("b.pdf"))]) == 0
    assert list(store.catalogue()) == ["b.pdf"]


def test_files_that_change_names_with_each_other_keep_their_vectors(store: Store) -> None:
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


def test_of_many_moves_one_from_an_unknown_path_leaves_what_is_at_its_end(store: Store) -> None:
    add(store, "a.pdf", "a")
    add(store, "b.pdf", "b")
    assert store.move([("never.pdf", record("b.pdf")), ("a.pdf", record("c.pdf"))]) == 1
    assert list(store.catalogue()) == ["b.pdf", "c.pdf"]


def test_folders_with_drives_are_remembered_as_they_were_told_last(store: Store) -> None:
    assert store.drives() == frozenset()
    for folders in ({"usb", "a\udcff/b"}, {"usb"}, set[str]()):
        store.remember_drives(folders)
        assert store.drives() == folders


def found_by(store: Store, words: str) -> list[str]:
    return [hit.title for hit in search(store, parse(words), SearchMode.WORDS).hits]


def test_a_document_without_a_title_is_called_and_found_after_its_file_whatever_that_is_called(store: Store) -> None:
    document_id = add(store, "field notes.pdf", "")
    assert store.text(document_id).title == "field notes"
    assert found_by(store, "field") == ["field notes"]
    store.move([("field notes.pdf", record("sub/harvest.v2.pdf"))])
    assert store.text(document_id).title == "harvest.v2"
    assert (found_by(store, "field"), found_by(store, "harvest")) == ([], ["harvest.v2"])
    assert found_by(store, "apples") == ["harvest.v2"]


def test_of_files_with_one_document_without_a_title_it_is_called_after_the_first(store: Store) -> None:
    document_id = add(store, "m.pdf", "")
    titles = []
    for change in (
        lambda: store.link(record("z.pdf"), document("")[0]),
        lambda: store.link(record("a.pdf"), document("")[0]),
        lambda: store.forget(["a.pdf"]),
        lambda: add(store, "m.pdf", "other"),
        lambda: add(store, "k.pdf", "", 4),
    ):
        change()
        with store.reading() as db:
            titles += [title for (title,) in db.execute("SELECT title FROM contents WHERE title_is_name")]
        check_invariants(store)
    assert titles == ["m", "a", "m", "z", "k"]
    assert store.text(document_id + 2).title == "k"


def test_a_title_of_its_own_stays_whatever_the_file_is_called(store: Store) -> None:
    document_id = add(store, "Title of a.pdf", "a")
    store.move([("Title of a.pdf", record("b.pdf"))])
    assert store.text(document_id).title == "Title of a"


def test_what_is_read_again_and_still_without_a_title_keeps_its_vectors(store: Store) -> None:
    document_id = add(store, "a.pdf", "")
    vectors = embed(store, document_id)
    assert store.add_document(record("b.pdf"), *document("")) == document_id
    assert (vectors_of_passages(store, document_id) == vectors).all()


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("a/b/Two  words.tar.gz", "Two words.tar"),
        ("a.b/none", "none"),
        ("\x1b[31mred\udcff.txt", "\ufffd[31mred\ufffd"),
        ("u\u0308ber.md", "\u00fcber"),
        ("  .txt", "untitled"),
    ],
)
def test_a_name_is_a_title_on_one_line_that_can_be_shown(path: str, title: str) -> None:
    assert title_of(path) == title


def test_a_copy_costs_no_second_content_and_outlives_the_original(store: Store) -> None:
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


def test_a_forgotten_file_leaves_nothing_in_any_table(store: Store) -> None:
    embed(store, add(store, "a.pdf", "a"))
    half_done = add(store, "b.pdf", "b")
    store.add_vectors(half_done, 0, vectors_of_passages(store, half_done), 4, b"state")
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
    assert (status.status, status.reason, status.hint) == (FileStatus.FAILED, "encrypted", "give the password")
    assert n_rows(store, "contents") == 0
    store.add_failure(record("a.pdf"), "")
    assert store.files()[0].reason == "Unknown error"


def test_a_touched_file_keeps_its_content(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    with store.changing() as db:
        assert files.touch(db, record("a.pdf", mtime_ns=99))
        assert not files.touch(db, record("b.pdf"))
    assert store.catalogue()["a.pdf"].stamp.mtime_ns == 99
    assert store.passages(document_id)


names = st.binary(min_size=1, max_size=40).map(lambda name: os.fsdecode(name.replace(b"\0", b"x")))


@settings(max_examples=40)
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
    assert store.next_retry(after=200.5) == 300.0


def retry_times(store: Store) -> dict[str, float | None]:
    return {path: file.retry_at for path, file in store.catalogue().items()}


def test_what_was_not_read_whole_is_read_again_on_request_and_holds_what_it_holds_until_then(store: Store) -> None:
    whole, partial = add(store, "whole.pdf", "a"), store.add_document(record("partial.pdf"), *document("b"), "page 2")
    embed(store, whole)
    embed(store, partial)
    store.add_document(record("waiting.pdf"), *document("c"), "page 7 (scanned?)")
    store.add_failure(record("failed.pdf"), "scanned?", "")
    before = store.files()
    assert store.read_again(lambda reason: "scanned?" in reason) == 2
    assert retry_times(store) == {"failed.pdf": 0, "partial.pdf": None, "waiting.pdf": 0, "whole.pdf": None}
    assert store.read_again() == 3
    assert retry_times(store) == {"failed.pdf": 0, "partial.pdf": 0, "waiting.pdf": 0, "whole.pdf": None}
    assert [replace(file, retry_at=None) for file in store.files()] == before


def test_to_read_again_may_fail_and_be_put_off(store: Store) -> None:
    embed(store, store.add_document(record("a.pdf"), *document("a"), "page 2"))
    store.put_off(record("a.pdf"), 1, 300.0)
    (file,) = store.files()
    assert (file.status, file.reason, file.n_failures, file.retry_at) == (FileStatus.PARTIAL, "page 2", 1, 300.0)


def test_bytes_that_say_what_they_said_before_keep_their_vectors(store: Store) -> None:
    partial = store.add_document(record("a.pdf"), *document("a"), "page 2", "try a repaired copy")
    vectors = embed(store, partial)
    store.read_again()
    assert store.add_document(record("a.pdf"), *document("a"), "page 2: OCR failed", "") == partial
    np.testing.assert_array_equal(vectors_of_passages(store, partial), vectors)
    (file,) = store.files()
    assert (file.status, file.reason, file.hint) == (FileStatus.PARTIAL, "page 2: OCR failed", "")
    assert retry_times(store) == {"a.pdf": None}
    store.add_document(record("a.pdf"), *document("a"))
    assert store.files()[0].status is FileStatus.CURRENT


def test_bytes_that_say_more_than_before_take_the_place_of_what_they_said_in_every_copy(store: Store) -> None:
    content_hash, text, passages = document("a")
    partial = store.add_document(record("a.pdf"), content_hash, *document("a", 2)[1:], "page 2")
    store.link(record("copy.pdf"), content_hash)
    embed(store, partial)
    document_id = store.add_document(record("a.pdf"), content_hash, text, passages)
    assert document_id != partial
    assert [pending.document_id for pending in store.pending()] == [document_id]
    assert {file.status for file in store.files()} == {FileStatus.WAITING}
