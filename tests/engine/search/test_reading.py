"""The reader chooses the sentence of the best passages, and says whether any answers."""

from dataclasses import replace

import pytest

from longsearch.engine.answers.choosing import Choice
from longsearch.engine.index.opening import open_index
from longsearch.engine.reader.reading import Reader
from longsearch.engine.search.hits import placed
from longsearch.engine.search.reading import names_in, probability, read_answers
from longsearch.engine.store.records import Outline
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import Heading
from longsearch.engine.types.results import NOTHING_BELOW, Answer, ChanceLevel, SearchMode, SearchResults, Verdict
from tests.engine.fake_reader import FakeReader
from tests.engine.search.search_helpers import add, search

BEES = "The foragers fly home to her. A colony that has eaten through its honey in March needs syrup of sugar at once."


def read(store: Store, answers: float) -> SearchResults:
    with open_index(store.path) as index:
        found = search(store, "sugar for bees", SearchMode.WORDS)
        # a search without a table chooses no sentence
        passages = [replace(p, answer=0.0) for p in found.hits[0].passages]
        found = replace(found, hits=(replace(found.hits[0], passages=tuple(passages), language="en"),))
        return read_answers([index], found, "sugar for bees", FakeReader(answers))


def test_the_sentence_and_its_place_are_those_of_the_reader(store: Store) -> None:
    add(store, "bees.md", [BEES])
    passage = read(store, 3.0).hits[0].passages[0]
    assert passage.sentence == BEES[30:]
    assert passage.page == 1
    assert passage.probability == pytest.approx(probability(3.0, passage.score))


@pytest.mark.parametrize(
    ("headings", "document_start", "sentence", "heading"),
    [
        ((Heading(1, "Keeping doses cold", 40),), 40, "Ice is best.", "Keeping doses cold"),
        ((), 0, "Ice is best.", ""),  # the title of a text file
        ((), 40, "Keeping doses cold\n\nIce is best.", ""),  # an item of a list, for all that is known
    ],
)
def test_a_heading_is_the_place_of_the_sentence_and_no_part_of_it(
    headings: tuple[Heading, ...], document_start: int, sentence: str, heading: str
) -> None:
    text = "Keeping doses cold\n\nIce is best. Frost is not."
    span, choice = (document_start, document_start + len(text)), Choice(0, text.index(" Frost"), 0.5)
    hit = placed(span, text, 0.5, Outline(title="", headings=headings), choice)
    assert (hit.sentence, hit.heading) == (sentence, heading)


def test_the_reader_ends_a_sentence_where_a_page_ends(store: Store) -> None:
    pages = ["Bees", "Courses run on Fridays", "Sugar is fed to bees in March"]
    add(store, "slides.pdf", pages)
    (hit,) = read(store, 3.0).hits
    text = "\n".join(pages[1:])
    both = replace(hit.passages[0], start=5, stop=5 + len(text), text=text)
    found = SearchResults("x", SearchMode.WORDS, "", 0.0, (replace(hit, passages=(both,)),))
    with open_index(store.path) as index:
        passage = read_answers([index], found, "sugar", FakeReader(3.0)).hits[0].passages[0]
    assert (passage.sentence, passage.page) == (pages[2], 3)


@pytest.mark.parametrize(("answers", "verdict"), [(9.0, Verdict.LIKELY), (-20.0, Verdict.NOTHING)])
def test_the_verdict_follows_the_most_likely_passage(store: Store, answers: float, verdict: Verdict) -> None:
    add(store, "bees.md", [BEES])
    assert read(store, answers).verdict is verdict


@pytest.mark.parametrize(
    ("probability", "verdict"), [(0.13, Verdict.NOTHING), (0.15, Verdict.UNSURE), (0.6, Verdict.LIKELY)]
)
def test_the_reader_decides_where_no_hit_is_better_than_chance(
    store: Store, probability: float, verdict: Verdict
) -> None:
    add(store, "bees.md", [BEES])
    (hit,) = read(store, 9.0).hits
    passages = tuple(replace(passage, probability=probability) for passage in hit.passages)
    by_chance = replace(hit, level=ChanceLevel.CHANCE, passages=passages)
    found = SearchResults("x", SearchMode.WORDS, "", 0.0, (by_chance,))
    assert found.verdict is verdict
    levels = {Verdict.NOTHING: ChanceLevel.CHANCE, Verdict.UNSURE: ChanceLevel.WEAK, Verdict.LIKELY: ChanceLevel.GOOD}
    assert found.with_levels_read().hits[0].level is levels[verdict]
    assert bool(found.with_levels_read().at_least("unsure").hits) is (verdict is not Verdict.NOTHING)


