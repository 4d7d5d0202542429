"""Lists of references, contents and indexes are weighed down, named, and never lit before a sentence that answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from longsearch.engine.search.searcher import FURNITURE_WEIGHT
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.engine.search.search_helpers import add, names, search, toward
from tests.engine.store.store_helpers import open_store

QUERY = "saline water and the germination of barley"
REFERENCES = (
    "[1] Abel, K. Saline water and the germination of barley. Journal of Dry Farming 11, pp. 8-16, 2001.\n\n"
    "[2] Brandt, L. Saline water and the germination of barley seed. Journal of Dry Farming 12, pp. 15-23, 2002.\n\n"
    "[3] Cole, M. Germination of barley in saline water. Journal of Dry Farming 13, pp. 22-30, 2003."
)
PROSE = "We soaked barley in saline water. Half as many seeds sprouted, so its germination suffers."
OTHER = "The gardener weighed the tubers of each plot and noted the weather, the soil and the date of lifting."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "index.db") as store:
        yield store


def filled(store: Store) -> None:
    store.use_model("model-a", len(toward(1)))
    add(store, "potatoes.md", [OTHER, REFERENCES], [toward(0, 1), toward(1)])
    add(store, "salt.md", [PROSE], [toward(1, 0.5)])


@pytest.mark.parametrize("mode", SearchMode)
def test_a_text_comes_before_a_list_of_references_that_has_its_words(store: Store, mode: SearchMode) -> None:
    filled(store)
    results = search(store, QUERY, mode, toward(1), explain=True)
    assert names(results) == ["salt.md", "potatoes.md"]
    listed = next(passage for passage in results.hits[1].passages if passage.text == REFERENCES)
    assert listed.furniture == "references"
    assert {passage.furniture for hit in results.hits for passage in hit.passages} == {"", "references"}


def test_the_points_of_a_list_add_up_to_its_score(store: Store) -> None:
    store.use_model("model-a", len(toward(1)))
    add(store, "potatoes.md", [REFERENCES], [toward(1)])
    (hit,) = search(store, QUERY, SearchMode.HYBRID, toward(1), explain=True).hits
    assert hit.reason is not None
    assert hit.reason.weight == FURNITURE_WEIGHT
    assert hit.reason.by_words + hit.reason.by_meaning == pytest.approx(hit.score)


def test_a_list_that_alone_has_the_words_is_found(store: Store) -> None:
    filled(store)
    assert names(search(store, "dry farming journal", SearchMode.WORDS)) == ["potatoes.md"]


@pytest.mark.parametrize(("nearest", "first"), [(0, "both.md"), (1, "salt.md")])
def test_a_passage_of_text_and_list_is_weighed_down_if_the_list_is_nearest(
    store: Store, nearest: int, first: str
) -> None:
    store.use_model("model-a", len(toward(1)))
    prose = "The gardener takes salt. " * 20
    both = prose + "\n\n" + REFERENCES.split("\n\n")[0]
    cuts = [toward(0, 1)] * (len(both) // 10)
    cuts[len(prose) // 10 + 3 if nearest else 0] = toward(1)
    add(store, "both.md", [both], [toward(1)], excerpts=[cuts])
    add(store, "salt.md", [PROSE], [toward(1, 0.3)], excerpts=[[toward(1, 0.3)]])
    assert names(search(store, QUERY, SearchMode.MEANING, toward(1)))[0] == first


def test_an_older_index_learns_of_its_lists(store: Store) -> None:
    filled(store)
    before = search(store, QUERY, SearchMode.WORDS)
    with store.changing() as db:
        db.execute("UPDATE contents SET furniture = NULL")
    after = search(store, QUERY, SearchMode.WORDS)
    assert after.hits != before.hits
    assert {passage.furniture for hit in after.hits for passage in hit.passages} == {""}
    while store.index_words_again():
        pass
    assert search(store, QUERY, SearchMode.WORDS).hits == before.hits


def test_lists_in_passages_that_follow_each_other_are_one_part(store: Store) -> None:
    document_id = add(store, "potatoes.md", [OTHER, REFERENCES, REFERENCES, OTHER])
    with store.reading() as db:
        (packed,) = db.execute("SELECT furniture FROM contents").fetchone()
        first = db.execute("SELECT min(id) FROM passages WHERE content_id = ?", (document_id,)).get
    start, stop = len(OTHER) + 1, len(OTHER) + 2 * len(REFERENCES) + 2
    assert packed == f'[[{start}, {stop}, "references", {first + 1}, {first + 2}, []]]'
