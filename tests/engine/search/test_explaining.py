"""The points of a hit's words and vectors are the search's own: they add up to its score, in every mode."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.index import segment_words, sqlite
from longsearch.engine.index.index import keep
from longsearch.engine.index.lookup import Lookup
from longsearch.engine.search import calibration, chance
from longsearch.engine.search.fusion import both
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.segments.files import Segments
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import DocumentHit, SearchMode
from tests.engine.search.search_helpers import add, kept, toward
from tests.engine.search.search_helpers import search as plain_search
from tests.engine.store.store_helpers import DIM, of_store

HYBRID, MEANING, WORDS = SearchMode.HYBRID, SearchMode.MEANING, SearchMode.WORDS
FRUIT = ["apple", "pear", "plum", "kiwi", "fig", "quince", "medlar"]
search = partial(plain_search, explain=True)
measure = of_store(chance.measure)
QUERY = 'apple fig "plum kiwi" mango'


def fill(store: Store, seed: int, n_documents: int = 30) -> None:
    """Add documents of one to four passages; some passages have excerpts, some documents no vectors."""
    random = np.random.default_rng(seed)
    for number in range(n_documents):
        n = 1 + number % 4
        sentences = [" ".join([*random.choice(FRUIT, 6), "plum kiwi"][number % 2 :]) + f" {number}" for _ in range(n)]
        directions = [toward(*random.normal(size=DIM)) for _ in range(n)] if number % 5 else None
        excerpts = [[toward(*random.normal(size=DIM)) for _ in range(row % 3)] for row in range(n)]
        add(store, f"{seed}-{number}.md", sentences, directions, "apples and pears", excerpts=excerpts)


def points(hit: DocumentHit) -> float:
    assert hit.reason is not None
    return hit.reason.by_words + hit.reason.by_meaning


@pytest.fixture
def fruit(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An index with segments of words, and passages that are in none yet."""
    monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
    monkeypatch.setattr(upkeep, "CHECK_EVERY", 4)
    fill(store, 1)
    with store.reading() as db:
        words = sqlite.SqliteBackend(Segments(db), 0).words(Lookup(('"apple"',), 1), 30)
        assert isinstance(words, segment_words.WordsBySegments)
    return store