def test_a_lower_line_makes_only_the_likeliest_hit_unsure(store: Store) -> None:
    add(store, "bees.md", [BEES])
    (hit,) = read(store, 9.0).hits
    hits = tuple(
        replace(hit, passages=tuple(replace(passage, probability=probability) for passage in hit.passages))
        for probability in (0.12, 0.07)
    )
    found = SearchResults("x", SearchMode.WORDS, "", 0.0, hits, nothing_below=0.05)
    assert found.verdict is Verdict.UNSURE
    assert [hit.level for hit in found.with_levels_read().hits] == [ChanceLevel.WEAK, ChanceLevel.CHANCE]


def test_a_hit_that_was_not_read_is_not_likely_where_the_verdict_is_unsure(store: Store) -> None:
    add(store, "bees.md", [BEES])
    (hit,) = read(store, 9.0).hits
    unread = replace(hit, level=ChanceLevel.GOOD, passages=(replace(hit.passages[0], probability=None),))
    for likely, level in ((0.3, ChanceLevel.WEAK), (0.6, ChanceLevel.GOOD)):
        best = replace(hit, passages=(replace(hit.passages[0], probability=likely),))
        found = SearchResults("x", SearchMode.WORDS, "", 0.0, (best, unread)).with_levels_read()
        assert found.hits[1].level is level
        assert bool(found.at_least("likely").hits) is (found.verdict is Verdict.LIKELY)


def test_a_name_that_the_passage_lacks_makes_an_answer_less_likely(store: Store) -> None:
    add(store, "bees.md", [BEES], title="José and his bees")
    by_query = {}
    for query in ("does Jose feed sugar to bees in March", "does Henry feed sugar to bees in March"):
        with open_index(store.path) as index:
            found = read(store, 1.0)
            by_query[query[5:9]] = read_answers([index], found, query, FakeReader(1.0)).hits[0].passages[0]
    score = by_query["Jose"].score
    assert by_query["Jose"].probability == pytest.approx(probability(1.0, score))
    assert by_query["Henr"].probability == pytest.approx(probability(0.0, score))


@pytest.mark.parametrize(
    ("language", "query"), [("fr", "Quand est-ce que Marie est née ?"), ("de", "Wann ist die Marie geboren?")]
)
def test_a_missing_name_counts_in_other_languages_too_but_not_where_each_noun_has_a_capital(
    store: Store, language: str, query: str
) -> None:
    add(store, "bees.md", [BEES])
    hit = replace(read(store, 9.0).hits[0], language=language)
    likely = []
    for title in ("", "Marie"):
        found = replace(read(store, 9.0), hits=(replace(hit, title=title),))
        with open_index(store.path) as index:
            likely.append(read_answers([index], found, query, FakeReader(9.0)).hits[0].passages[0].probability or 0)
    assert (likely[0] < likely[1]) is (language == "fr")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Where was Jean de Rély born?", ["Jean", "Rély"]),
        ("The Effects of Sleep on Memory", []),
        ("It rained. Who knows I'm wet?", []),
        ("henry", []),
        ("what happens to my FB account at NASA or UNESCO", ["UNESCO"]),
    ],
)
def test_names_are_capitalised_words_but_not_those_of_a_title(query: str, names: list[str]) -> None:
    assert names_in(query) == names


def test_without_words_the_meaning_alone_counts() -> None:
    assert probability(-0.1, 0.13) < 0.14 < probability(-0.1, 0.13, meaning_alone=0.27)


@pytest.mark.parametrize(("words", "verdict"), [("asdkjh qwe", Verdict.NOTHING), ("telescope", Verdict.LIKELY)])
def test_words_that_neither_index_nor_reader_knows_have_no_answer(store: Store, words: str, verdict: Verdict) -> None:
    add(store, "bees.md", [BEES])
    found = replace(read(store, 9.0), n_with=dict.fromkeys(words.split(), 0))
    with open_index(store.path) as index:
        assert read_answers([index], found, words, FakeReader(9.0)).verdict is verdict


@pytest.mark.parametrize(
    ("query", "scores", "known", "line"),
    [
        ("how do I get a good crust", [0.3, 0.19, 0.1, 0.1, 0.1], 1, 0.05),
        ("how do I get a good crust", [0.3, 0.2, 0.1, 0.1, 0.1], 1, 0.1),
        ("how do I get a good crust", [0.3, 0.25, 0.1, 0.1, 0.1], 1, NOTHING_BELOW),
        ("how do I get a good crust", [0.3, 0.1], 1, NOTHING_BELOW),
        ("how do I get a good zorp", [0.3, 0.19, 0.1, 0.1, 0.1], 0, NOTHING_BELOW),
        ("When did Agnes Poole die?", [0.3, 0.19, 0.1, 0.1, 0.1], 1, 0.18),
    ],
)
def test_nothing_is_told_sooner_of_names_and_later_where_one_document_stands_out(
    store: Store, query: str, scores: list[float], known: int, line: float
) -> None:
    add(store, "bees.md", [BEES])
    found = read(store, 9.0)
    hits = tuple(replace(found.hits[0], score=score) for score in scores)
    found = replace(found, hits=hits, n_with={"asdkjh": known})
    with open_index(store.path) as index:
        judged = read_answers([index], found, query, FakeReader(9.0))
    assert judged.nothing_below == line


