"""Metadata in the index: values with their source, a date for every document, and no new vector because of them."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.index.opening import open_index
from longsearch.engine.store import metadata
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import MetadataValue
from tests.engine.store.released import FIXTURES, unpack
from tests.engine.store.store_helpers import (
    add,
    check_invariants,
    document,
    embed,
    open_store,
    record,
    search,
    vectors_of_passages,
)

MTIME_NS = 1_600_000_000 * 10**9  # 13 September 2020


def add_described(store: Store, path: str, seed: str, *values: tuple[str, str, str]) -> int:
    content_hash, text, passages = document(seed)
    described = replace(text, metadata=tuple(MetadataValue(*value) for value in values))
    return store.add_document(FileStamp(path, 10, MTIME_NS, 1), content_hash, described, passages)


def described(store: Store, document_id: int) -> list[tuple[str, str, str]]:
    with store.reading() as db:
        values = metadata.of_documents(db, [document_id]).get(document_id, ())
    return [(value.field, value.value, value.source) for value in values]


def test_values_come_back_with_their_source_and_go_with_their_document(store: Store) -> None:
    own = (
        ("title", "Title of a", "heading"),
        ("author", "Ann Lee", "XMP"),
        ("tag", "steel", "XMP"),
        ("date", "2004", "XMP"),
    )
    document_id = add_described(store, "a.pdf", "a", *own)
    assert described(store, document_id) == [own[0], own[1], own[3], own[2]]
    check_invariants(store)
    store.forget(["a.pdf"])
    assert described(store, document_id) == []
    check_invariants(store)


@pytest.mark.parametrize(
    ("path", "own", "date"),
    [
        ("2019/a.pdf", [("date", "2004-06", "XMP")], ("date", "2004-06", "XMP")),
        ("2019/a.pdf", [("created", "2004-06-12", "PDF info")], ("date", "2019", "path")),
        ("a.pdf", [("created", "2004-06-12", "PDF info")], ("date", "2004-06-12", "PDF info")),
        ("a.pdf", [], ("date", "2020-09-13", "file time")),
    ],
)
def test_a_date_comes_from_the_document_else_the_path_else_its_creation_else_the_file(
    store: Store, path: str, own: list[tuple[str, str, str]], date: tuple[str, str, str]
) -> None:
    document_id = add_described(store, path, "a", *own)
    assert [value for value in described(store, document_id) if value[0] == "date"] == [date]


def test_a_file_without_a_plausible_time_gives_no_date(store: Store) -> None:
    for mtime_ns in (0, 3_600 * 10**9, 2**62):
        document_id = store.add_document(FileStamp(f"{mtime_ns}.pdf", 1, mtime_ns, 1), *document(str(mtime_ns)))
        assert all(field != "date" for field, _, _ in described(store, document_id))


def test_date_and_title_follow_the_name_of_a_file(store: Store) -> None:
    document_id = add_described(store, "2019 walk.md", "")
    assert described(store, document_id) == [("title", "2019 walk", "file name"), ("date", "2019", "path")]
    store.move([("2019 walk.md", FileStamp("run.md", 10, MTIME_NS, 1))])
    assert described(store, document_id) == [("title", "run", "file name"), ("date", "2020-09-13", "file time")]


def test_another_title_or_other_metadata_cost_no_vector(store: Store) -> None:
    document_id = add_described(store, "a.pdf", "a", ("author", "Ann Lee", "XMP"))
    vectors = embed(store, document_id)
    _, text, passages = document("a")
    better = replace(text, title="A better title", metadata=(MetadataValue("author", "Bo Li", "XMP"),))
    assert store.add_document(record("a.pdf"), b"other bytes", better, passages) == document_id
    store.describe(document_id, "The best title", [MetadataValue("author", "Cy Young", "XMP")])
    assert store.text(document_id).title == "The best title"
    assert ("author", "Cy Young", "XMP") in described(store, document_id)
    assert ("author", "Ann Lee", "XMP") not in described(store, document_id)
    assert (vectors_of_passages(store, document_id) == vectors).all()
    assert [hit.title for hit in search(store, "best").hits] == ["The best title"]
    assert search(store, "better").hits == ()
    check_invariants(store)


def test_a_title_that_is_no_longer_there_gives_way_to_the_name(store: Store) -> None:
    document_id = add(store, "field notes.pdf", "a")
    _, text, passages = document("a")
    assert store.add_document(record("field notes.pdf"), b"x", replace(text, title=""), passages) == document_id
    assert store.text(document_id).title == "field notes"
    check_invariants(store)


def test_a_released_index_has_its_documents_described_without_reading_them_for_meaning_again(tmp_path: Path) -> None:
    unpack(FIXTURES / "schema-6.sqlite.xz", tmp_path / "index.db")
    with open_store(tmp_path / "index.db") as store:
        waiting = store.undescribed()
        assert [path for _, path in waiting] == ["complete.pdf", "half \udcff.pdf", "partial.pdf", "waiting.md"]
        before = store.progress()
        for document_id, _ in waiting:
            store.describe(document_id, "", [MetadataValue("author", "Ann Lee", "XMP")])
        assert store.undescribed() == []
        assert store.progress() == before
        assert store.text(waiting[0][0]).title == "Title of complete"
        check_invariants(store)


def test_fields_and_values_are_listed_with_their_numbers_of_documents(store: Store) -> None:
    for number, tags in enumerate((["steel", "bridges"], ["Steel"], ["steel work"])):
        add_described(store, f"201{number}.md", str(number), ("title", "T", "x"), *(("tag", tag, "x") for tag in tags))
    with open_index(store.path) as index:
        assert index.fields == {"title", "tag", "date"}
    with store.reading() as db:
        assert metadata.values_with_counts(db, "tag", "", 9) == [
            ("Steel", 1), ("bridges", 1), ("steel", 1), ("steel work", 1)
        ]  # fmt: skip
        assert metadata.values_with_counts(db, "tag", "wor", 9) == [("steel work", 1)]
        assert metadata.values_with_counts(db, "date", "20", 9) == [("2020", 3)]
        assert metadata.values_with_counts(db, "title", "", 9) == [("T", 3)]
        assert len(metadata.with_words(db, "tag", " steel ")) == 3
        assert len(metadata.with_words(db, "tag", " wo")) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Geoffrey E. Hinton", " geoffrey e hinton "),
        ("Müller-Lüdenscheidt", " muller ludenscheidt "),
        ("山田太郎", " 山 田 太 郎 "),
        ("C++", " c "),
        ("+++", " +++ "),
        ("Straße", " strasse "),
    ],
)
def test_values_are_compared_word_by_word_without_case_and_accents(text: str, words: str) -> None:
    assert metadata.as_words(text) == words


@given(st.text())
def test_any_text_has_a_form_to_compare(text: str) -> None:
    words = metadata.as_words(text)
    assert words.startswith(" ") and words.endswith(" ")
    assert metadata.as_words(words) == words or not any(map(str.isalnum, text))
