"""Search by words finds the parts of compounds, in the languages that write them as one word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.languages.analysis import MADE
from longsearch.engine.languages.compounds import cuts, rests
from longsearch.engine.store import dictionary
from longsearch.engine.store.dictionary import _Dictionary
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode, SearchResults
from tests.engine.search.search_helpers import add, names, search

GERMAN = {
    "bill.md": "Die Betriebskostenabrechnung kommt in jedem Jahr mit der Post und ist zu bezahlen.",
    "loose.md": "Die Abrechnung der Kosten des Betriebs ist für die Mieter nicht immer leicht zu verstehen.",
    "lease.md": "Der Mietvertrag kann von beiden Seiten mit einer Frist von drei Monaten gekündigt werden.",
    "term.md": "Die Kündigungsfrist beträgt drei Monate, und sie beginnt am ersten Tag des Monats.",
    "words.md": "Ein Vertrag über die Miete einer Wohnung hat viele Seiten, die niemand gerne liest.",
    "other.md": "Der Hund schläft den ganzen Tag vor dem Haus und bellt nur, wenn der Briefträger kommt.",
}


@pytest.fixture(params=[False, True], ids=["FTS5", "segments"])
def library(store: Store, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    """German documents, looked up by FTS5 or by segments."""
    for path, text in GERMAN.items():
        add(store, path, [text])
    if request.param:
        monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
        store.tidy()
    return store


def found(store: Store, text: str) -> list[str]:
    return names(search(store, text, SearchMode.WORDS))


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Betriebskosten", "bill.md"),  # a beginning that no text has by itself
        ("Frist", "lease.md"),  # a word, and the end of another
        ("Betriebskostenabrechnung", "bill.md"),
        ("Mietvertrag", "lease.md"),
    ],
)
def test_the_document_that_has_the_word_or_a_compound_with_it_is_first(library: Store, query: str, first: str) -> None:
    assert found(library, query)[0] == first


def test_a_word_is_found_in_compounds_and_a_compound_by_its_parts(library: Store) -> None:
    assert set(found(library, "Frist")) == {"lease.md", "term.md"}
    assert "loose.md" in found(library, "Betriebskostenabrechnung")
    assert "words.md" in found(library, "Mietvertrag")


def test_a_phrase_and_an_exclusion_mean_the_word_alone(library: Store) -> None:
    assert found(library, '"Frist"') == ["lease.md"]
    assert found(library, "Monate -Frist") == ["term.md"]


def test_a_part_that_is_no_word_of_the_documents_is_no_part(library: Store) -> None:
    assert found(library, "Hun") == []
    assert found(library, "Brief") == []


def test_both_ways_of_looking_words_up_score_compounds_alike(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, text in GERMAN.items():
        add(store, path, [text, f"{text} Und das ist die zweite Seite."])

    def scores(results: SearchResults) -> dict[str, float]:
        return {hit.path: hit.score for hit in results.hits}

    queries = ("Betriebskosten", "Frist Vertrag", "Betriebskostenabrechnung", "Mietvertrag Kosten")
    slow = [scores(search(store, query, SearchMode.WORDS, explain=True)) for query in queries]
    monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
    store.tidy()
    fast = [scores(search(store, query, SearchMode.WORDS, explain=True)) for query in queries]
    for one, other in zip(slow, fast, strict=True):
        assert one == pytest.approx(other)


def test_the_points_of_parts_add_up_to_the_score(library: Store) -> None:
    for query in ("Betriebskostenabrechnung", "Frist Vertrag"):
        for hit in search(library, query, SearchMode.WORDS, explain=True).hits:
            assert hit.reason is not None
            assert sum(share.passage + share.document for share in hit.reason.words) == pytest.approx(hit.score)


def test_english_words_are_not_cut(store: Store) -> None:
    add(store, "a.md", ["The warehouse stands by the sea, and a house stands by the wood beside it."])
    add(store, "b.md", ["The warehouse is full of ware, says the man who has been there this morning."])
    assert found(store, "house") == ["a.md"]


def test_a_word_is_cut_where_linking_letters_may_stand() -> None:
    assert ("betrieb", "betrieb", "kost") in set(cuts("betriebskosten", "de"))
    assert ("kosten", "kost", "abrechn") in set(cuts("kostenabrechnung", "de"))
    assert rests("betriebskostenabrechn", "betriebskost") >= {"abrechn"}
    assert rests("hunde", "hund") == set()


_SYLLABLES = st.lists(st.sampled_from(["a", "ab", "kost", "miet", "vertrag", "über", "ß"]), max_size=4).map("".join)


@given(st.sets(st.tuples(_SYLLABLES, st.sampled_from(["", MADE]))), st.lists(_SYLLABLES.filter(bool), unique=True))
def test_terms_around_a_stem_are_all_that_begin_or_end_with_it(made: set[tuple[str, str]], parts: list[str]) -> None:
    terms = sorted(word + mark for word, mark in made if word)
    packed = [term.encode() for term in sorted(terms, key=str.encode)]
    ends = np.cumsum([0, *map(len, packed)])
    known = _Dictionary(np.frombuffer(b"".join(packed), np.uint8), ends, np.arange(len(packed)) + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dictionary, "_whole_dictionaries", lambda _: [(known, known.tails())])
        found = dictionary.terms_around(None, parts)  # type: ignore[arg-type]
    words = {term.decode().removesuffix(MADE): n for n, term in enumerate(packed, 1) if term.decode().endswith(MADE)}
    assert found == {
        part: {word: n for word, n in words.items() if word != part and (word.startswith(part) or word.endswith(part))}
        for part in parts
    }
