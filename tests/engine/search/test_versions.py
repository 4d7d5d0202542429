"""Documents that say nearly the same are one hit with its versions, the newest first; others keep their rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.near_equal import NEARLY_THE_SAME, grouped, overlap, shingles
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.query_language.query import parse
from longsearch.engine.search import searcher, versions
from longsearch.engine.search.ranking import RankedDocument
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, MetadataValue, Passage
from longsearch.engine.types.results import SearchMode, SearchResults

LEASE = (
    "The tenant of the old mill may end the lease with a notice of three months to the end of a quarter."
    " The rent is {} pounds a month, and small repairs are paid by the tenant of the mill."
)
BYLAWS = "Whoever gives notice leaves the club of the mill at the end of the year, and owes the fee of that year."


def put(store: Store, path: str, text: str, mtime_ns: int = 1, date: str = "", rest: str = "") -> None:
    values = (MetadataValue("date", date, "front matter"),) if date else ()
    whole = f"{text}\n{rest}" if rest else text
    document = DocumentText(whole, (), "", (), values)
    passages = [Passage(0, len(text), 5)] + ([Passage(len(text) + 1, len(whole), 5)] if rest else [])
    store.add_document(FileStamp(path, 1, mtime_ns, len(path)), whole.encode(), document, passages)


def found(
    store: Store, k: int = 10, fold: bool = True, query: str = "notice to end the lease of the mill"
) -> SearchResults:
    with open_index(store.path) as index:
        return search([index], SearchRequest(parse(query), SearchMode.WORDS, k=k, fold=fold))


def rows(results: SearchResults) -> list[tuple[str, list[str]]]:
    return [(Path(hit.path).name, [Path(version.path).name for version in hit.versions]) for hit in results.hits]


def test_versions_are_one_row_so_that_other_answers_are_seen(store: Store) -> None:
    for number in (1, 3, 2, 10):
        put(store, f"lease_v{number}.md", LEASE.format(400 + number))
    put(store, "bylaws.md", BYLAWS)
    results = found(store, k=2)
    assert rows(results) == [("lease_v10.md", ["lease_v3.md", "lease_v2.md", "lease_v1.md"]), ("bylaws.md", [])]
    assert [hit.rank for hit in results.hits] == [1, 2]
    assert len(found(store, fold=False).hits) == 5
    assert all(not hit.versions for hit in found(store, fold=False).hits)


def test_a_word_that_was_asked_for_tells_versions_apart(store: Store) -> None:
    for number in (1, 2, 3):
        put(store, f"lease_v{number}.md", LEASE.format(400 + number))
    results = found(store, query="the rent is 401 pounds a month")
    assert rows(results) == [("lease_v1.md", []), ("lease_v3.md", ["lease_v2.md"])]


def test_what_stands_after_many_versions_is_found_and_nothing_is_fetched_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        put(store, f"lease_v{number}.md", LEASE.format(400 + number))
    put(store, "bylaws.md", BYLAWS)
    fetched: list[int] = []
    fetch = searcher.to_hits

    def counted(index: Index, files: FileFilter, ranked: Sequence[RankedDocument], *rest: Any) -> Any:
        fetched.extend(one.document_id for one in ranked)
        return fetch(index, files, ranked, *rest)

    monkeypatch.setattr(searcher, "to_hits", counted)
    assert [row[0] for row in rows(found(store, k=2))] == ["lease_v11.md", "bylaws.md"]
    assert len(fetched) == len(set(fetched)) == 13


def test_the_beginning_of_a_document_is_read_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        put(store, f"lease_v{number}.md", LEASE.format(400 + number))
    read: list[str] = []
    spans = versions.texts.spans

    def counted(db: Any, document_id: int, borders: Any) -> list[str]:
        read.append(str(document_id))
        return spans(db, document_id, borders)

    monkeypatch.setattr(versions.texts, "spans", counted)
    assert rows(found(store)) == rows(found(store))
    assert len(read) == 3


def test_the_newest_is_the_one_with_the_latest_date_or_else_the_latest_file(store: Store) -> None:
    put(store, "a.md", LEASE.format(410), mtime_ns=5, date="2020-01-01")
    put(store, "b.md", LEASE.format(420), mtime_ns=9, date="2021-01-01")
    put(store, "c.md", LEASE.format(430), mtime_ns=7, date="2021-01-01")
    assert rows(found(store)) == [("b.md", ["c.md", "a.md"])]


def test_documents_that_only_share_a_passage_stay_apart(store: Store) -> None:
    put(
        store,
        "mail.md",
        LEASE.format(410),
        rest=f"{BYLAWS} Yours, Ann, who keeps the hens behind the barn and the weir.",
    )
    put(store, "lease.md", LEASE.format(410))
    assert len(rows(found(store))) == 2


def test_reports_of_two_quarters_begin_alike_and_stay_apart(store: Store) -> None:
    beginning = " ".join([LEASE.format(400), *(f"Item {number} of the form is named here." for number in range(300))])
    for quarter in (1, 2):
        sold = (f"The mill sold {quarter}{number} sacks to {number}{quarter} bakers." for number in range(400))
        figures = " ".join(sold)
        put(store, f"report {quarter}.md", beginning, rest=figures)
    assert len(beginning) > versions._BEGINNING
    assert rows(found(store)) == [("report 1.md", []), ("report 2.md", [])]
    for name, other in (("2023 Q2 report", "2023 Q3 report"), ("rent-2021", "rent-2022")):
        assert versions._name(name) != versions._name(other)
    for name, other in (("lease_v1", "lease v2 final (3)"), ("bylaws-2021-05-17", "bylaws-2021-11-02")):
        assert versions._name(name) == versions._name(other)


def test_what_is_alike_but_has_another_name_shares_nearly_the_whole_text_or_stays_apart(store: Store) -> None:
    for name in ("withArgon.java", "withBalloon.java", "hashing_v1.java", "hashing 2 (final).java"):
        put(store, name, LEASE.format(410).replace("old", name[:-5]).replace("repairs", name[:-5]))
    assert sorted(len(hit.versions) for hit in found(store).hits) == [0, 0, 1]


@pytest.mark.parametrize("texts", [("Buy milk at the mill.", "Buy bread at the mill."), (LEASE.format(1), BYLAWS)])
def test_short_notes_and_other_texts_stay_apart(store: Store, texts: tuple[str, str]) -> None:
    for number, text in enumerate(texts):
        put(store, f"{number}.md", text)
    assert all(not hit.versions for hit in found(store, query="mill").hits)


def test_a_list_without_words_folds_nothing(store: Store) -> None:
    for number in range(3):
        put(store, f"lease_v{number}.md", LEASE.format(400 + number))
    assert len(found(store, query="type:md").hits) == 3


def test_texts_are_grouped_by_their_first_one() -> None:
    texts = [LEASE.format(1), BYLAWS, LEASE.format(2), "", LEASE.format(3)]
    assert grouped(texts) == [[0, 2, 4], [1], [3]]
    assert overlap(shingles(texts[0]), shingles(texts[2])) >= NEARLY_THE_SAME
