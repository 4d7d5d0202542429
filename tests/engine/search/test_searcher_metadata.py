"""Filters on metadata narrow a search before the best are taken; lists and orders; completion."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longsearch.engine.errors import QueryError
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search import searcher
from longsearch.engine.search.completion import complete
from longsearch.engine.search.searcher import SearchRequest
from longsearch.engine.store import languages
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import MetadataValue
from longsearch.engine.types.results import SearchMode, SearchResults
from tests.engine.search.search_helpers import add, names, toward
from tests.engine.search.search_helpers import search as plain_search

TODAY = date.today()
PAPERS = {
    "gfs.pdf": ["author=Sanjay Ghemawat", "author=Howard Gobioff", "date=2003", "tag=storage"],
    "mapreduce.pdf": ["author=Jeffrey Dean", "author=Sanjay Ghemawat", "date=2004-12", "tag=big data", "status=read"],
    "raft.pdf": ["author=Diego Ongaro", "date=2014-05-20", "tag=consensus"],
    "notiz.md": ["author=Jörg Müller", f"date={(TODAY - timedelta(3)).isoformat()}", "language=en", "status=draft"],
}
SPOKEN = {"gfs.pdf": "en", "raft.pdf": "en", "notiz.md": "de"}
"""The languages of the texts, which are too short to tell."""


def add_papers(store: Store) -> None:
    for number, (path, values) in enumerate(PAPERS.items(), start=1):
        document_id = add(store, path, [f"apples of {path}"], [toward(1, number)], title=f"Title {path}")
        pairs = (value.split("=") for value in values)
        store.describe(document_id, "", [MetadataValue(field, value, "test") for field, value in pairs])
        with store.changing() as db:
            languages.put(db, document_id, SPOKEN.get(path, ""))


def search(store: Store, text: str, mode: SearchMode = SearchMode.WORDS, k: int = 10) -> SearchResults:
    return plain_search(store, text, mode, None if mode is SearchMode.WORDS else toward(1), k=k)


@pytest.mark.parametrize("mode", list(SearchMode))
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("author:ghemawat", {"gfs.pdf", "mapreduce.pdf"}),
        ("author:ghemawat author:dean", {"mapreduce.pdf"}),
        ('author:"jeffrey dean"', {"mapreduce.pdf"}),
        ("author:ghema", set()),
        ("author:muller", {"notiz.md"}),
        ("-author:ghemawat", {"raft.pdf", "notiz.md"}),
        ("title:raft", {"raft.pdf"}),
        ("tag:data", {"mapreduce.pdf"}),
        ("date:2003..2004", {"gfs.pdf", "mapreduce.pdf"}),
        ("date:2014-05", {"raft.pdf"}),
        ("date:2003-05", set()),
        ("date:..2003", {"gfs.pdf"}),
        ("year:2004", {"mapreduce.pdf"}),
        ("since:30d", {"notiz.md"}),
        ("since:2014", {"raft.pdf", "notiz.md"}),
        ("-since:2014", {"gfs.pdf", "mapreduce.pdf"}),
        ("lang:de lang:en", {"gfs.pdf", "raft.pdf", "notiz.md"}),
        ("lang:German", {"notiz.md"}),
        ("lang:deutsch -lang:en", {"notiz.md"}),
        ("status:draft", {"notiz.md"}),
        ("type:pdf -tag:storage date:2003..", {"mapreduce.pdf", "raft.pdf"}),
    ],
)
def test_each_field_narrows_every_mode(store: Store, mode: SearchMode, filters: str, found: set[str]) -> None:
    add_papers(store)
    assert set(names(search(store, f"apples {filters}", mode))) == found


def test_a_filter_applies_before_the_best_are_taken(store: Store) -> None:
    for number in range(300):
        add(store, f"{number}.pdf", [f"apples apples {number}"], [toward(1)])
    one = add(store, "rare.pdf", ["one of the apples among many other words"], [toward(1, 5)])
    store.describe(one, "", [MetadataValue("author", "Ann Lee", "test")])
    for mode in SearchMode:
        assert names(search(store, "apples author:lee", mode, k=3)) == ["rare.pdf"]


words = st.sampled_from(["apples", "gfs", "raft", '"apples of"', "-raft", "author:ghemawat", "-tag:storage", "tag:big"])
more = st.sampled_from(["date:2003..2010", "lang:en", "-lang:de", "status:read", "type:pdf", "-in:raft", "since:2004"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(st.one_of(words, more), min_size=1, max_size=5), st.sampled_from(list(SearchMode)))
def test_filtering_then_ranking_equals_ranking_then_filtering(
    store: Store, items: Sequence[str], mode: SearchMode
) -> None:
    """A filter changes which documents are found, never their order or their scores."""
    if not list(store.catalogue()):
        add_papers(store)
    is_filter = [":" in item for item in items]
    bare = " ".join(item for item, own in zip(items, is_filter, strict=True) if not own)
    only = " ".join(item for item, own in zip(items, is_filter, strict=True) if own)
    try:
        everything, found = search(store, bare, mode), search(store, " ".join(items), mode)
    except QueryError:
        return
    admitted = set(names(search(store, only, SearchMode.WORDS))) if only else set(names(everything))
    expected = [(hit.path, hit.score) for hit in everything.hits if names(everything)[hit.rank - 1] in admitted]
    assert [(hit.path, hit.score) for hit in found.hits] == expected


def test_filters_without_words_list_documents_newest_first(store: Store) -> None:
    add_papers(store)
    found = search(store, "type:pdf")
    assert names(found) == ["raft.pdf", "mapreduce.pdf", "gfs.pdf"]
    assert [hit.score for hit in found.hits] == [0, 0, 0]
    assert found.hits[0].passages[0].text == "apples of raft.pdf"
    assert names(search(store, "type:pdf -sort:date")) == ["gfs.pdf", "mapreduce.pdf", "raft.pdf"]
    assert names(search(store, "type:pdf sort:name", k=2)) == ["gfs.pdf", "mapreduce.pdf"]
    assert names(search(store, "author:ghemawat", SearchMode.HYBRID)) == ["mapreduce.pdf", "gfs.pdf"]


def test_results_are_sorted_by_date_name_or_score(store: Store) -> None:
    add_papers(store)
    assert names(search(store, "apples sort:date")) == ["notiz.md", "raft.pdf", "mapreduce.pdf", "gfs.pdf"]
    assert names(search(store, "apples sort:name")) == ["gfs.pdf", "mapreduce.pdf", "notiz.md", "raft.pdf"]
    by_score = search(store, "apples raft", SearchMode.HYBRID)
    assert names(search(store, "apples raft sort:score", SearchMode.HYBRID)) == names(by_score)
    assert names(search(store, "apples raft -sort:score", SearchMode.HYBRID)) == names(by_score)[::-1]
    assert [hit.rank for hit in search(store, "apples sort:date").hits] == [1, 2, 3, 4]


def test_a_slip_is_named_and_the_text_is_searched_for_as_it_stands(store: Store) -> None:
    add_papers(store)
    assert search(store, "apples auhtor:dean").note == "no field auhtor: author?"
    assert len(search(store, "apples auhtor:dean").hits) == 4
    assert search(store, "apples date:soon").note.startswith("date: takes 2021")
    assert search(store, "apples statsu:draft").note == "no field statsu: status?"
    assert search(store, "apples plugin:beta").note == "no field plugin: searched as text"
    for text in ("10:30", "http://a.org/x", r"C:\x", "std::x", "mailto:a@b.org"):
        assert search(store, f"apples {text}").note == ""


def test_an_empty_answer_says_which_filters_admit_nothing(store: Store) -> None:
    add_papers(store)
    found = search(store, 'apples author:"no one" date:2003')
    assert found.hits == ()
    assert found.note == 'No document matches author:"no one" date:2003'


def test_documents_that_are_not_described_yet_are_mentioned(store: Store) -> None:
    add_papers(store)
    with store.changing() as db:
        db.execute("UPDATE contents SET metadata_version = 0 WHERE id = 1")
    assert search(store, "apples author:lee").note.endswith(
        "1 document will have authors and dates after the next sweep"
    )
    assert search(store, "apples").note == ""


def test_filters_given_apart_are_the_same_and_must_be_right(store: Store) -> None:
    add_papers(store)
    keys = {"status"}
    query = parse("apples", keys=keys, also=[("author", "Ghemawat"), ("-tag", "storage"), ("sort", "date")])
    with open_index(store.path) as index:
        found = searcher.search([index], SearchRequest(query, SearchMode.WORDS))
    assert names(found) == ["mapreduce.pdf"]
    assert parse("", keys=keys, also=[("status", "draft")]).is_listing
    for name, value in (("auhtor", "x"), ("date", "soon"), ("since", "x"), ("sort", "size")):
        with pytest.raises(QueryError):
            parse("apples", also=[(name, value)])


@pytest.mark.parametrize(
    ("text", "start", "choices"),
    [
        ("apples au", 7, [("author:", 4)]),
        ("ta", 0, [("tag:", 3)]),
        ("sta", 0, [("status:", 2)]),
        ("what is in", 8, []),
        ("a", 0, []),
        ("author:", 7, [('"Sanjay Ghemawat"', 2), ('"Diego Ongaro"', 1), ('"Howard Gobioff"', 1)]),
        ("x author:ghe", 9, [('"Sanjay Ghemawat"', 2)]),
        ('-author:"sanjay g', 8, [('"Sanjay Ghemawat"', 2)]),
        ("date:20", 5, [(str(TODAY.year), 1), ("2003", 1), ("2004", 1), ("2014", 1)]),
        ("lang:", 5, [("en", 2), ("de", 1)]),
        ("-lang:GER", 6, [("de", 1)]),
        ("la", 0, [("lang:", None)]),
        ("fold", 0, []),
        ("folder:", 7, []),
        ("type:", 5, [("pdf", 3), ("md", 1)]),
        ("status:d", 7, [("draft", 1)]),
        ("sort:", 5, [("score", None), ("date", None), ("name", None)]),
        ("nothing:", 8, []),
        ("author:x ", 9, []),
    ],
)
def test_fields_and_values_are_completed_with_their_numbers_of_documents(
    store: Store, text: str, start: int, choices: list[tuple[str, int | None]]
) -> None:
    add_papers(store)
    with open_index(store.path) as index:
        found = complete([index], text)
    assert found.start == start
    shown = [(choice.text, choice.n_documents) for choice in found.choices]
    if text == "author:":
        shown = shown[:3]
    assert shown == choices or sorted(shown, key=str) == sorted(choices, key=str)


@given(st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_text_can_be_completed(store: Store, text: str) -> None:
    if not list(store.catalogue()):
        add_papers(store)
    with open_index(store.path) as index:
        found = complete([index], text)
    assert 0 <= found.start <= len(text)


FOLDERS = {"papers": 12, "my notes": 3, "work/papers": 40, "\u2605": 0}


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("fold", ["folder:"]),
        ("folder:", ["folder:work/papers", "folder:papers", 'folder:"my notes"', 'folder:"\u2605"']),
        ("apples folder:pa", ["apples folder:work/papers", "apples folder:papers"]),
        ("apples -folder:PA", ["apples -folder:work/papers", "apples -folder:papers"]),
        ('folder:"my', ['folder:"my notes"']),
        ("folder:w", ["folder:work/papers"]),
        ("folder:papers and", []),
        ("folder:nothing", []),
    ],
)
def test_folders_are_completed_by_the_beginnings_of_their_parts(text: str, whole: list[str]) -> None:
    found = complete([], text, FOLDERS)
    assert [text[: found.start] + choice.text for choice in found.choices] == whole


def test_the_choices_of_several_indexes_are_pooled(tmp_path: Path, store: Store) -> None:
    add_papers(store)
    with Store.open(tmp_path / "other.db", root=Path("/other")) as other:
        one = add(other, "more.pdf", ["apples"])
        other.describe(one, "", [MetadataValue("author", name, "test") for name in ("Sanjay Ghemawat", "Ann Lee")])
        with other.changing() as db:
            languages.put(db, one, "de")
        with open_index(store.path) as first, open_index(other.path) as second:
            for text in ("x author:", "lang:", "type:p", "au"):
                counts: dict[str, int] = {}
                for index in (first, second):
                    for choice in complete([index], text).choices:
                        counts[choice.text] = counts.get(choice.text, 0) + (choice.n_documents or 0)
                pooled = complete([first, second], text)
                assert {choice.text: choice.n_documents for choice in pooled.choices} == counts
            spoken = complete([first, second], "lang:").choices
            assert [(one.text, one.meaning) for one in spoken] == [("de", "German"), ("en", "English")]


def test_the_numbers_of_choices_are_those_of_documents_that_the_other_filters_admit(store: Store) -> None:
    for name, author, year, code in (
        ("a.pdf", "Ann Lee", "2020", "en"), ("b.pdf", "Ann Lee", "2021", "de"), ("c.md", "Bo Li", "2021", "de"),
    ):  # fmt: skip
        one = add(store, name, [f"apples of {name}"])
        store.describe(one, "", [MetadataValue("author", author, "test"), MetadataValue("date", year, "test")])
        with store.changing() as db:
            languages.put(db, one, code)

    def counts(text: str) -> dict[str, int | None]:
        with open_index(store.path) as index:
            return {choice.text: choice.n_documents for choice in complete([index], text).choices}

    assert counts("author:") == {'"Ann Lee"': 2, '"Bo Li"': 1}
    assert counts("date:2021 author:") == {'"Ann Lee"': 1, '"Bo Li"': 1}
    assert counts("apples type:pdf author:") == {'"Ann Lee"': 2}
    assert counts('author:"ann lee" lang:') == {"en": 1, "de": 1}
    assert counts("-type:pdf date:") == {"2021": 1}
    assert counts("lang:de type:") == {"pdf": 1, "md": 1}
    assert counts("date:1990 author:") == {}
    assert counts("date:2020 auth") == {"author:": 1}
