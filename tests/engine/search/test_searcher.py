"""From a query to documents: by words, by meaning, by both; filtered, scored, and told honestly."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_helpers import add, names, search, toward
from store_helpers import DIM, ROOT

from engine.errors import QueryError
from engine.evaluation.bm25_index import Bm25
from engine.evaluation.our_vectors import passage_scores, whole_excerpts
from engine.inference.passes import Excerpts
from engine.search import searcher
from engine.search.fusion import in_document, words_in_document
from engine.store.records import FileStamp
from engine.store.store import Store
from engine.types import SearchMode, Term

HYBRID, MEANING, WORDS = SearchMode.HYBRID, SearchMode.MEANING, SearchMode.WORDS


def test_a_hit_says_where_the_passage_is(store: Store) -> None:
    add(store, "notes/a.pdf", ["Apples are red.", "Pears, running on trees, are green."], title="On fruit")
    results = search(store, "pear tree run", WORDS, instruction="find fruit")
    (hit,) = results.hits
    assert (hit.rank, hit.path, hit.title) == (1, "/papers/notes/a.pdf", "On fruit")
    (passage,) = hit.passages
    assert (passage.page, passage.heading, passage.start) == (2, "On notes/a.pdf", 16)
    assert passage.text == "Pears, running on trees, are green."
    assert passage.score == hit.score
    assert (results.query, results.mode, results.instruction, results.note) == (
        "pear tree run",
        WORDS,
        "find fruit",
        "",
    )
    assert results.took_ms > 0


def test_words_score_is_the_share_of_the_highest_bm25_of_the_passage_and_of_its_document(store: Store) -> None:
    add(store, "a.pdf", ["apple apple apple pear", "kiwi kiwi kiwi kiwi", "apple kiwi kiwi kiwi"])
    add(store, "b.pdf", ["apple plum plum plum", "kiwi kiwi kiwi fig"])
    add(store, "c.pdf", ["kiwi kiwi kiwi kiwi"])
    results = search(store, "apple fig", WORDS)
    idf_apple, idf_fig = 1e-6, math.log((6 - 1 + 0.5) / 1.5)  # three of six passages: FTS5's least
    length_factor = 1.2  # k1 (1 - b + b): every passage is 4 words long
    apples = idf_apple * 3 / (3 + length_factor)
    fig = idf_fig * 1 / (1 + length_factor)
    highest = idf_apple + idf_fig
    # of documents: apple in two of three, fig in one; 3, 2 and 1 passages, 2 on average
    in_documents = {"apple": math.log(1 + 1.5 / 2.5), "fig": math.log(1 + 2.5 / 1.5)}
    a = in_documents["apple"] * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)) / sum(in_documents.values())
    b = 1 / (1 + 1.2)
    scores = {name: hit.score for name, hit in zip(names(results), results.hits, strict=True)}
    expected = {"a.pdf": 0.6 * apples / highest + 0.4 * a, "b.pdf": 0.6 * fig / highest + 0.4 * b}
    assert scores == pytest.approx(expected)


def test_a_page_is_found_by_words_that_other_pages_of_its_document_say(store: Store) -> None:
    add(store, "other.pdf", ["A report to all owners.", "Revenue rose by a tenth.", "We thank all our owners."])
    add(store, "acme.pdf", ["Acme reports to its owners.", "Revenue rose by a tenth.", "We thank all of Acme."])
    (best, second) = search(store, "Acme revenue rose", WORDS).hits
    assert (best.path, best.passages[0].text) == ("/papers/acme.pdf", "Revenue rose by a tenth.")
    assert best.score > second.score


def test_what_only_its_meaning_found_has_the_words_of_its_document(store: Store) -> None:
    add(store, "other.pdf", ["Sales went up."], [toward(1)])
    add(store, "acme.pdf", ["Sales went up.", "We are Acme."], [toward(1), toward(0, 1)], whole=toward(1))
    (best, second) = search(store, "Acme revenue", HYBRID, toward(1)).hits
    assert (best.path, best.passages[0].text) == ("/papers/acme.pdf", "Sales went up.")
    assert second.score == pytest.approx(0.4)


def test_the_measured_words_are_those_of_the_search(store: Store) -> None:
    random = np.random.default_rng(5)
    words = ["apple", "pear", "plum", "kiwi", "fig", "quince", "medlar"]
    contents = [[" ".join(random.choice(words, 6)) for _ in range(1 + number % 4)] for number in range(9)]
    for number, sentences in enumerate(contents):
        add(store, f"{number}.pdf", sentences)
    index = Bm25([sentence for sentences in contents for sentence in sentences])
    documents = np.repeat(np.arange(9), [len(sentences) for sentences in contents])
    for query in ("apple", "fig quince", "medlar pear plum kiwi"):
        shares, found = index.of_documents(query, documents), zip(*index.rank(query, 99), strict=True)
        expected: dict[str, float] = {}
        for row, score in found:
            name = f"{documents[row]}.pdf"
            expected[name] = max(expected.get(name, 0), words_in_document(float(score), shares[int(documents[row])]))
        results = search(store, query, WORDS)
        assert {name: hit.score for name, hit in zip(names(results), results.hits, strict=True)} == pytest.approx(
            expected
        )


def test_a_title_is_found_by_its_documents_first_passage(store: Store) -> None:
    add(store, "a.pdf", ["Apples are red.", "Pears are green."], title="A treatise on fruit")
    add(store, "b.pdf", ["Nothing at all."])
    (hit,) = search(store, "fruits", WORDS).hits
    assert [passage.text for passage in hit.passages] == ["Apples are red."]


def test_meaning_ranks_by_cosine(store: Store) -> None:
    add(store, "near.pdf", ["one", "two"], [toward(0, 1), toward(3, 4)], whole=toward(3, 4))
    add(store, "far.pdf", ["three"], [toward(1, 10)])
    add(store, "against.pdf", ["four"], [toward(-1)])
    results = search(store, "anything", MEANING, toward(1))
    assert names(results) == ["near.pdf", "far.pdf"]
    assert [hit.score for hit in results.hits] == pytest.approx([0.6, 1 / math.sqrt(101)], abs=1e-6)
    assert [passage.text for passage in results.hits[0].passages] == ["two", "one"]


@pytest.mark.parametrize("mode", [HYBRID, MEANING])
def test_what_neither_means_nor_holds_anything_of_the_query_is_no_answer(store: Store, mode: SearchMode) -> None:
    add(store, "steel.pdf", ["steel"], [toward(0, 1)])
    assert not search(store, "apples", mode, toward(1)).hits
    add(store, "fruit.pdf", ["fruit of the orchard"], [toward(1, 9)])
    assert names(search(store, "apples", mode, toward(1))) == ["fruit.pdf"]


def test_what_holds_a_word_of_the_query_is_an_answer_whatever_it_means(store: Store) -> None:
    add(store, "word.pdf", ["apples"], [toward(0, 1)])
    for number in range(9):  # the word is in all passages: it says next to nothing
        add(store, f"{number}.pdf", [f"apples {number}"], [toward(1)])
    assert "word.pdf" in names(search(store, "apples pears", HYBRID, toward(1)))
    assert "word.pdf" in names(search(store, '"apples"', MEANING, toward(1)))


def test_of_passages_that_mean_the_same_the_one_in_the_document_on_the_subject_is_first(store: Store) -> None:
    add(store, "aside.pdf", ["one"], [toward(3, 4)], whole=toward(0, 1))
    add(store, "on it.pdf", ["two"], [toward(3, 4)], whole=toward(1))
    results = search(store, "anything", MEANING, toward(1))
    assert names(results) == ["on it.pdf", "aside.pdf"]
    assert [hit.score for hit in results.hits] == pytest.approx([0.7 * 0.6 + 0.3, 0.7 * 0.6], abs=1e-6)


def test_half_of_a_passages_score_by_meaning_is_that_of_its_nearest_excerpt(store: Store) -> None:
    add(store, "a.pdf", ["one", "two"], [toward(3, 4)] * 2, excerpts=[[toward(0, 1), toward(1)], []])
    add(store, "b.pdf", ["three"], [toward(3, 4)], excerpts=[[toward(4, 3), toward(0, 1)]])
    results = search(store, "anything", MEANING, toward(1))
    scores = {hit.path[-5]: [passage.score for passage in hit.passages] for hit in results.hits}
    assert scores["a"] == pytest.approx([0.7 * (0.3 + 0.5) + 0.3 * 0.6, 0.6], abs=1e-6)
    assert scores["b"] == pytest.approx([0.7 * (0.3 + 0.5 * 0.8) + 0.3 * 0.6], abs=0.02)  # four bits round 0.8


def test_a_hit_says_which_excerpt_is_nearest(store: Store) -> None:
    texts = ["A word ahead.", "Spring was. House sold."]
    of_second = [[toward(0, 1), toward(1)], [toward(1), toward(0, 1)]]
    for path, last_is_nearest in zip(("a.pdf", "b.pdf"), of_second, strict=True):
        add(store, path, texts, [toward(1, 9), toward(1, 1)], title=path, excerpts=[[], last_is_nearest])
    for mode in (MEANING, HYBRID):
        results = search(store, "house", mode, toward(1))
        found = [{passage.text: passage.excerpt for passage in hit.passages} for hit in results.hits]
        assert found == [
            {texts[1]: (14 + 10, 14 + 23), texts[0]: None},
            {texts[1]: (14, 14 + 10), texts[0]: None},
        ]
    assert {p.excerpt for hit in search(store, "house", WORDS, toward(1)).hits for p in hit.passages} == {None}


def test_white_space_after_an_excerpt_is_not_its_own(store: Store) -> None:
    add(store, "a.pdf", ["Spring.   House sold."], [toward(1, 1)], excerpts=[[toward(1), toward(0, 1)]])
    (hit,) = search(store, "house", MEANING, toward(1)).hits
    assert hit.passages[0].excerpt == (0, len("Spring."))


def test_the_measured_meaning_is_that_of_the_search(store: Store) -> None:
    random = np.random.default_rng(6)
    sizes = [[int(n) for n in random.integers(1, 4, 1 + number % 3)] for number in range(8)]
    passages, documents = ([toward(*random.normal(size=4)) for _ in range(n)] for n in (sum(map(len, sizes)), 8))
    excerpts = [[toward(*random.normal(size=4)) for _ in range(n)] if n > 1 else [] for own in sizes for n in own]
    row = 0
    for number, own in enumerate(sizes):
        rows = slice(row, row := row + len(own))
        texts = [f"{number}" for _ in own]
        add(store, f"{number}.pdf", texts, passages[rows], whole=documents[number], excerpts=excerpts[rows])
    query = toward(*random.normal(size=4))
    vectors = [np.array(own, np.float32).reshape(-1, DIM) for own in excerpts]
    whole = whole_excerpts(np.stack(passages), [Excerpts(np.arange(len(own)), own) for own in vectors])
    n_excerpts = np.array([n for own in sizes for n in own])
    alone = passage_scores(query[None], np.stack(passages), whole, n_excerpts)[0]
    of_passage = np.repeat(np.arange(8), [len(own) for own in sizes])
    scores = in_document(alone, (np.stack(documents) @ query)[of_passage])
    expected = {f"{number}.pdf": max(0.0, scores[of_passage == number].max()) for number in range(8)}
    results = search(store, "anything", MEANING, query)
    found = {name: hit.score for name, hit in zip(names(results), results.hits, strict=True)}
    assert found == pytest.approx(expected, abs=0.06)  # four bits of four coordinates


def test_a_document_that_is_still_being_read_is_ranked_by_its_passages_alone(store: Store) -> None:
    document_id = add(store, "begun.pdf", ["one", "two"])
    store.add_vectors(document_id, 0, toward(3, 4)[None], 5, None)
    (hit,) = search(store, "anything", MEANING, toward(1)).hits
    assert hit.score == pytest.approx(0.6, abs=1e-6)


def test_hybrid_puts_first_what_words_and_meaning_agree_on(store: Store) -> None:
    add(store, "both.pdf", ["apples and pears"], [toward(4, 1)])
    add(store, "words.pdf", ["apples and apples"], [toward(0, 1)])
    add(store, "meaning.pdf", ["fruit of the orchard"], [toward(1)])
    add(store, "neither.pdf", ["steel"], [toward(0, 0, 1)])
    results = search(store, "apples pears", HYBRID, toward(1))
    assert names(results)[0] == "both.pdf"
    assert set(names(results)) == {"both.pdf", "words.pdf", "meaning.pdf"}


def test_a_hybrid_score_is_its_two_scores_weighted(store: Store) -> None:
    for number in range(300):  # more than the candidates by meaning: some are found by their words alone
        add(store, f"{number:03}.pdf", [f"apples {number} {'pears' * (number % 7 == 0)}"], [toward(99, number)])
    words, meaning, hybrid = (
        {Path(hit.path).name: hit.score for hit in search(store, "apples pears", mode, toward(1), k=300).hits}
        for mode in (WORDS, MEANING, HYBRID)
    )
    assert hybrid["000.pdf"] == max(hybrid.values())
    assert "294.pdf" in hybrid
    for name, score in hybrid.items():
        assert score == pytest.approx(0.6 * words.get(name, 0.0) + 0.4 * meaning[name], abs=1e-6), name


def test_hybrid_without_a_vector_runs_words_and_says_so(store: Store) -> None:
    add(store, "a.pdf", ["apples"], [toward(1)])
    results = search(store, "apples", HYBRID)
    assert (results.mode, names(results)) == (WORDS, ["a.pdf"])
    assert "words only" in results.note


def test_meaning_without_a_vector_is_a_mistake_of_the_caller(store: Store) -> None:
    with pytest.raises(ValueError, match="vector"):
        search(store, "apples", MEANING)
    add(store, "a.pdf", ["apples"], [toward(1)])
    with pytest.raises(ValueError, match="shape"):
        search(store, "apples", MEANING, np.ones(7, np.float32) / np.float32(np.sqrt(7)))


def test_an_index_without_any_model_is_searched_by_words(tmp_path: Path) -> None:
    with Store.open(tmp_path / "other.db", root=ROOT) as store:
        add(store, "a.pdf", ["apples"])
        results = search(store, "apples", HYBRID, toward(1))
        assert (results.mode, names(results), results.note) == (WORDS, ["a.pdf"], "No document has vectors yet")
        assert search(store, "apples", MEANING, toward(1)).hits == ()


def test_documents_that_wait_for_vectors_are_mentioned(store: Store) -> None:
    add(store, "a.pdf", ["apples"], [toward(1)])
    add(store, "b.pdf", ["apples too"])
    results = search(store, "apples", HYBRID, toward(1))
    assert (results.mode, set(names(results))) == (HYBRID, {"a.pdf", "b.pdf"})
    assert results.note == "1 document cannot be searched by meaning yet"
    assert search(store, "apples", WORDS).note == ""


@pytest.mark.parametrize("mode", list(SearchMode))
def test_phrases_and_exclusions_filter_every_mode(store: Store, mode: SearchMode) -> None:
    add(store, "phrase.pdf", ["a state space model"], [toward(1, 2)])
    add(store, "excluded.pdf", ["a state space model of transformers"], [toward(1, 1)])
    add(store, "apart.pdf", ["the state of a space"], [toward(1)])
    assert names(search(store, '"state space" -transformer', mode, toward(1))) == ["phrase.pdf"]
    assert set(names(search(store, "space -transformer", mode, toward(1)))) == {"apart.pdf", "phrase.pdf"}
    assert names(search(store, '"space state"', mode, toward(1))) == []


@pytest.mark.parametrize("mode", list(SearchMode))
def test_in_and_type_keep_every_mode_to_some_files(store: Store, mode: SearchMode) -> None:
    for path in ("law/a.pdf", "law/b.md", "law/old/c.pdf", "essays/d.pdf"):
        add(store, path, [f"Apples of {path}."], [toward(1)])

    def found(query: str, under: str = "") -> set[str]:
        return set(names(search(store, f"apples {query}", mode, toward(1), under=under)))

    assert found("in:law") == {"law/a.pdf", "law/b.md", "law/old/c.pdf"}
    assert found("in:law type:pdf -in:old") == {"law/a.pdf"}
    assert found("-type:pdf") == {"law/b.md"}
    assert found("type:pdf", under="law") == {"law/a.pdf", "law/old/c.pdf"}
    assert found("in:ess", under="law") == set()


def test_where_no_file_is_asked_the_note_says_so(store: Store) -> None:
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


def test_copies_are_one_hit_named_by_the_first_path_that_may_be_shown(store: Store) -> None:
    add(store, "b/original.pdf", ["apples"], [toward(1)])
    content_hash = content_hash_of(store)
    assert store.link(FileStamp("a/copy.pdf", 1, 1, 1), content_hash)
    assert names(search(store, "apples", WORDS)) == ["a/copy.pdf"]
    assert names(search(store, "apples", WORDS, under="b")) == ["b/original.pdf"]
    assert names(search(store, "apples in:original", WORDS)) == ["b/original.pdf"]


def content_hash_of(store: Store) -> bytes:
    with store.reading() as db:
        return bytes(db.execute("SELECT hash FROM contents").get)


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_book_that_holds_all_the_best_passages_leaves_room_for_others(
    store: Store, mode: SearchMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searcher, "_N_CANDIDATES", 4)
    add(store, "book.pdf", [f"apples apples {number}" for number in range(30)], [toward(1)] * 30)
    add(store, "b.pdf", ["a few apples in a long sentence of other words"], [toward(1, 1)])
    results = search(store, "apples", mode, toward(1), k=2, passages_per_document=3)
    assert names(results) == ["book.pdf", "b.pdf"]
    assert [hit.rank for hit in results.hits] == [1, 2]
    assert [len(hit.passages) for hit in results.hits] == [3, 1]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_nothing_more_is_asked_for_when_every_document_was_found(
    store: Store, mode: SearchMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searcher, "_N_CANDIDATES", 4)
    asked = []
    candidates = searcher._candidates
    monkeypatch.setattr(searcher, "_candidates", lambda db, plan, n: asked.append(n) or candidates(db, plan, n))
    add(store, "book.pdf", [f"apples {number}" for number in range(30)], [toward(1)] * 30)
    assert names(search(store, "apples", mode, toward(1), k=50)) == ["book.pdf"]
    assert asked == [4]


def test_the_word_being_typed_is_found_by_its_beginning(store: Store) -> None:
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


def test_an_empty_index_answers_with_nothing(store: Store) -> None:
    for mode in SearchMode:
        assert search(store, "apples", mode, toward(1)).hits == ()


def test_a_name_that_is_not_utf8_comes_back_as_it_is(store: Store) -> None:
    add(store, "bad\udcff\nname.pdf", ["apples"])
    assert search(store, "apples", WORDS).hits[0].path == "/papers/bad\udcff\nname.pdf"


def test_a_read_only_store_can_be_searched_beside_a_writer(store: Store) -> None:
    add(store, "a.pdf", ["apples"], [toward(1)])
    with Store.open(store.path, read_only=True) as reader:
        assert names(search(reader, "apples", HYBRID, toward(1))) == ["a.pdf"]


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
