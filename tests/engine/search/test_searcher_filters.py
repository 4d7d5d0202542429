"""Phrases, exclusions, folders and file filters limit every mode of a search."""

import os

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.retrieval import allowed_documents
from longsearch.engine.store import documents, files, languages
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.segments import filter_cache
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import MetadataValue
from longsearch.engine.types.results import SearchMode
from tests.engine.search.search_helpers import add, names, search, toward

HYBRID, MEANING, WORDS = SearchMode.HYBRID, SearchMode.MEANING, SearchMode.WORDS


@pytest.mark.parametrize("mode", list(SearchMode))
def test_phrases_and_exclusions_filter_every_mode(store: Store, mode: SearchMode) -> None:
    add(store, "phrase.pdf", ["a state space model"], [toward(1, 2)])
    add(store, "excluded.pdf", ["a state space model of transformers"], [toward(1, 1)])
    add(store, "apart.pdf", ["the state of a space"], [toward(1)])
    assert names(search(store, '"state space" -transformer', mode, toward(1))) == ["phrase.pdf"]
    assert set(names(search(store, "space -transformer", mode, toward(1)))) == {"apart.pdf", "phrase.pdf"}
    assert names(search(store, '"space state"', mode, toward(1))) == []


@pytest.mark.parametrize("mode", list(SearchMode))
def test_in_and_type_filter_files_in_every_mode(store: Store, mode: SearchMode) -> None:
    for path in ("law/a.pdf", "law/b.md", "law/old/c.pdf", "essays/d.pdf"):
        add(store, path, [f"Apples of {path}."], [toward(1)])

    def found(query: str, under: str = "") -> set[str]:
        return set(names(search(store, f"apples {query}", mode, toward(1), under=under)))

    assert found("in:law") == {"law/a.pdf", "law/b.md", "law/old/c.pdf"}
    assert found("in:law type:pdf -in:old") == {"law/a.pdf"}
    assert found("-type:pdf") == {"law/b.md"}
    assert found("type:pdf", under="law") == {"law/a.pdf", "law/old/c.pdf"}
    assert found("in:ess", under="law") == set()


def test_the_note_says_that_no_file_matches_the_filter(store: Store) -> None:
    add(store, "law/a.pdf", ["Apples."], [toward(1)])
    found = search(store, 'apples in:"new laws" type:epub', HYBRID, toward(1))
    assert found.hits == ()
    assert found.note == 'No file matches in:"new laws" type:epub'


@pytest.mark.parametrize("mode", list(SearchMode))
@pytest.mark.parametrize("under", ["law", "law/", "/law"])
def test_a_folder_filters_every_mode(store: Store, mode: SearchMode, under: str) -> None:
    for path in ("law/a.pdf", "law/deep/b.pdf", "lawful.pdf", "law", "other/law/c.pdf"):
        add(store, path, [f"apples of {path}"], [toward(1, len(path))])
    assert set(names(search(store, "apples", mode, toward(1), under=under))) == {"law/a.pdf", "law/deep/b.pdf"}
    assert len(search(store, "apples", mode, toward(1), under="").hits) == 5
    assert search(store, "apples", mode, toward(1), under="nowhere").hits == ()


def test_a_folder_is_filtered_before_ranking(store: Store) -> None:
    for number in range(300):
        add(store, f"many/{number}.pdf", [f"apples apples {number}"], [toward(1)])
    add(store, "few/a.pdf", ["one of the apples among many other words"], [toward(1, 5)])
    for mode in SearchMode:
        assert names(search(store, "apples", mode, toward(1), under="few")) == ["few/a.pdf"]


def test_copies_are_one_hit_with_the_best_path_that_the_filter_admits(store: Store) -> None:
    add(store, "b/original.pdf", ["apples"], [toward(1)])
    content_hash = content_hash_of(store)
    assert store.link(FileStamp("a/copy.pdf", 1, 1, 1), content_hash)
    (hit,) = search(store, "apples", WORDS).hits
    assert (hit.path, hit.also_at) == ("/papers/b/original.pdf", ("/papers/a/copy.pdf",))
    assert names(search(store, "apples in:copy", WORDS)) == ["a/copy.pdf"]
    assert names(search(store, "apples", WORDS, under="b")) == ["b/original.pdf"]
    assert names(search(store, "apples in:original", WORDS)) == ["b/original.pdf"]


def content_hash_of(store: Store) -> bytes:
    with store.reading() as db:
        return bytes(db.execute("SELECT hash FROM contents").get)


