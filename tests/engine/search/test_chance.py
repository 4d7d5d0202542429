"""A hit says how much better it is than what queries of random words find in the same index."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from longsearch.engine.index.index import Background
from longsearch.engine.index.index import keep as keep_in
from longsearch.engine.index.opening import open_index
from longsearch.engine.search import calibration, chance
from longsearch.engine.search.calibration import level_of
from longsearch.engine.search.chance import N_QUERIES, made_up_queries
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import ChanceLevel, SearchMode
from tests.engine.search.search_helpers import add, search, toward
from tests.engine.store.store_helpers import DIM, of_store

CHANCE, WEAK, GOOD = ChanceLevel.CHANCE, ChanceLevel.WEAK, ChanceLevel.GOOD
measure, random_queries = of_store(chance.measure), of_store(chance.random_queries)
is_stale = of_store(calibration.is_stale)
WORDS = [f"word{number}" for number in range(60)]


def encode(text: str) -> NDArray[np.float32]:
    """Return a vector that depends on nothing but the text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    return toward(*np.random.default_rng(seed).standard_normal(DIM))


@pytest.fixture
def full(store: Store) -> Store:
    """An index of forty documents of one passage."""
    for number in range(40):
        text = " ".join(WORDS[(number + step * 7) % 60] for step in range(6))
        add(store, f"{number}.md", [text], [encode(text)])
    return store


def of(*scores: float, n_passages: int = 40) -> Background:
    kinds = [*(mode.value for mode in SearchMode), "passage", calibration.MADE_UP]
    return Background("model-a", n_passages, {kind: sorted(scores) for kind in kinds})


def keep(store: Store, known: Background) -> None:
    with store.changing() as db:
        keep_in(db, known)


def test_a_level_says_how_much_of_the_background_a_score_beats() -> None:
    known = of(*(number / 100 for number in range(100)))
    assert [level_of(known, score, SearchMode.WORDS) for score in (0.0, 0.09, 0.1, 0.39, 0.4, 1.0)] == [
        CHANCE, CHANCE, WEAK, WEAK, GOOD, GOOD,
    ]  # fmt: skip


def test_random_queries_are_words_of_the_index_and_always_the_same(full: Store) -> None:
    queries = random_queries(full)
    assert queries == random_queries(full)
    assert random_queries(full, seed=1) != queries
    assert len(queries) == N_QUERIES
    assert all(3 <= len(query.split()) <= 8 and set(query.split()) <= set(WORDS) for query in queries)


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        ("このガイドは、オープンソースのプロジェクトを始めたい人のために書かれました", 4),
        ("เอกสารนี้อธิบายวิธีการติดตั้งระบบและการตั้งค่าเครือข่าย", 12),  # four letters with their signs
        ("위원회는 같은 밸브가 이전에도 아홉 번이나 고장 났다는 사실을 발견했다", 4),
    ],
)
def test_a_random_word_of_a_script_without_spaces_is_a_few_neighbouring_characters(
    store: Store, text: str, longest: int
) -> None:
    add(store, "one.md", [text])
    words = [word for query in random_queries(store) for word in query.split()]
    assert all(word in text and len(word) <= longest for word in words)
    assert len(set(words)) > 20


def test_a_random_word_keeps_its_vowel_signs(store: Store) -> None:
    text = "यह पुस्तक उन लोगों के लिए है जो मुक्त स्रोत परियोजनाओं में योगदान देना चाहते हैं"
    add(store, "one.md", [text])
    queries = random_queries(store)
    assert {word for query in queries for word in query.split()} == set(text.split())


def test_made_up_queries_are_words_that_no_index_has_and_always_the_same() -> None:
    queries = made_up_queries()
    assert queries == made_up_queries()
    assert made_up_queries(seed=1) != queries
    assert len(queries) == N_QUERIES
    assert all(3 <= len(query.split()) <= 8 for query in queries)
    assert all(4 <= len(word) <= 8 and word.isalpha() for query in queries for word in query.split())


def test_a_score_by_meaning_must_be_better_than_that_of_made_up_words(full: Store) -> None:
    """These stand at the first passage. Random words of the index are near to none, and would reach little."""
    made_up = set(made_up_queries())
    (text,) = (" ".join(WORDS[(3 + step * 7) % 60] for step in range(6)),)
    known = measure(full, lambda query: encode(text) if query in made_up else -encode(text))
    assert known is not None
    highest = known.scores[calibration.MADE_UP][0]
    assert set(known.scores[calibration.MADE_UP]) == set(known.scores["meaning"]) == {highest}
    assert known.scores["passage"][-1] < highest
    assert level_of(known, highest, SearchMode.MEANING) is CHANCE
    assert level_of(known, highest + 0.01, SearchMode.MEANING) is GOOD


