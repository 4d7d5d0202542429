"""Passages of one document are ranked by their own words: its title and names, indexed with the first, do not count."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import apsw
import numpy as np
import pytest

from longsearch.engine.index import bm25
from longsearch.engine.index.fts5_words import by_fts5
from longsearch.engine.index.lookup import any_of, forms_of, lookup
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.segments.term_counts import K1, half_count, mean_length
from longsearch.engine.store.store import Store
from tests.engine.search.search_helpers import add, search
from tests.engine.store.store_helpers import open_store

WORDS = ("hive", "honey", "queen", "swarm", "colony", "bees", "spring", "don't")
QUERIES = [
    "hive",
    "honey queen",
    "swarm of the colony",
    '"honey queen" bees',
    "hon",
    "don't swarm spr",
    "hive-honey bees",
]


@pytest.fixture(scope="module", params=[False, True], ids=["FTS5", "segments"])
def store(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Store]:
    """Documents of eight passages, of which title and path have words of the queries too; one is in no segment."""
    with pytest.MonkeyPatch.context() as patch, open_store(tmp_path_factory.mktemp("order") / "index.sqlite") as store:
        patch.setattr(upkeep, "LEAST_PASSAGES", 1 if request.param else 10**9)
        for number in range(6):
            random = np.random.default_rng(number)
            texts = [" ".join(random.choice(WORDS, random.integers(3, 12))) for _ in range(8)]
            add(store, f"{WORDS[number]} {number}/{WORDS[-number]}.md", texts, title=" ".join(random.choice(WORDS, 3)))
            if number < 5:
                store.tidy()
        yield store


def by_text(store: Store, text: str) -> dict[tuple[int, int], float]:
    """The BM25 of each passage (document, start) by the column of its text, as FTS5 counts there."""

    def counted(fts: apsw.FTS5ExtensionApi, *_: object) -> str:
        found = [len(fts.phrase_column_offsets(number, 0)) for number in range(fts.phrase_count)]
        return json.dumps([fts.column_size(0), found])

    sql = "SELECT content_id, start, counted(words) FROM words JOIN passages ON id = words.rowid WHERE words MATCH ?"
    with open_index(store.path) as index:
        asked = lookup(parse(text, prefix_last=True), index.spoken)
        figures = by_fts5(index.db, asked, index.n_documents).statistics
        index.db.register_fts5_function("counted", counted)
        rows = list(index.db.execute(sql, (any_of(asked.terms),)))
    found: dict[tuple[int, int], float] = {}
    for document_id, start, row in rows:
        length, counts = json.loads(row)
        own, half = iter(counts), half_count(length, mean_length(figures.n_words, figures.n_passages))
        of_terms = [sum(next(own) for _ in forms_of(term)) for term in asked.terms]
        parts = zip(bm25.idfs(figures), of_terms, strict=True)
        found[document_id, start] = sum(idf * n * (K1 + 1) / (n + half) for idf, n in parts)
    return found


@pytest.mark.parametrize("text", QUERIES)
def test_passages_stand_in_the_order_of_their_texts_alone(store: Store, text: str) -> None:
    hits = search(store, text, prefix_last=True).hits
    expected = by_text(store, text)
    assert hits
    for hit in hits:
        own = [expected[hit.document_id, passage.start] for passage in hit.passages]
        assert all(one >= other - 1e-12 for one, other in pairwise(own))
        assert all(one.score >= other.score for one, other in pairwise(hit.passages))
        assert hit.score >= hit.passages[0].score


def test_title_and_name_still_find_a_document_and_rank_it(tmp_path: Path) -> None:
    store = open_store(tmp_path / "index.sqlite")
    add(store, "a.md", ["nothing of it", "zebras and horses", "horses"], title="zebras")
    add(store, "b.md", ["nothing of it", "zebras and horses", "horses"], title="cattle")
    first, second = search(store, "zebras").hits
    assert (first.title, [passage.text for passage in first.passages]) == (
        "zebras",
        ["zebras and horses", "nothing of it"],
    )
    assert first.score > second.score
