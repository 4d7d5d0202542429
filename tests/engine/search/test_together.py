"""Several indexes that are searched together answer as one index of all their documents would."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from longsearch.engine.index.bm25 import pooled
from longsearch.engine.index.lookup import any_of, lookup
from longsearch.engine.query_language.query import parse
from longsearch.engine.store import keywords, languages, lifecycle
from longsearch.engine.store.languages import IndexLanguages
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import MetadataValue
from longsearch.engine.types.results import DocumentHit, SearchMode, SearchResults
from tests.engine.search.search_helpers import add, search, toward
from tests.engine.store.store_helpers import DIM

HYBRID, MEANING, WORDS = SearchMode.HYBRID, SearchMode.MEANING, SearchMode.WORDS
WORD_LIST = ("apple", "pear", "plum", "stone", "tree", "running")


@contextmanager
def opened(folder: Path, n: int) -> Iterator[list[Store]]:
    """Yield `n` empty indexes of the folders /0, /1 and so on, for vectors of one model."""
    with ExitStack() as stack:
        paths = [folder / f"{number}.db" for number in range(n)]
        for path in paths:
            path.unlink(missing_ok=True)
        stores = [stack.enter_context(Store.open(path, root=Path(f"/{number}"))) for number, path in enumerate(paths)]
        for store in stores:
            store.use_model("model-a", DIM)
        yield stores


def scores(results: SearchResults) -> dict[str, list[float]]:
    """Return the scores of each document's passages, by the document's name."""
    return {Path(hit.path).name: [passage.score for passage in hit.passages] for hit in results.hits}


sentence = st.lists(st.sampled_from(WORD_LIST), min_size=1, max_size=6).map(" ".join)
direction = st.lists(st.integers(-3, 3), min_size=DIM, max_size=DIM).filter(any).map(lambda weights: toward(*weights))
whole_document = st.tuples(
    st.lists(st.tuples(sentence, direction), min_size=1, max_size=3), st.booleans(), st.sampled_from(("·", *WORD_LIST))
)
query_text = st.one_of(
    sentence,
    st.sampled_from(('"apple pear"', "apple -plum", '"stone" tree in:1', "app type:pdf", "½ apple", "nowhere apple")),
)


@given(
    of_folders=st.lists(st.lists(whole_document, max_size=4), min_size=1, max_size=4),
    query=query_text,
    vector=direction,
    k=st.integers(1, 12),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_the_ranking_of_several_indexes_is_that_of_one(
    tmp_path: Path, of_folders: list[list], query: str, vector: NDArray[np.float32], k: int
) -> None:
    n_documents = sum(map(len, of_folders))
    with opened(tmp_path, len(of_folders) + 1) as (whole, *parts):
        number = 0
        for store, listed in zip(parts, of_folders, strict=True):
            for passages, has_vectors, title in listed:
                # the number makes each document's text, and so its hash, its own
                texts = [text for text, _ in passages[:-1]] + [f"{passages[-1][0]} {number}"]
                vectors = [towards for _, towards in passages] if has_vectors else None
                for each in (store, whole):
                    add(each, f"{number}.pdf", texts, vectors, title)
                number += 1
        for mode in SearchMode:
            assert_ranked_alike(whole, parts, query, mode, None if mode is WORDS else vector, (n_documents + 1, k))


def assert_ranked_alike(
    whole: Store,
    parts: Sequence[Store],
    query: str,
    mode: SearchMode,
    vector: NDArray[np.float32] | None,
    ks: tuple[int, int],
) -> None:
    """Compare all documents, for which the first k must suffice, and then the best k of them."""
    expected = search(whole, query, mode, vector, k=ks[0])
    found = search(parts, query, mode, vector, k=ks[0])
    assert scores(found).keys() == scores(expected).keys()
    for name, own in scores(expected).items():
        assert scores(found)[name] == pytest.approx(own, abs=1e-6)
    ranked = [hit.score for hit in expected.hits]
    assert [hit.score for hit in found.hits] == pytest.approx(ranked, abs=1e-6)  # ties may swap places
    best = search(parts, query, mode, vector, k=ks[1])
    assert [hit.score for hit in best.hits] == pytest.approx(ranked[: ks[1]], abs=1e-6)
    assert found.mode is expected.mode


def test_scores_by_separate_figures_would_rank_otherwise(tmp_path: Path) -> None:
    with opened(tmp_path, 2) as (fruit, stones):
        for number in range(9):
            add(fruit, f"apple{number}.md", [f"apple {number}"])
            add(stones, f"stone{number}.md", [f"stone {number}"])
        add(fruit, "pear.md", ["a pear on a table"])
        add(stones, "apple.md", ["an apple on a table"])
        found = search([fruit, stones], "apple pear", WORDS)
        alone = search(stones, "apple pear", WORDS).hits[0].score
        assert found.hits[0].path == "/0/pear.md"  # one in twenty holds it; in its own folder an apple is as rare
        assert alone > found.hits[1].score


def test_a_hit_names_the_folders_place(tmp_path: Path) -> None:
    with opened(tmp_path, 2) as stores:
        add(stores[1], "a.md", ["apple"])
        (hit,) = search(stores, "apple", WORDS).hits
    assert (hit.rank, hit.root, hit.path) == (1, "/1", "/1/a.md")


def test_an_index_without_comparable_vectors_is_searched_by_words_on_the_scale_of_the_others(tmp_path: Path) -> None:
    with opened(tmp_path, 2) as (old, new):
        for store in (old, new):
            add(store, "apple.md", [f"apple of {store.path.name}"], [toward(1)])
        results = search([old, new], "apple", HYBRID, vectors=[None, toward(0, 1)])
        assert results.mode is HYBRID
        assert [hit.score for hit in results.hits] == pytest.approx([results.hits[0].score] * 2)
        by_meaning = search([old, new], "apple", MEANING, vectors=[None, toward(1)])
        assert [hit.root for hit in by_meaning.hits] == ["/1"]
        without = search([old, new], "apple", HYBRID)
        assert without.mode is WORDS
        with pytest.raises(ValueError, match="needs the query's vector"):
            search([old], "apple", MEANING)


def test_a_document_of_two_folders_is_listed_once_in_the_inner_one(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path / "outer.db", root=Path("/home/papers")) as outer,
        Store.open(tmp_path / "inner.db", root=Path("/home/papers/fruit")) as inner,
    ):
        add(outer, "fruit/a.md", ["apple"])
        add(outer, "b.md", ["apple pie"])
        add(inner, "a.md", ["apple"])
        results = search([outer, inner], "apple", WORDS)
        assert [(hit.rank, hit.path) for hit in results.hits] == [
            (1, "/home/papers/fruit/a.md"),
            (2, "/home/papers/b.md"),
        ]
        assert [hit.root for hit in results.hits] == ["/home/papers/fruit", "/home/papers"]
        assert [hit.also_at for hit in results.hits] == [(), ()]


def test_a_copy_in_another_folder_is_named(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path / "one.db", root=Path("/home/papers")) as one,
        Store.open(tmp_path / "other.db", root=Path("/mnt/usb")) as other,
    ):
        add(one, "a.md", ["apple"])
        add(other, "backup/a.md", ["apple"])
        (hit,) = search([one, other], "apple", WORDS).hits
        assert {hit.path, *hit.also_at} == {"/home/papers/a.md", "/mnt/usb/backup/a.md"}


DAYS = st.sampled_from(("", "1999", "2003-05", "2003-05-17", "2021"))
LISTS = (
    "author:lee", "-author:lee", "lang:de", "author:lee lang:de sort:name", "type:pdf -sort:date", "apple sort:date",
    "apple sort:name lang:de", "date:2003", "type:pdf sort:score", "apple -sort:score -lang:de",
)  # fmt: skip


@given(
    of_folders=st.lists(
        st.lists(st.tuples(DAYS, st.sampled_from(("Ann Lee", "Bo Li")), st.sampled_from(("", "de"))), max_size=4),
        min_size=1,
        max_size=3,
    ),
    query=st.sampled_from(LISTS),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fields_lists_and_orders_over_several_indexes_are_those_of_one(
    tmp_path: Path, of_folders: list[list[tuple[str, str, str]]], query: str
) -> None:
    with opened(tmp_path, len(of_folders) + 1) as (whole, *parts):
        number = 0
        for store, listed in zip(parts, of_folders, strict=True):
            for day, author, language in listed:
                for each in (store, whole):
                    known = add(each, f"{number}.pdf", [f"apple {number}"], title=f"Title {number}")
                    values = {"date": day, "author": author}
                    each.describe(known, "", [MetadataValue(*one, "test") for one in values.items() if one[1]])
                    with each.changing() as db:
                        languages.put(db, known, language)
                number += 1
        expected = search(whole, query, WORDS, k=number + 1)
        found = search(parts, query, WORDS, k=number + 1)
        # what is equally good or has the same day may stand in any order
        in_order = [[key_of(hit, query) for hit in results.hits] for results in (expected, found)]
        assert in_order[0] == in_order[1]
        assert {Path(hit.path).name for hit in found.hits} == {Path(hit.path).name for hit in expected.hits}
        assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
        assert found.note == expected.note


def key_of(hit: DocumentHit, query: str) -> object:
    """Return by what the hits of this query are sorted."""
    if "sort:name" in query:
        return hit.title
    if "sort:score" in query and hit.score:
        return round(hit.score, 9)
    return next((value.value for value in hit.metadata if value.field == "date"), "")


def test_a_listed_document_of_two_folders_stands_once_in_the_inner_one(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path / "outer.db", root=Path("/home/papers")) as outer,
        Store.open(tmp_path / "inner.db", root=Path("/home/papers/fruit")) as inner,
    ):
        add(outer, "fruit/a.md", ["apple"])
        add(inner, "a.md", ["apple"])
        results = search([outer, inner], "type:md", MEANING)
        assert [(hit.root, hit.score) for hit in results.hits] == [("/home/papers/fruit", 0)]
        assert search([outer, inner], "author:lee", WORDS).note == "No document matches author:lee"


def test_words_are_lit_in_the_languages_of_all_folders(tmp_path: Path) -> None:
    with opened(tmp_path, 2) as stores:
        for store, code in zip(stores, ("de", "ja"), strict=True):
            known = add(store, "a.md", ["apple"])
            with store.changing() as db:
                languages.put(db, known, code)
        assert search(stores, "apple", WORDS).languages == ("de", "ja")


def test_the_note_counts_the_documents_of_all_folders_that_wait(tmp_path: Path) -> None:
    with opened(tmp_path, 2) as stores:
        for store in stores:
            add(store, "a.md", [f"apple {store.path.name}"])
            add(store, "b.md", [f"pear {store.path.name}"], [toward(1)])
        assert search(stores, "apple", HYBRID, toward(1)).note == "2 documents have not been read for their meaning yet"
        assert search(stores, "apple in:nowhere", WORDS).note == "No file matches in:nowhere"


def test_occurrences_count_words_phrases_and_titles_as_the_ranking_does(store: Store) -> None:
    add(store, "a.md", ["running runs and apples", "an apple"], title="Apple trees")
    with store.reading() as db:
        expression = any_of(
            lookup(parse('"apple tree" apple run ½½', prefix_last=True), IndexLanguages(("en",), is_settled=True)).terms
        )
        first, second = keywords.occurrences(db, expression, [1, 2, 99]).values()
        assert keywords.occurrences(db, expression, []) == {}
        assert keywords.totals(db) == (2, 12)  # a, and whole: Apple trees, a, a.md
    assert (first.length, first.frequencies) == (10, (2.0, 3.0, 2.0, 0.0))
    assert (second.length, second.frequencies) == (2, (0.0, 1.0, 0.0, 0.0))


def test_an_empty_index_has_no_words(store: Store) -> None:
    with store.reading() as db:
        assert keywords.totals(db) == (0, 0)
    assert not search([store], "apple", WORDS).hits


def test_figures_of_nothing_cannot_be_pooled() -> None:
    with pytest.raises(ValueError, match="nothing"):
        pooled([])


LANGUAGES_OF_TEXT = ("de", "en", "")
OF_SEVERAL = ("colour", "color", "colours", "running", "runs", "Läufe", "apple", "apples", "stone", "tree")
spoken_sentence = st.lists(st.sampled_from(OF_SEVERAL), min_size=1, max_size=6).map(" ".join)
spoken_document = st.tuples(
    st.lists(spoken_sentence, min_size=1, max_size=3), st.sampled_from(LANGUAGES_OF_TEXT), st.booleans(), direction
)


@given(
    listed=st.lists(spoken_document, min_size=1, max_size=8),
    query=st.one_of(spoken_sentence, st.sampled_from(("colou", '"apple stone"', "run -tree", "colour type:md"))),
    vector=direction,
    has_segments=st.booleans(),
)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_index_cut_in_two_answers_as_the_whole(
    tmp_path: Path, listed: list, query: str, vector: NDArray[np.float32], has_segments: bool
) -> None:
    """Scores, order and reasons are equal.

    Documents with the same score stand in the order of their indexes and ids, which a cut changes: these are compared
    as a set. By meaning a score is rounded as vectors are stored, so 1e-6 may lie between.
    """
    with opened(tmp_path, 3) as (whole, *halves), pytest.MonkeyPatch.context() as patch:
        patch.setattr(upkeep, "LEAST_PASSAGES", 1 if has_segments else 10**6)
        patch.setattr(lifecycle, "language_of", lambda text: LANGUAGES_OF_TEXT[int(text.split("#")[1])])
        for number, (sentences, language, is_left, towards) in enumerate(listed):
            texts = [*sentences[:-1], f"{sentences[-1]} {number} #{LANGUAGES_OF_TEXT.index(language)}"]
            for store in (whole, halves[is_left]):
                add(store, f"{number}.md", texts, [towards] * len(texts))
        for store in (whole, *halves):
            store.tidy()
        for mode in SearchMode:
            for prefix_last in (False, True):
                one, two = (
                    search(stores, query, mode, vector, prefix_last, k=20, explain=True)
                    for stores in ([whole], [*halves])
                )
                assert (one.mode, one.note, one.languages, one.lit) == (two.mode, two.note, two.languages, two.lit)
                assert ranks(one) == ranks(two)
                assert reasons(one) == pytest.approx(reasons(two), abs=1e-6)


def test_a_summary_finds_the_document_that_holds_it_in_pieces_in_one_index_as_in_two(tmp_path: Path) -> None:
    """Meaning counts less, by the same share in each index, and the reasons still add up to the scores."""
    asked = [f"{letter}{letter}rd" for letter in "abcdefghijklmnop"]
    query = " ".join(asked)
    with opened(tmp_path, 3) as (whole, *halves):
        for store in (whole, halves[0]):
            add(store, "meeting.md", asked, [toward(0, 1)] * len(asked))
        for store in (whole, halves[1]):
            add(store, "near.md", ["aard bbrd", "nothing"], [toward(1), toward(1)])
        one, two = (search(stores, query, HYBRID, toward(1), k=9, explain=True) for stores in ([whole], [*halves]))
        words, meaning = (search([whole], query, mode, toward(1), k=9) for mode in (WORDS, MEANING))
    assert ranks(one) == ranks(two)
    assert reasons(one) == pytest.approx(reasons(two))
    assert [Path(hit.path).name for hit in one.hits] == ["meeting.md", "near.md"]
    near = one.hits[1]
    assert near.reason is not None
    assert near.reason.by_words + near.reason.by_meaning == pytest.approx(near.score)
    kept = (near.score - 0.6 * words.hits[1].score) / (0.4 * meaning.hits[0].score)
    assert 0 < kept < 0.2


def ranks(results: SearchResults) -> list[tuple[float, set[str]]]:
    """The names of the documents of each score, best first."""
    found: list[tuple[float, set[str]]] = []
    for hit in results.hits:
        if not found or found[-1][0] - hit.score > 2e-6:
            found.append((round(hit.score, 4), set()))
        found[-1][1].add(Path(hit.path).name)
    return found


def reasons(results: SearchResults) -> dict[tuple[str, str], float]:
    """The points of each word and vector of each hit."""
    return {
        (Path(hit.path).name, name): points
        for hit in results.hits
        if hit.reason is not None
        for name, points in (
            *((f"word {share.word}", share.passage + share.document) for share in hit.reason.words),
            *((share.vector_of, share.points) for share in hit.reason.meaning),
        )
    }


def test_one_index_answers_as_itself_beside_an_empty_one(tmp_path: Path) -> None:
    with opened(tmp_path, 2) as (full, empty):
        for number in range(12):
            add(full, f"{number}.md", [f"apple {number}", f"pear tree {number % 3}"], [toward(1, number), toward(2, 1)])
        for mode in SearchMode:
            for text in ("apple tree", '"pear tree" -apple', "type:md sort:name", "in:nowhere"):
                one, two = (
                    search(stores, text, mode, toward(1, 2), explain=True) for stores in ([full], [full, empty])
                )
                assert (one.mode, one.note, one.languages, one.lit) == (two.mode, two.note, two.languages, two.lit)
                assert [hit.path for hit in one.hits] == [hit.path for hit in two.hits]
                scores_of = [[passage.score for hit in found.hits for passage in hit.passages] for found in (one, two)]
                assert scores_of[0] == pytest.approx(scores_of[1], abs=1e-12)  # FTS5 rounds its own sums otherwise