paths = st.lists(
    st.text(st.sampled_from("aB.ü-/ \x01İ\udcff"), min_size=1, max_size=9), min_size=1, max_size=6, unique=True
).map(lambda names: [f"law/{name}.md" if number % 2 else name for number, name in enumerate(names)])
texts = st.lists(st.sampled_from(["a", "b", "md", "ü", ".", "law", "a.md", "/", "ss", "i"]), max_size=2)


@settings(max_examples=60, deadline=None)
@given(paths, texts, texts, texts, texts, st.sampled_from(["", "law"]))
def test_sql_admits_the_files_that_the_filter_admits(
    given_paths: list[str], parts: list[str], types: list[str], parts_out: list[str], types_out: list[str], under: str
) -> None:
    db = apsw.Connection(":memory:")
    db.execute("CREATE TABLE files (path BLOB, content_id INTEGER)")
    db.executemany("INSERT INTO files VALUES (?, ?)", ((os.fsencode(path), n) for n, path in enumerate(given_paths)))
    wanted = FileFilter(under, tuple(parts), tuple(types), tuple(parts_out), tuple(types_out))
    found = files.documents_where(db, under, wanted, wanted.admits)
    inside = [n for n, path in enumerate(given_paths) if not under or path.startswith(under + "/")]
    assert found == {n for n in inside if wanted.admits(given_paths[n])}


def test_the_documents_that_a_filter_admits_are_kept_until_files_change(store: Store) -> None:
    wanted = FileFilter(parts=("law",), types_excluded=("md",))

    def kept() -> NDArray[np.int64]:
        with open_index(store.path) as index:
            found = index.documents_where(wanted)
            assert set(found.tolist()) == files.documents_where(index.db, "", wanted, wanted.admits)
            assert index.documents_where(wanted) is found
        return found

    first = add(store, "law/a.pdf", ["Apples."])
    assert kept().tolist() == [first]
    second = add(store, "law/b.pdf", ["Pears."])
    assert kept().tolist() == [first, second]
    store.move([("law/b.pdf", FileStamp("essays/b.pdf", 1, 1, 1))])
    assert kept().tolist() == [first]
    third = add(store, "law/a.pdf", ["Plums."])
    assert kept().tolist() == [third]
    store.forget(["law/a.pdf"])
    before = kept()
    assert before.tolist() == []
    with store.changing() as db:
        files.set_retry(db, "essays/b.pdf", 1, None)
    assert kept() is before


def test_the_number_of_documents_is_kept_until_files_change(store: Store) -> None:
    def counted() -> int:
        with open_index(store.path) as index:
            found = index.n_documents
            assert found == documents.count(index.db)
            assert filter_cache._counted[index.db.filename, index.meta["root"]][1] == found
        return found

    add(store, "law/a.pdf", ["Apples."])
    assert counted() == 1
    add(store, "law/b.pdf", ["Pears."])
    assert counted() == 2
    add(store, "law/b.pdf", ["Plums."])
    add(store, "copy of b.pdf", ["Plums."])
    assert counted() == 2
    store.forget(["law/b.pdf"])
    assert counted() == 2
    store.forget(["copy of b.pdf"])
    assert counted() == 1


def test_few_answers_of_filters_are_kept(store: Store) -> None:
    add(store, "a.pdf", ["Apples."])
    with open_index(store.path) as index:
        for number in range(40):
            assert len(index.documents_where(FileFilter(parts_excluded=(str(number),)))) == 1
    assert len(filter_cache._kept) <= filter_cache._MOST


def test_the_documents_of_a_language_and_a_date_are_kept_until_these_change(store: Store) -> None:
    filter_cache._kept.clear()  # it forgets all when it is full
    first = add(store, "a.md", ["Apples."])
    wanted, dated = FileFilter(languages=("de",)), parse("date:2020..2021 apples").conditions

    def kept() -> tuple[list[int], list[int]]:
        with open_index(store.path) as index:
            answers = [allowed_documents(index, wanted), allowed_documents(index, FileFilter(), dated)]
            again = [allowed_documents(index, wanted), allowed_documents(index, FileFilter(), dated)]
        assert all(one is other for one, other in zip(answers, again, strict=True))
        return tuple([] if own is None else own.tolist() for own in answers)  # type: ignore[return-value]

    with store.changing() as db:
        languages.put(db, first, "en")
    assert kept() == ([], [])
    store.describe(first, "Apples", [MetadataValue("date", "2020-05-01", "front matter")])
    assert kept() == ([], [first])
    second = add(store, "b.md", ["Birnen."])
    with store.changing() as db:
        languages.put(db, second, "de")
    assert kept() == ([second], [first])
