"""How passages and documents are scored by words, by meaning and by both; the evaluation gives the same scores."""

import math
from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.evaluation.bm25_index import Bm25
from longsearch.engine.evaluation.our_vectors import passage_scores, whole_excerpts
from longsearch.engine.languages.detection import language_of
from longsearch.engine.languages.document_words import indexed_names
from longsearch.engine.readouts.parts import Excerpts
from longsearch.engine.search.fusion import WEIGHT_OF_DOCUMENT, WEIGHT_OF_DOCUMENT_WORDS, mixed
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.engine.search.search_helpers import add, kept, names, search, toward
from tests.engine.store.store_helpers import DIM

HYBRID, MEANING, WORDS = SearchMode.HYBRID, SearchMode.MEANING, SearchMode.WORDS


def test_the_score_by_words_is_a_share_of_the_highest_bm25_of_passage_and_document(store: Store) -> None:
    add(store, "a.pdf", ["apple apple apple pear", "kiwi kiwi kiwi kiwi", "apple kiwi kiwi kiwi"])
    add(store, "b.pdf", ["apple plum plum plum", "kiwi kiwi kiwi fig"])
    add(store, "c.pdf", ["kiwi kiwi kiwi kiwi"])
    results = search(store, "apple fig", WORDS)
    idf_apple, idf_fig = 1e-6, math.log((6 - 1 + 0.5) / 1.5)  # three of six passages hold it: FTS5's lowest idf
    mean = (6 * 4 + 3 * 3) / 6  # 4 words each; three first passages have their file's name in words and twice whole
    apples = idf_apple * 3 / (3 + 1.2 * (0.25 + 0.75 * 7 / mean))
    fig = idf_fig * 1 / (1 + 1.2 * (0.25 + 0.75 * 4 / mean))
    highest = idf_apple + idf_fig
    # idf over documents: two of three hold apple, one holds fig; they have 3, 2 and 1 passages, 2 on average
    in_documents = {"apple": math.log(1 + 1.5 / 2.5), "fig": math.log(1 + 2.5 / 1.5)}
    a = in_documents["apple"] * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)) / sum(in_documents.values())
    b = 1 / (1 + 1.2)
    scores = {name: hit.score for name, hit in zip(names(results), results.hits, strict=True)}
    expected = {"a.pdf": 0.6 * apples / highest + 0.4 * a, "b.pdf": 0.6 * fig / highest + 0.4 * b}
    assert scores == pytest.approx(expected)


def test_a_page_is_found_by_words_on_other_pages_of_its_document(store: Store) -> None:
    add(store, "other.pdf", ["A report to all owners.", "Revenue rose by a tenth.", "We thank all our owners."])
    add(store, "acme.pdf", ["Acme reports to its owners.", "Revenue rose by a tenth.", "We thank all of Acme."])
    (best, second) = search(store, "Acme revenue rose", WORDS).hits
    assert (best.path, best.passages[0].text) == ("/papers/acme.pdf", "Revenue rose by a tenth.")
    assert best.score > second.score


def test_a_passage_found_by_meaning_alone_gets_its_documents_score_by_words(store: Store) -> None:
    add(store, "other.pdf", ["Sales went up."], [toward(1)])
    add(store, "acme.pdf", ["Sales went up.", "We are Acme."], [toward(1), toward(0, 1)], whole=toward(1))
    (best, second) = search(store, "Acme revenue", HYBRID, toward(1)).hits
    assert (best.path, best.passages[0].text) == ("/papers/acme.pdf", "Sales went up.")
    assert second.score == pytest.approx(0.4)