def test_the_meaning_may_lift_a_hybrid_hit_about_which_words_say_little_and_never_lowers_one() -> None:
    scores = {"hybrid": [0.4] * 10, "meaning": [number / 10 for number in range(10)]}
    known = Background("model-a", 40, scores)
    assert level_of(known, 0.3, SearchMode.HYBRID) is CHANCE
    assert [level_of(known, 0.3, SearchMode.HYBRID, alone) for alone in (0.3, 0.6, 0.9)] == [CHANCE, WEAK, GOOD]
    assert level_of(known, 0.5, SearchMode.HYBRID, 0.0) is GOOD


@pytest.mark.parametrize(
    ("query", "alone"),
    [
        ("word3 word10", [None, 0.0]),  # the words are in the first document alone
        ("word3 wort drei zehn", [1.0, 0.0]),  # most words are in none
        ("drei zehn", [1.0, 0.0]),
    ],
)
def test_words_say_too_little_about_a_hit_without_them_and_if_most_are_nowhere(
    store: Store, query: str, alone: list[float | None]
) -> None:
    add(store, "first.md", ["word3 word10 word17"], [toward(1)])
    add(store, "second.md", ["word4 word11 word18"], [toward(0, 1)])
    hits = {Path(hit.path).name: hit for hit in search(store, query, SearchMode.HYBRID, toward(1, 0.01)).hits}
    found = [hits[name].meaning_alone if name in hits else 0.0 for name in ("first.md", "second.md")]
    assert found == pytest.approx(alone, abs=0.02)
    assert {hit.meaning_alone for hit in search(store, query, SearchMode.MEANING, toward(1)).hits} == {None}


def test_an_empty_index_has_no_random_queries_and_no_background(store: Store) -> None:
    assert random_queries(store) == []
    assert not is_stale(store)
    assert measure(store, encode) is None


def test_hits_have_levels_once_the_index_is_calibrated(full: Store) -> None:
    (text,) = (" ".join(WORDS[(3 + step * 7) % 60] for step in range(6)),)
    assert {hit.level for hit in search(full, text, SearchMode.HYBRID, encode(text)).hits} == {None}
    known = measure(full, encode)
    assert known is not None
    assert known.n_passages == 40
    assert all(len(scores) == N_QUERIES for scores in known.scores.values())
    keep(full, known)
    for mode in SearchMode:
        hits = search(full, text, mode, encode(text)).hits
        assert hits[0].level is GOOD
        assert hits[-1].level is not GOOD
        order = [list(ChanceLevel).index(hit.level) for hit in hits if hit.level]
        assert order == sorted(order, reverse=True)
        assert [hit.level for hit in hits] == [level_of(known, hit.score, mode, hit.meaning_alone) for hit in hits]


def test_measuring_stops_when_it_must(full: Store) -> None:
    assert measure(full, encode, must_stop=lambda: True) is None


def test_a_background_is_stale_if_the_index_or_its_model_changes(full: Store) -> None:
    assert is_stale(full)
    keep(full, of(0.1))
    assert not is_stale(full)
    before = of(0.1)
    keep(full, Background("model-a", 40, {kind: before.scores[kind] for kind in before.scores if kind != "made-up"}))
    assert is_stale(full)
    keep(full, before)
    for number in range(11):
        add(full, f"new{number}.md", [f"more of word{number}"], [toward(1)])
    assert is_stale(full)
    keep(full, of(0.1, n_passages=51))
    assert not is_stale(full)
    add(full, "waiting.md", ["this has no vector yet"])
    keep(full, of(0.1, n_passages=9))
    assert not is_stale(full)  # it is measured once nothing waits
    full.forget(["waiting.md"])
    assert is_stale(full)
    keep(full, Background("model-b", 51, {}))
    assert is_stale(full)
    with open_index(full.path) as index:
        assert index.background is None


def test_in_several_folders_chance_is_that_of_the_folder_where_it_reaches_most(full: Store, tmp_path: Path) -> None:
    keep(full, of(0.01))
    with Store.open(tmp_path / "other.db", root=Path("/other")) as other:
        other.use_model("model-a", DIM)
        add(other, "a.md", ["word1 word8"], [toward(1)])
        levels = {hit.level for hit in search([full, other], "word1 word8", SearchMode.WORDS).hits}
        assert levels == {GOOD}  # the other folder was not calibrated
        keep(other, of(0.999))
        levels = {hit.level for hit in search([full, other], "word1 word8", SearchMode.WORDS).hits}
        assert levels == {CHANCE}
