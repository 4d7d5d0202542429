"""A store on LanceDB answers as the index in SQLite does: the same hits, scores, texts, filters and status."""

from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longsearch.engine.errors import QueryError
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.index.sqlite import SqliteBackend
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.quotations.quotation import find_quotation
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.search.similar import similar_to_vector, similarity_of_passages, title_and_vector
from longsearch.engine.search.similar_passages import asked_passage, similar_to_passage
from longsearch.engine.store import documents
from longsearch.engine.store.segments.files import Segments
from longsearch.engine.types.results import SearchMode
from tests.engine.lance.lance_helpers import (
    CHINESE,
    ENGLISH,
    GERMAN,
    assert_same,
    assert_same_hits,
    invented,
    published,
    vector,
)

_WORDS = sorted({word.strip(".,") for sentence in (*ENGLISH, *GERMAN) for word in sentence.split()})
_QUERIES = [
    "cold morning",
    '"the hive"',
    '"weighs the" tide',
    "harbour -varnish",
    "type:md keeper",
    "in:notes the master",
    "-in:papers lease",
    "lang:de Hafen Morgen",
    "author:lovelace queen",
    "date:2005..2010 maker",
    "type:pdf",
    "早晨",
    "港口 harbour",
    '"早晨称"',
    "Häuser",
    "no such word anywhere",
    "tide AND (master OR keeper) NOT violin",
    "(type:pdf OR lease) hive",
    "harb* NOT tide",
    '"hive morning"~6',
    '"the hive" NEAR/3 (cells|cold)',
    "港口 NEAR/4 早晨",
]


@pytest.mark.parametrize("mode", SearchMode)
@pytest.mark.parametrize("text", _QUERIES)
def test_a_store_gives_the_hits_that_sqlite_gives(twins: tuple[Path, Path], text: str, mode: SearchMode) -> None:
    with open_index(twins[0]) as index:
        query = parse(text, keys=index.fields)
    assert_same_hits(*twins, query, mode, seed=len(text))


@pytest.mark.parametrize("typed", ["c", "co", "har", "the h", "Haf", "早"])
def test_an_unfinished_word_finds_the_same(twins: tuple[Path, Path], typed: str) -> None:
    assert_same_hits(*twins, parse(typed, prefix_last=True), SearchMode.WORDS, seed=0, k=50)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4), st.booleans(), st.sampled_from(list(SearchMode)))
def test_any_words_and_phrases_find_the_same(
    twins: tuple[Path, Path], words: list[str], is_phrase: bool, mode: SearchMode
) -> None:
    text = " ".join(words)
    try:
        query = parse(f'"{text}"' if is_phrase else text)
    except QueryError:
        return
    assert_same_hits(*twins, query, mode, seed=len(text))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_phrases_match_where_fts5_says(twins: tuple[Path, Path], data: st.DataObject) -> None:
    sentence = data.draw(st.sampled_from((*ENGLISH, *GERMAN))).split()
    start = data.draw(st.integers(0, len(sentence) - 1))
    phrase = " ".join(sentence[start : data.draw(st.integers(start + 1, len(sentence)))])
    match = f'"{phrase}"' + data.draw(st.sampled_from(["", "*", ' AND "the"', ' OR ("maker" OR "q"*)']))
    found = []
    for path in twins:
        with open_index(path) as index:
            best = index.backend.best(match, 1_000, None) if " AND " not in match else []
            found.append((sorted(index.backend.matching(match).tolist()), [(id_, round(s, 9)) for id_, s in best]))
    assert found[0] == found[1]


def test_several_indexes_are_searched_together_with_the_scores_of_one(twins: tuple[Path, Path], tmp_path: Path) -> None:
    with invented(tmp_path / "other.sqlite", 8):
        pass
    query, found = parse("cold varnish in the morning"), []
    for path in twins:
        with open_index(path) as one, open_index(tmp_path / "other.sqlite") as two:
            hits = search([one, two], SearchRequest(query, SearchMode.HYBRID, [vector(1)] * 2)).hits
            found.append([(hit.document_id, round(hit.score, 5)) for hit in hits])
    assert found[0] == found[1]


def test_quotations_similar_documents_and_similar_passages_are_the_same(twins: tuple[Path, Path]) -> None:
    quotations, similar, passages, near = [], [], [], []
    for path in twins:
        with open_index(path) as index:
            quotations.append(find_quotation(index, "the harbour master writes it down"))
            title, of_whole = title_and_vector(index, 5)
            similar.append(similar_to_vector(index, of_whole, title))
            passages.append(similar_to_passage(index, asked_passage(index, 5, 0)))
            near.append(similarity_of_passages(index, 7, vector(2)))
    assert quotations[0] and quotations[0] == quotations[1]
    assert_same(*similar)
    assert_same(*passages)
    assert near[0] and [row[:2] for row in near[0]] == [row[:2] for row in near[1]]
    assert np.allclose([row[2] for row in near[0]], [row[2] for row in near[1]], atol=1e-6)


def test_status_texts_and_languages_are_the_same(twins: tuple[Path, Path]) -> None:
    found = []
    for path in twins:
        with open_index(path) as index:
            texts = [index.text(int(id_)) for id_ in documents.all_ids(index.db)]
            lengths = index.backend.lengths(np.array([1, 2, 3])).tolist()
            spans = documents.passages(index.db, 3), lengths, documents.n_passages(index.db)
            found.append((index.root, index.files(), index.languages(), index.fingerprint, texts, spans))
    assert found[0] == found[1]


@pytest.mark.slow
def test_two_hundred_queries_over_five_hundred_documents_find_the_same(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    sentences = [sentence.split() for sentence in (*ENGLISH, *GERMAN)]
    with invented(tmp_path / "index.sqlite", 500) as store:
        pointer = published(store, tmp_path)
    for number in range(200):
        words = sentences[number % len(sentences)]
        start = int(random.integers(0, len(words) - 1))
        text = " ".join(words[start : start + 1 + number % 4])
        for mode in SearchMode:
            assert_same_hits(tmp_path / "index.sqlite", pointer, parse(text), mode, seed=number, k=20)


def test_chinese_is_cut_into_pairs_in_the_store_too(twins: tuple[Path, Path]) -> None:
    with open_index(twins[1]) as index:
        assert len(index.backend.matching(f'"{CHINESE[0][:2]}"')) > 0


def test_two_stores_in_one_process_do_not_share_what_is_counted() -> None:
    counts = []
    for root, n in ((b"/first", 1), (b"/second", 2)):
        db = apsw.Connection(":memory:")
        db.execute("CREATE TABLE meta (key, value); CREATE TABLE contents (id)")
        db.executemany("INSERT INTO meta VALUES (?, ?)", [("root", root), ("files_version", 7)])
        db.executemany("INSERT INTO contents VALUES (?)", [(id_,) for id_ in range(n)])
        meta = dict(db.execute("SELECT key, value FROM meta"))
        counts.append(Index(Path("first"), db, SqliteBackend(Segments(db), 0), meta).n_documents)
    assert counts == [1, 2]