@pytest.mark.parametrize(("query", "kept"), [("apple kiwi", 1), ("apple kiwi nein", 1), ("apple nein wort", 5 / 9)])
def test_a_hybrid_search_trusts_words_less_if_the_index_knows_few_of_them(
    store: Store, query: str, kept: float
) -> None:
    add(store, "a.md", ["apple pear"], [toward(-1)])
    add(store, "b.md", ["kiwi plum"], [toward(-1)])
    by_words = {hit.path: hit.score for hit in search(store, query, WORDS).hits}
    mixed = {hit.path: hit.score for hit in search(store, query, HYBRID, toward(1)).hits}
    assert mixed == pytest.approx({path: 0.6 * kept * score for path, score in by_words.items()})


def test_the_evaluation_scores_words_as_the_search_does(store: Store) -> None:
    random = np.random.default_rng(5)
    words = ["apple", "pear", "plum", "kiwi", "fig", "quince", "medlar"]
    contents = [[" ".join(random.choice(words, 6)) for _ in range(1 + number % 4)] for number in range(9)]
    for number, sentences in enumerate(contents):
        add(store, f"{number}.pdf", sentences)
    languages = [language_of("\n".join(sentences)) for sentences in contents for _ in sentences]
    texts = [
        sentence if ordinal else f"{sentence} {indexed_names('', [f'{number}.pdf'], [], '')}"
        for number, sentences in enumerate(contents)
        for ordinal, sentence in enumerate(sentences)
    ]
    index = Bm25(texts, languages)
    documents = np.repeat(np.arange(9), [len(sentences) for sentences in contents])
    for query in ("apple", "fig quince", "medlar pear plum kiwi"):
        shares, found = index.of_documents(query, documents), zip(*index.rank(query, 99), strict=True)
        expected: dict[str, float] = {}
        for row, score in found:
            name = f"{documents[row]}.pdf"
            own = mixed(float(score), shares[int(documents[row])], WEIGHT_OF_DOCUMENT_WORDS)
            expected[name] = max(expected.get(name, 0), own)
        results = search(store, query, WORDS)
        assert {name: hit.score for name, hit in zip(names(results), results.hits, strict=True)} == pytest.approx(
            expected
        )


def test_meaning_ranks_by_cosine(store: Store) -> None:
    add(store, "near.pdf", ["one", "two"], [toward(0, 1), toward(3, 4)], whole=toward(3, 4))
    add(store, "far.pdf", ["three"], [toward(1, 10)])
    add(store, "against.pdf", ["four"], [toward(-1)])
    results = search(store, "anything", MEANING, toward(1))
    assert names(results) == ["near.pdf", "far.pdf"]
    assert [hit.score for hit in results.hits] == pytest.approx([kept(3, 4), kept(1, 10)], abs=1e-6)
    assert [passage.text for passage in results.hits[0].passages] == ["two", "one"]


def test_of_two_equal_passages_the_passage_in_the_nearer_document_ranks_first(store: Store) -> None:
    add(store, "aside.pdf", ["one", "two"], [toward(3, 4)] * 2, whole=toward(0, 1))
    add(store, "on it.pdf", ["three", "four"], [toward(3, 4)] * 2, whole=toward(1))
    results = search(store, "anything", MEANING, toward(1))
    assert names(results) == ["on it.pdf", "aside.pdf"]
    assert [hit.score for hit in results.hits] == pytest.approx([0.7 * kept(3, 4) + 0.3, 0.7 * kept(3, 4)], abs=1e-6)


def test_the_vector_of_a_document_of_one_passage_does_not_count(store: Store) -> None:
    add(store, "aside.pdf", ["one"], [toward(3, 4)], whole=toward(0, 1))
    (hit,) = search(store, "anything", MEANING, toward(1)).hits
    assert hit.score == pytest.approx(kept(3, 4), abs=1e-6)


