"""An index goes to a store and comes back whole, changes are published, and readers see one publication at a time."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longsearch.engine.errors import LongsearchError, NoIndexError, StoreError
from longsearch.engine.index.lance import address, snapshot
from longsearch.engine.index.lance.fetching import columns_of_all, fetch
from longsearch.engine.index.lance.publishing import publish
from longsearch.engine.index.lance.rows import LARGE, SMALL, sums
from longsearch.engine.index.lance.tables import Tables, sums_of
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.store import documents
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.engine.lance.lance_helpers import add_invented, assert_same_hits, invented, published
from tests.engine.store.store_helpers import check_invariants, document, record


def _sums(store: Store) -> dict[str, tuple[int, str]]:
    with store.reading() as db:
        return {name: (one.n, one.hash) for name, one in sums(db).items()}


def _sums_there(uri: str) -> dict[str, tuple[int, str]]:
    tables = Tables(uri)
    at = tables.newest()
    return {name: (one.n, one.hash) for name, one in sums_of(tables, at, columns_of_all(at.dim)).items()}


def _titles(pointer: Path) -> set[str]:
    with open_index(pointer) as index:
        return {documents.outline(index.db, int(id_)).title for id_ in documents.all_ids(index.db)}


def test_to_look_at_a_file_again_publishes_nothing(few: Store, tmp_path: Path) -> None:
    first = publish(few, str(tmp_path / "store"))
    (stamp, *_) = (known.stamp for known in few.catalogue().values())
    few.note_times([replace(stamp, ctime_ns=stamp.ctime_ns + 1)])
    assert publish(few, str(tmp_path / "store")) == first
    few.note_times([replace(stamp, mtime_ns=stamp.mtime_ns + 1)])
    assert publish(few, str(tmp_path / "store")).number == first.number + 1


def test_an_index_comes_back_with_the_same_rows(few: Store, tmp_path: Path) -> None:
    few.add_failure(record("broken.pdf"), "it is damaged", "replace it")
    waiting = few.add_document(record("new.md"), *document("new"))
    published(few, tmp_path)
    before = _sums(few)
    assert before == _sums_there(str(tmp_path / "store"))
    assert set(before) == {*SMALL, *LARGE}
    assert before["passages"][0] > 10
    fetch(str(tmp_path / "store"), tmp_path / "back.sqlite")
    with Store.open(tmp_path / "back.sqlite") as back:
        assert _sums(back) == before
        assert [one.document_id for one in back.pending()] == [waiting]
        assert back.add_document(record("next.md"), *document("next")) == waiting + 1
        check_invariants(back)
    few.close()
    with open_index(tmp_path / "back.sqlite") as index:
        again = {name: (one.n, one.hash) for name, one in sums(index.db).items()}
    assert again["contents"] != before["contents"]


def test_words_are_found_after_the_way_back(few: Store, tmp_path: Path) -> None:
    pointer = published(few, tmp_path)
    fetch(str(tmp_path / "store"), tmp_path / "back.sqlite")
    for mode in SearchMode:
        assert_same_hits(tmp_path / "back.sqlite", pointer, parse('the "hive" Morgen'), mode, seed=1)


def test_changes_are_published_document_by_document(few: Store, tmp_path: Path) -> None:
    pointer = published(few, tmp_path)
    add_invented(few, 20)
    few.forget(["papers/file 0.md"])
    few.move([("notes/old/file 1.pdf", record("notes/renamed.pdf"))])
    with few.reading() as db:
        narrow = documents.find(db, b"%032d" % 2)
    assert narrow is not None
    few.restart_embedding(narrow)
    published(few, tmp_path, base=1)
    assert _sums(few) == _sums_there(str(tmp_path / "store"))
    assert "renamed" in _titles(pointer)
    for mode in SearchMode:
        for text in ("the cold morning", "renamed", "Königin"):
            assert_same_hits(tmp_path / "index.sqlite", pointer, parse(text), mode, seed=3)


def test_nothing_is_written_when_nothing_has_changed(few: Store, tmp_path: Path) -> None:
    published(few, tmp_path)
    again = publish(few, str(tmp_path / "store"), base=1)
    assert again.number == 1
    few.set_activity("looking through the folder")
    assert publish(few, str(tmp_path / "store"), base=1).number == 1


def test_another_model_replaces_all_vectors(few: Store, tmp_path: Path) -> None:
    pointer = published(few, tmp_path)
    few.use_model("model-b", 4)
    published(few, tmp_path, base=1)
    with open_index(pointer) as session:
        assert session.fingerprint == "model-b"
    assert _sums(few) == _sums_there(str(tmp_path / "store"))


def test_an_empty_index_without_a_model_can_be_published(tmp_path: Path) -> None:
    with Store.open(tmp_path / "index.sqlite", root=tmp_path) as store:
        pointer = published(store, tmp_path)
    with open_index(pointer) as session:
        assert session.files() == []
        assert session.fingerprint == ""


def test_a_writer_that_dies_leaves_the_old_publication(
    few: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointer = published(few, tmp_path)
    before = _titles(pointer)
    add_invented(few, 30)

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Tables, "publish", die)
        publish(few, str(tmp_path / "store"), base=1)
    snapshot.forget(str(tmp_path / "store"))
    assert _titles(pointer) == before
    published(few, tmp_path, base=1)
    assert _sums(few) == _sums_there(str(tmp_path / "store"))


def test_readers_see_whole_publications_while_another_thread_writes(few: Store, tmp_path: Path) -> None:
    pointer = published(few, tmp_path)

    def read(_: int) -> tuple[int, int]:
        snapshot.forget(str(tmp_path / "store"))
        with open_index(pointer) as index:
            n = documents.count(index.db)
            return n, len({index.text(int(id_)).text for id_ in documents.all_ids(index.db)})

    with ThreadPoolExecutor(3) as readers:
        found = [readers.submit(read, number) for number in range(9)]
        for number in range(40, 42):
            add_invented(few, number)
            publish(few, str(tmp_path / "store"), base=number - 39)
        seen = [one.result() for one in found]
    assert all(n == n_texts for n, n_texts in seen)
    assert {n for n, _ in seen} <= {6, 7, 8}


def test_a_reader_keeps_the_publication_that_it_opened(few: Store, tmp_path: Path) -> None:
    pointer = published(few, tmp_path)
    with open_index(pointer) as index:
        few.forget(["papers/file 0.md"])
        published(few, tmp_path, base=1)
        assert index.text(1).text
        assert documents.count(index.db) == 6
    with open_index(pointer) as index:
        assert documents.count(index.db) == 5


def test_two_writers_do_not_undo_each_other(few: Store, tmp_path: Path) -> None:
    published(few, tmp_path)
    add_invented(few, 50)
    with pytest.raises(StoreError, match="Another machine has written"):
        publish(few, str(tmp_path / "store"), base=0)


def test_a_missing_store_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(NoIndexError, match="There is no store at lance:"):
        snapshot.newest(str(tmp_path / "nowhere"))


def test_a_broken_store_says_so(few: Store, tmp_path: Path) -> None:
    published(few, tmp_path)
    for file in (tmp_path / "store" / "publications.lance").rglob("*"):
        if file.is_file():
            file.write_bytes(b"not a table")
    snapshot.forget(str(tmp_path / "store"))
    with pytest.raises(StoreError, match="cannot be read or written"):
        snapshot.newest(str(tmp_path / "store"))


def test_a_store_of_another_format_is_refused(few: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published(few, tmp_path)
    monkeypatch.setattr("longsearch.engine.index.lance.tables.FORMAT", 2)
    with pytest.raises(StoreError, match="another format"):
        Tables(str(tmp_path / "store")).last()


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with pytest.raises(LongsearchError) as caught:
        address.connected(str(tmp_path))
    assert "pip install 'longsearch[lance]'" in caught.value.hint
    assert "from a clone: pip install -c constraints.txt '.[lance]'" in caught.value.hint


@pytest.mark.parametrize("text", ["", "lance:", "/mnt/share"])
def test_an_address_that_names_no_store_is_refused(text: str) -> None:
    with pytest.raises(LongsearchError, match="names no store"):
        address.uri_of(text)


def test_an_object_store_is_named_as_it_is_given() -> None:
    assert address.uri_of("lance:s3://bucket/papers?x=1") == "s3://bucket/papers?x=1"
    assert address.uri_of("lance:/mnt/share/../papers").startswith("/mnt")


def test_a_new_file_is_not_written_over_an_index(tmp_path: Path) -> None:
    with invented(tmp_path / "index.sqlite", 1) as store:
        published(store, tmp_path)
    with pytest.raises(StoreError, match="There is an index"):
        fetch(str(tmp_path / "store"), tmp_path / "index.sqlite")


def test_the_process_that_publishes_reads_what_it_published_at_once(few: Store, tmp_path: Path) -> None:
    pointer = published(few, tmp_path)
    assert "renamed" not in _titles(pointer)
    few.move([("notes/old/file 1.pdf", record("notes/renamed.pdf"))])
    publish(few, str(tmp_path / "store"), base=1)
    assert "renamed" in _titles(pointer)