@pytest.mark.parametrize("mode", SearchMode)
@pytest.mark.parametrize("is_by_segments", [False, True])
def test_the_points_of_all_parts_add_up_to_the_score(
    fruit: Store, mode: SearchMode, is_by_segments: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_by_segments:
        monkeypatch.setattr(sqlite, "parts_of", lambda *_: None)
    for text in (QUERY, "apple pear", "nothing of this", "pear pea"):
        hits = search(fruit, text, mode, toward(1, 2, 3), prefix_last=True, k=30).hits
        assert [points(hit) for hit in hits] == pytest.approx([hit.score for hit in hits], abs=1e-9), text
        for hit in hits:
            assert hit.reason is not None
            assert (hit.reason.words == ()) == (mode is MEANING)
            assert mode is not WORDS or hit.reason.meaning == ()


def test_the_words_of_several_indexes_add_up_to_the_score_too(fruit: Store, tmp_path: Path) -> None:
    with Store.open(tmp_path / "other.db", root=Path("/other")) as other:
        other.use_model("model-a", DIM)
        fill(other, 2)
        for vectors in ([toward(1, 1), toward(1, 1)], [toward(1), None]):
            hits = search([fruit, other], QUERY, HYBRID, vectors=vectors, k=40).hits
            assert {hit.root for hit in hits} == {"/papers", "/other"}
            assert [points(hit) for hit in hits] == pytest.approx([hit.score for hit in hits], abs=1e-9)


def test_a_word_is_named_as_it_was_typed_and_gets_the_points_of_its_own_search(store: Store) -> None:
    add(store, "a.md", ["apple pear"])
    add(store, "b.md", ["apple kiwi"])
    add(store, "c.md", ["fig kiwi"])
    (best, _) = search(store, "apple pear unheard", WORDS).hits
    assert best.reason is not None
    apple, pear, unheard = best.reason.words
    assert (apple.word, pear.word, unheard.word) == ("apple", "pear", "unheard")
    assert (apple.n_passages, pear.n_passages, unheard.n_passages) == (2, 1, 0)
    assert pear.passage > apple.passage > 0 < apple.document < pear.document
    assert (unheard.passage, unheard.document) == (0, 0)


def test_the_vectors_of_passage_excerpt_and_document_get_their_weights(store: Store) -> None:
    excerpts = [[toward(0, 1), toward(1)], []]
    add(store, "a.md", ["one", "two"], [toward(3, 4), toward(0, 1)], whole=toward(4, 3), excerpts=excerpts)
    found = meaning_of_best(store)
    assert found["passage"] == pytest.approx((kept(3, 4), 0.35 * kept(3, 4)), abs=1e-6)
    assert found["excerpt"] == pytest.approx((1.0, 0.35), abs=1e-6)
    assert found["document"] == pytest.approx((kept(4, 3), 0.3 * kept(4, 3)), abs=1e-6)


def test_the_vector_of_a_document_of_one_passage_gets_no_points(store: Store) -> None:
    add(store, "a.md", ["one"], [toward(3, 4)], whole=toward(4, 3), excerpts=[[toward(0, 1), toward(1)]])
    found = meaning_of_best(store)
    assert found.keys() == {"passage", "excerpt"}
    assert found["passage"] == pytest.approx((kept(3, 4), 0.5 * kept(3, 4)), abs=1e-6)
    assert found["excerpt"] == pytest.approx((1.0, 0.5), abs=1e-6)


def meaning_of_best(store: Store) -> dict[str, tuple[float, float]]:
    """The cosine and the points of each vector of the best hit."""
    hit = search(store, "anything", MEANING, toward(1)).hits[0]
    assert hit.reason is not None
    return {share.vector_of: (share.cosine, share.points) for share in hit.reason.meaning}


def test_a_document_against_the_query_gets_no_points_by_meaning(store: Store) -> None:
    add(store, "a.md", ["apple", "pear"], [toward(-1)] * 2)
    (hit,) = search(store, "apple", HYBRID, toward(1)).hits
    assert hit.reason is not None
    assert [share.points for share in hit.reason.meaning] == [0, 0]
    assert points(hit) == pytest.approx(hit.score)


def test_a_list_without_words_has_no_reasons(store: Store) -> None:
    add(store, "a.md", ["apple"])
    assert [hit.reason for hit in search(store, "type:md", WORDS).hits] == [None]


def test_each_part_says_how_many_random_queries_it_beats(fruit: Store) -> None:
    random = np.random.default_rng(3)
    known = measure(fruit, lambda _: toward(*random.normal(size=DIM)))
    assert known is not None
    with fruit.changing() as db:
        keep(db, known)
    for mode in SearchMode:
        for hit in search(fruit, QUERY, mode, toward(1, 2, 3)).hits:
            reason = hit.reason
            assert reason is not None
            assert reason.lines == calibration.LINES[mode]
            assert reason.beats == known.beaten(hit.score, mode.value)
            assert (reason.words_beat is None) == (mode is MEANING)
            assert (reason.meaning_beats is None) == (not reason.meaning)
            for share in reason.meaning:
                assert share.beats == known.beaten(share.cosine, share.vector_of) is not None
            if mode is HYBRID and reason.words_beat is not None:
                assert reason.words_beat == known.beaten(reason.by_words / both(1.0, 0.0), WORDS.value)


def test_a_search_has_reasons_only_if_it_is_asked_for_them(fruit: Store) -> None:
    assert {hit.reason for hit in plain_search(fruit, QUERY, WORDS).hits} == {None}


def test_the_segments_give_each_word_what_fts5_gives_it(fruit: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("apple fig", '"plum kiwi" pear', "medlar pea"):
        by_segments = search(fruit, text, WORDS, prefix_last=True, k=30).hits
        with monkeypatch.context() as patch:
            patch.setattr(sqlite, "parts_of", lambda *_: None)
            by_fts5 = search(fruit, text, WORDS, prefix_last=True, k=30).hits
        for one, other in zip(by_segments, by_fts5, strict=True):
            assert one.reason is not None
            assert other.reason is not None
            for left, right in zip(one.reason.words, other.reason.words, strict=True):
                assert (left.word, left.n_passages) == (right.word, right.n_passages)
                assert (left.passage, left.document) == pytest.approx((right.passage, right.document), abs=1e-9)
