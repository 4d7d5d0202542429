"""A search finds documents by words, by meaning and by both, and its note says why the answer may be incomplete."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longsearch.engine.errors import QueryError
from longsearch.engine.index.backends import Found
from longsearch.engine.index.index import Index
from longsearch.engine.search import searcher
from longsearch.engine.search.retrieval import Candidates, candidates
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode, Term
from longsearch.engine.unread import NONE_READ
from tests.engine.search.search_helpers import add, names, search, toward
from tests.engine.store.store_helpers import DIM, ROOT

HYBRID, MEANING, WORDS = SearchMode.HYBRID, SearchMode.MEANING, SearchMode.WORDS


def test_a_hit_says_where_the_passage_is(store: Store) -> None:
    add(store, "notes/a.pdf", ["Apples are red.", "Pears, running on trees, are green."], title="On fruit")
    results = search(store, "pear tree run", WORDS)
    (hit,) = results.hits
    assert (hit.rank, hit.path, hit.title) == (1, "/papers/notes/a.pdf", "On fruit")
    (passage,) = hit.passages
    assert (passage.page, passage.heading, passage.start) == (2, "On notes/a.pdf", 16)
    assert passage.text == "Pears, running on trees, are green."
    assert passage.score == hit.score
    assert (results.query, results.mode, results.note) == ("pear tree run", WORDS, "")
    assert results.took_ms > 0


def test_a_word_is_found_in_its_british_and_its_american_spelling(store: Store) -> None:
    add(store, "a.pdf", ["The license of the program is analyzed."])
    add(store, "b.pdf", ["The licence of the programme is analysed."])
    for query in ("licence analyse", "license analyze", "program"):
        assert len(search(store, query, WORDS).hits) == 2
    assert len(search(store, '"the licence"', WORDS).hits) == 1
    assert search(store, "is -licence", WORDS).hits == ()


def test_a_title_is_found_by_its_documents_first_passage(store: Store) -> None:
    add(store, "a.pdf", ["Apples are red.", "Pears are green."], title="A treatise on fruit")
    add(store, "b.pdf", ["Nothing at all."])
    (hit,) = search(store, "fruits", WORDS).hits
    assert [passage.text for passage in hit.passages] == ["Apples are red."]


def test_a_search_imports_nothing_that_it_hardly_needs(store: Store) -> None:
    add(store, "a.pdf", ["Apples are red."], [toward(1)])
    program = f"""
import sys
from pathlib import Path
import numpy as np
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.index.opening import open_index
from longsearch.engine.types.results import SearchMode
with open_index(Path({str(store.path)!r})) as index:
    asked = SearchRequest(parse("red apples"), SearchMode.HYBRID, [np.eye({DIM}, dtype=np.float32)[0]])
    print(len(search([index], asked).hits))