def test_the_line_of_nothing_falls_with_each_word_that_a_question_has_more_than_six(store: Store) -> None:
    add(store, "bees.md", [BEES])
    found, lines = read(store, 9.0), []
    for n_words in (6, 7, 14):
        asked = replace(found, n_with={str(number): 1 for number in range(n_words)})
        with open_index(store.path) as index:
            lines.append(read_answers([index], asked, "how is it", FakeReader(9.0)).nothing_below)
    assert lines[0] == NOTHING_BELOW
    assert lines[1:] == pytest.approx([0.1284, 0.0681], abs=1e-4)


def test_the_passage_of_the_best_sentence_stands_first(store: Store) -> None:
    add(store, "bees.md", [BEES])
    (hit,) = read(store, 9.0).hits
    first, second = (replace(hit.passages[0], start=start, score=0.5, answer=0.1) for start in (0, 1))
    found = SearchResults("x", SearchMode.WORDS, "", 0.0, (replace(hit, passages=(first, second)),))
    assert found.answers_first().hits[0].passages == (first, second)
    better = replace(second, answer=0.2)
    found = replace(found, hits=(replace(hit, passages=(first, better)),))
    assert found.answers_first().hits[0].passages == (better, first)


def test_a_sentence_that_no_reader_chose_counts_less_beside_its_passage(store: Store) -> None:
    add(store, "bees.md", [BEES])
    (hit,) = read(store, 9.0).hits
    for is_read in (True, False):
        near = Answer(hit, replace(hit.passages[0], answer=0.8, score=0.3, is_read=is_read))
        good = Answer(hit, replace(hit.passages[0], answer=0.6, score=0.45, is_read=is_read))
        assert (near.score > good.score) is is_read


def test_a_passage_in_a_language_that_the_reader_does_not_know_is_judged_by_nearness_and_keeps_its_sentence(
    store: Store,
) -> None:
    add(store, "bees.md", [BEES])
    found = read(store, 9.0)
    unread = tuple(replace(passage, probability=None) for passage in found.hits[0].passages)
    german = replace(found, hits=(replace(found.hits[0], language="de", passages=unread),))
    passage, by_nearness = german.hits[0].passages[0], {}
    for nearness, score in ((0.3, 0.15), (0.7, 0.5)):
        hit = replace(german.hits[0], passages=(replace(passage, answer=nearness, score=score),))
        with open_index(store.path) as index:
            judged = read_answers([index], replace(german, hits=(hit,)), "Wann ist es Zeit?", FakeReader(9.0))
            assert read_answers([index], replace(german, hits=(hit,)), "When is it?", FakeReader(9.0)).verdict is None
        assert judged.hits[0].passages[0].excerpt == passage.excerpt
        by_nearness[nearness] = judged.verdict
    assert by_nearness == {0.3: Verdict.NOTHING, 0.7: Verdict.LIKELY}


def test_without_a_reading_there_is_no_verdict_but_nothing_found_is_nothing() -> None:
    nothing = SearchResults("x", SearchMode.WORDS, "", 0.0, ())
    assert nothing.verdict is Verdict.NOTHING


def test_the_shipped_reader_finds_the_sentence_that_answers_and_misses_it_where_it_was_cut_out() -> None:
    reader = Reader.shipped()
    assert reader is not None
    whole, cut = reader.read("when should bees be fed sugar", [(BEES, "en"), (BEES[:29], "en")])
    assert whole.scores.argmax() == 1
    assert whole.answers > cut.answers + 1


@pytest.mark.parametrize("answers", [9.0, -20.0])
def test_reading_leaves_documents_their_order_and_their_scores(store: Store, answers: float) -> None:
    for number in range(3):
        add(store, f"{number}.md", [BEES + " Sugar." * number, "Bees."])
    with open_index(store.path) as index:
        found = search(store, "sugar for bees", SearchMode.WORDS)
        hits = tuple(
            replace(hit, language="en", passages=tuple(replace(one, answer=0.0) for one in hit.passages))
            for hit in found.hits
        )
        read = read_answers([index], replace(found, hits=hits), "sugar for bees", FakeReader(answers))
    assert len(read.hits) == 3
    assert read.is_read
    assert [(hit.path, hit.score) for hit in read.hits] == [(hit.path, hit.score) for hit in found.hits]