def test_a_passages_own_score_by_meaning_is_half_its_cosine_and_half_its_nearest_excerpts(store: Store) -> None:
    add(store, "a.pdf", ["one", "two"], [toward(3, 4)] * 2, excerpts=[[toward(0, 1), toward(1)], []])
    add(store, "b.pdf", ["three"], [toward(3, 4)], excerpts=[[toward(4, 3), toward(0, 1)]])
    results = search(store, "anything", MEANING, toward(1))
    scores, own = {hit.path[-5]: [one.score for one in hit.passages] for hit in results.hits}, kept(3, 4)
    assert scores["a"] == pytest.approx([0.7 * (own / 2 + 0.5) + 0.3 * own, own], abs=1e-6)
    assert scores["b"] == pytest.approx([0.3 + 0.5 * 0.8], abs=0.02)  # four bits round 0.8


def test_the_excerpts_of_an_index_weigh_what_its_model_says(store: Store) -> None:
    store.use_model("model-a", DIM, excerpt_weight=0.8)
    add(store, "a.pdf", ["one"], [toward(3, 4)], excerpts=[[toward(0, 1), toward(1)]])
    (hit,) = search(store, "anything", MEANING, toward(1), explain=True).hits
    assert hit.score == pytest.approx(0.2 * kept(3, 4) + 0.8, abs=1e-6)
    assert hit.reason
    assert sum(share.points for share in hit.reason.meaning) == pytest.approx(hit.score)


def test_the_evaluation_scores_meaning_as_the_search_does(store: Store) -> None:
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
    alone = passage_scores(query[None], np.stack(passages), whole, n_excerpts, 0.5)[0]
    of_passage = np.repeat(np.arange(8), [len(own) for own in sizes])
    is_alone = np.repeat([len(own) == 1 for own in sizes], [len(own) for own in sizes])
    scores = np.where(is_alone, alone, mixed(alone, (np.stack(documents) @ query)[of_passage], WEIGHT_OF_DOCUMENT))
    best = {f"{number}.pdf": scores[of_passage == number].max() for number in range(8)}
    expected = {name: score for name, score in best.items() if score > 0}
    results = search(store, "anything", MEANING, query)
    found = {name: hit.score for name, hit in zip(names(results), results.hits, strict=True)}
    assert found == pytest.approx(expected, abs=0.06)  # four bits round coarsely


def test_an_unfinished_document_is_ranked_by_its_passages_alone(store: Store) -> None:
    document_id = add(store, "begun.pdf", ["one", "two"])
    store.add_vectors(document_id, 0, toward(3, 4)[None], 5, None)
    (hit,) = search(store, "anything", MEANING, toward(1)).hits
    assert hit.score == pytest.approx(kept(3, 4), abs=1e-6)


def test_hybrid_ranks_first_the_document_that_matches_both_words_and_meaning(store: Store) -> None:
    add(store, "both.pdf", ["apples and pears"], [toward(4, 1)])
    add(store, "words.pdf", ["apples and apples"], [toward(0, 1)])
    add(store, "meaning.pdf", ["fruit of the orchard"], [toward(1)])
    add(store, "neither.pdf", ["steel"], [toward(0, 0, 1)])
    results = search(store, "apples pears", HYBRID, toward(1))
    assert names(results)[0] == "both.pdf"
    assert set(names(results)) == {"both.pdf", "words.pdf", "meaning.pdf"}


def test_a_hybrid_score_is_the_weighted_sum_of_the_scores_by_words_and_by_meaning(store: Store) -> None:
    for number in range(300):  # more than the candidates by meaning: words alone find some
        add(store, f"{number:03}.pdf", [f"apples {number} {'pears' * (number % 7 == 0)}"], [toward(99, number)])
    words, meaning, hybrid = (
        {Path(hit.path).name: hit.score for hit in search(store, "apples pears", mode, toward(1), k=300).hits}
        for mode in (WORDS, MEANING, HYBRID)
    )
    assert hybrid["000.pdf"] == max(hybrid.values())
    assert "294.pdf" in hybrid
    for name, score in hybrid.items():
        assert score == pytest.approx(0.6 * words.get(name, 0.0) + 0.4 * meaning[name], abs=1e-6), name