print([name for name in ("torch", "numpy.ma", "apsw.fts5", "apsw.ext") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["1", "[]"], done.stderr


@pytest.mark.parametrize("mode", [HYBRID, MEANING])
def test_a_passage_that_matches_neither_words_nor_meaning_is_dropped(store: Store, mode: SearchMode) -> None:
    add(store, "steel.pdf", ["steel"], [toward(0, 1)])
    assert not search(store, "apples", mode, toward(1)).hits
    add(store, "fruit.pdf", ["fruit of the orchard"], [toward(1, 9)])
    assert names(search(store, "apples", mode, toward(1))) == ["fruit.pdf"]


def test_a_passage_that_holds_a_word_of_the_query_is_found_whatever_its_meaning(store: Store) -> None:
    add(store, "word.pdf", ["apples"], [toward(0, 1)])
    for number in range(9):  # all passages hold the word, so its idf is next to nothing
        add(store, f"{number}.pdf", [f"apples {number}"], [toward(1)])
    assert "word.pdf" in names(search(store, "apples pears", HYBRID, toward(1)))
    assert "word.pdf" in names(search(store, '"apples"', MEANING, toward(1)))


def test_a_hit_names_the_sentence_that_shares_most_with_the_nearest_excerpt(store: Store) -> None:
    texts = ["A word ahead.", "Spring was. House sold."]
    of_second = [[toward(0, 1), toward(1)], [toward(1), toward(0, 1)]]
    for path, last_is_nearest in zip(("a.pdf", "b.pdf"), of_second, strict=True):
        add(store, path, texts, [toward(1, 9), toward(1, 1)], title=path, excerpts=[[], last_is_nearest])
    for mode in (MEANING, HYBRID):
        results = search(store, "house", mode, toward(1))
        found = [{passage.text: passage.excerpt for passage in hit.passages} for hit in results.hits]
        assert found == [{texts[1]: (14 + 12, 14 + 23), texts[0]: None}, {texts[1]: (14, 14 + 11), texts[0]: None}]
    assert {p.excerpt for hit in search(store, "house", WORDS, toward(1)).hits for p in hit.passages} == {None}


def test_an_excerpt_excludes_the_white_space_after_it(store: Store) -> None:
    add(store, "a.pdf", ["Spring.   House sold."], [toward(1, 1)], excerpts=[[toward(1), toward(0, 1)]])
    (hit,) = search(store, "house", MEANING, toward(1)).hits
    assert hit.passages[0].excerpt == (0, len("Spring."))


def test_hybrid_without_a_vector_runs_words(store: Store) -> None:
    add(store, "a.pdf", ["apples"], [toward(1)])
    results = search(store, "apples", HYBRID)
    assert (results.mode, names(results)) == (WORDS, ["a.pdf"])
    assert results.note == ""  # the caller knows why there is none


def test_a_search_by_meaning_without_a_vector_of_the_right_dimension_raises_value_error(store: Store) -> None:
    with pytest.raises(ValueError, match="vector"):
        search(store, "apples", MEANING)
    add(store, "a.pdf", ["apples"], [toward(1)])
    with pytest.raises(ValueError, match="shape"):
        search(store, "apples", MEANING, np.ones(7, np.float32) / np.float32(np.sqrt(7)))


def test_an_index_without_any_model_is_searched_by_words(tmp_path: Path) -> None:
    with Store.open(tmp_path / "other.db", root=ROOT) as store:
        add(store, "a.pdf", ["apples"])
        results = search(store, "apples", HYBRID, toward(1))
        assert (results.mode, names(results), results.note) == (WORDS, ["a.pdf"], NONE_READ)
        assert search(store, "apples", MEANING, toward(1)).hits == ()


def test_the_note_counts_documents_that_wait_for_vectors(store: Store) -> None:
    add(store, "a.pdf", ["apples"], [toward(1)])
    add(store, "b.pdf", ["apples too"])
    results = search(store, "apples", HYBRID, toward(1))
    assert (results.mode, set(names(results))) == (HYBRID, {"a.pdf", "b.pdf"})
    assert results.note == "1 document has not been read for its meaning yet"
    assert search(store, "apples", WORDS).note == ""


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_book_with_all_the_best_passages_leaves_room_for_other_documents(
    store: Store, mode: SearchMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searcher, "_N_CANDIDATES", 4)
    add(store, "book.pdf", [f"apples apples {number}" for number in range(30)], [toward(1)] * 30)
    add(store, "b.pdf", ["a few apples in a long sentence of other words"], [toward(1, 1)])
    results = search(store, "apples", mode, toward(1), k=2)
    assert names(results) == ["book.pdf", "b.pdf"]
    assert [hit.rank for hit in results.hits] == [1, 2]
    assert [len(hit.passages) for hit in results.hits] == [5, 1]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_no_more_candidates_are_fetched_once_every_document_is_found(
    store: Store, mode: SearchMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searcher, "_N_CANDIDATES", 4)
    asked = []

    def counted(index: Index, words: Found, near: Found, *others: Any) -> Candidates:
        asked.append(max(len(words), len(near)))
        return candidates(index, words, near, *others)

    monkeypatch.setattr(searcher, "candidates", counted)
    add(store, "book.pdf", [f"apples {number}" for number in range(30)], [toward(1)] * 30)
    assert names(search(store, "apples", mode, toward(1), k=50)) == ["book.pdf"]
    assert asked == [4]


def test_an_unfinished_word_finds_words_that_begin_with_it(store: Store) -> None:
    add(store, "a.pdf", ["about transformers"])
    assert names(search(store, "transf", WORDS, prefix_last=True)) == ["a.pdf"]
    assert names(search(store, "transf", WORDS)) == []


def test_the_results_carry_the_terms_that_were_searched_for(store: Store) -> None:
    add(store, "a.pdf", ["Apples of the state."])
    found = search(store, 'the apples of "the state" -pears in:a type:pdf -type:md', WORDS)
    assert found.lit == (Term("the state", is_phrase=True), Term("apples"))
    assert search(store, "appl", WORDS, prefix_last=True).lit == (Term("appl", is_prefix=True),)
    assert search(store, "of the", WORDS).lit == (Term("of"), Term("the"))


def test_an_empty_query_is_refused(store: Store) -> None:
    with pytest.raises(QueryError):
        search(store, "  ", WORDS)


def test_an_empty_index_has_no_hits(store: Store) -> None:
    for mode in SearchMode:
        assert search(store, "apples", mode, toward(1)).hits == ()


def test_a_name_that_is_not_utf8_comes_back_as_it_is(store: Store) -> None:
    add(store, "bad\udcff\nname.pdf", ["apples"])
    assert search(store, "apples", WORDS).hits[0].path == "/papers/bad\udcff\nname.pdf"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.text(min_size=1, max_size=60), st.booleans(), st.sampled_from(list(SearchMode)))
def test_any_query_has_an_answer_with_scores_from_zero_to_one(
    store: Store, text: str, prefix_last: bool, mode: SearchMode
) -> None:
    if not store.catalogue():
        add(store, "a.pdf", ["apples, c++ and NOT 0 pears", "a b c d e f g"], [toward(1), toward(1, 1)])
    try:
        results = search(store, text, mode, toward(1), prefix_last=prefix_last)
    except QueryError:
        return
    scores = [passage.score for hit in results.hits for passage in hit.passages]
    assert all(0 <= score <= 1 for score in scores)
