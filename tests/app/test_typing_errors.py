"""Typing errors of a query are mended by the words of the index that it is asked of."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.app.cli import main
from longsearch.app.models.query_vectors import QueryVector
from longsearch.app.paths import index_path
from longsearch.app.search import searching
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question, search
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.languages.typing_errors import Letters, n_errors
from longsearch.engine.languages.word_lists import is_listed
from longsearch.engine.query_language.query import with_words
from longsearch.engine.search.searcher import SearchRequest
from longsearch.engine.search.spelling import n_allowed
from longsearch.engine.store import dictionary
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.segments.files import Segments
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode, SearchResults
from tests.app.made_folders import MODEL, make_folder, toward

TEXTS = {
    "bicycles.md": "The city does not allow bicycles in the tunnel. Bicycles are allowed on the bridge.",
    "scanner.md": "Magnetic resonance imaging is preferred for soft tissue. O'Brien ordered the scanner XR450.",
    "miete.md": "Die Kündigungsfrist des Mietvertrags beträgt drei Monate. Die Betriebskostenabrechnung kommt.",
    "saveli.md": "Договоры садовников были подписаны обеими сторонами и хранились в домах старого города.",
    "niwa.md": "庭師の契約は双方が署名し、町の家に保管された。東大寺には大仏がある。",
    "sund.md": "The ferry over the Øresund carries Łukasz.",
    "happy.md": "Happiness follows the organization of relations and the running of universities by children.",
}


@pytest.fixture(params=[False, True], ids=["FTS5", "segments"])
def root(home: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with segments and without; no model says what a common word is."""
    if request.param:
        monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
    monkeypatch.setattr(searching, "token_table", lambda *_: None)
    made = make_folder(home / "papers", TEXTS)
    with Store.open(index_path(made)) as store:
        store.tidy()
    return made


def asked(root: Path, text: str, literal: bool = False, prefix_last: bool = False) -> SearchResults:
    question = Question(text, SearchMode.WORDS, literal=literal, prefix_last=prefix_last)
    return search(Scope.of(root), question, lambda *_, **__: pytest.fail("a search by words needs no vector"))


def first(results: SearchResults) -> str:
    return Path(results.hits[0].path).name if results.hits else ""


@pytest.mark.parametrize(
    ("typed", "corrected", "name"),
    [
        ("bycicles in the tunel", "bicycles in the tunnel", "bicycles.md"),
        ("Bycicles, (tunel)", "Bicycles, (tunnel)", "bicycles.md"),
        ("tunel type:md -scanner", "tunnel type:md -scanner", "bicycles.md"),
        ("Betreibskostenabrechnung", "Betriebskostenabrechnung", "miete.md"),
        ("kündigungsfirst", "kündigungsfrist", "miete.md"),
        ("kundigungsfirst", "kündigungsfrist", "miete.md"),
        ("садовнкиов", "садовников", "saveli.md"),
        ("oragnization", "organization", "happy.md"),
        ("relatoins", "relations", "happy.md"),
        ("ranneng", "running", "happy.md"),  # seven letters of which two vowels are wrong
        ("ORAGNIZATION", "Organization", "happy.md"),
        ("mietvetrag", "mietvertrags", "miete.md"),  # the documents have it with an ending
        ("nagnetic", "magnetic", "scanner.md"),
        ("imagnig", "imaging", "scanner.md"),
        ("oresund ferry", "øresund ferry", "sund.md"),  # letters without a diacritic that can be taken away
        ("Lukasz", "Łukasz", "sund.md"),
        ("bycicle", "bicycles", "bicycles.md"),  # two letters changed places; the documents have the plural
        ("softtissue", "soft tissue", "scanner.md"),
        ("the reso nance imaging", "the resonance imaging", "scanner.md"),
        ("organi zation", "organization", "happy.md"),
        ("obrien", "brien", "scanner.md"),
        ("happines", "happiness", "happy.md"),  # no singular
    ],
)
def test_a_mistyped_word_is_searched_as_it_was_meant(root: Path, typed: str, corrected: str, name: str) -> None:
    results = asked(root, typed)
    assert (results.query, results.corrected, first(results)) == (typed, corrected, name)
    assert results.note == f'showing results for "{corrected}"'


def test_the_words_of_a_question_in_a_language_of_no_document_are_no_errors(root: Path) -> None:
    assert asked(root, "pourquoi les bicycletes dans le tunel").corrected == ""
    assert asked(root, "warum die Kündigungsfirst des Mietvertrags").corrected, "there are German documents"


def test_a_search_by_meaning_alone_is_mended_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "token_table", lambda *_: None)
    made, texts = make_folder(home / "papers", TEXTS, [toward(1, n) for n in range(len(TEXTS))]), list[str]()

    def source(text: str, *_: object, **__: object) -> QueryVector:
        texts.append(text)
        return QueryVector(toward(1), MODEL)

    assert search(Scope.of(made), Question("bycicles tunel", SearchMode.MEANING), source).corrected == "bicycles tunnel"
    assert texts == ["bicycles tunnel"]


@pytest.mark.parametrize(
    "typed",
    [
        "bicycles in the tunnel",  # nothing is wrong
        "elephants",  # nothing is near
        "elephants, (giraffes)?",  # nor beside signs
        "tunbrid",  # two errors, and other letters
        "tissuesoft",  # both words are there, in the other order
        'bridge "tunel"',
        "bridge -tunel",
        "author:tunel",
        "xr405",  # digits
        "TUNEL",
        "getTunel",
        "mai",  # short
        "東大時",
    ],
)
def test_what_is_right_quoted_or_a_name_never_changes(root: Path, typed: str) -> None:
    results = asked(root, typed)
    assert results.corrected == ""
    assert "showing results for" not in results.note


def test_a_literal_query_never_changes(root: Path) -> None:
    assert asked(root, "bycicles", literal=True).hits == ()


def test_a_word_that_is_still_being_typed_does_not_change(root: Path) -> None:
    assert asked(root, "bycicle", prefix_last=True).corrected == ""
    assert asked(root, "bycicles tunn", prefix_last=True).corrected == "bicycles tunn"


def test_a_word_that_the_model_knows_does_not_change(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pieces:
        def pieces(self, sentences: Sequence[str]) -> list[list[int]]:
            return [[1] if text == "tunes" else [1, 2] for text in sentences]

    monkeypatch.setattr(searching, "token_table", lambda *_: Pieces())
    assert asked(root, "tunes ", prefix_last=True).corrected == ""
    assert asked(root, "tunel ", prefix_last=True).corrected == "tunnel "


def test_a_word_that_hardly_any_passage_holds_gives_way_to_a_near_one_that_is_common(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "token_table", lambda *_: None)
    texts = {f"{n}.md": f"The keeper will receive box {n} of the harbour." for n in range(100)}
    made = make_folder(home / "papers", {**texts, "odd.md": "They recieve nothing and the harbor is Meier's."})
    assert asked(made, "recieve").corrected == "receive"
    few = make_folder(home / "few", {**dict(list(texts.items())[:99]), "odd.md": "They recieve nothing."})
    assert asked(few, "recieve").corrected == ""


def test_a_mistyped_query_is_encoded_and_ranked_once_as_it_was_meant(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "token_table", lambda *_: None)
    made = make_folder(home / "papers", TEXTS, [toward(1, n) for n in range(len(TEXTS))])
    encoded: list[str] = []
    ranked: list[str] = []
    rank = searching.searcher.search

    def counted(indexes: Sequence[Index], request: SearchRequest) -> SearchResults:
        ranked.append(request.query.text)
        return rank(indexes, request)

    def source(text: str, instruction: str | None) -> QueryVector:
        encoded.append(text)
        return QueryVector(toward(1), MODEL, 1.0)

    monkeypatch.setattr(searching.searcher, "search", counted)
    results = search(Scope.of(made), Question("bycicles tunel", SearchMode.HYBRID), source)
    assert encoded == ranked == ["bicycles tunnel"]
    assert first(results) == "bicycles.md"


def test_the_words_near_a_mistyped_one_are_looked_for_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_of: list[str] = []
    look = dictionary.words_near

    def counted(segments: Segments, typed: str, most: int, least: int) -> dict[str, int]:
        asked_of.append(typed)
        return look(segments, typed, most, least)

    monkeypatch.setattr(dictionary, "words_near", counted)
    for typed in ("tunel ", "tunel br", "tunel bridge"):
        assert asked(root, typed, prefix_last=True).corrected.startswith("tunnel")
    assert asked_of == ["tunel"]
    with Store.open(index_path(root)) as store:
        store.forget(["miete.md"])
    assert asked(root, "tunel").corrected == "tunnel"
    assert asked_of == ["tunel", "tunel"]


def test_the_command_says_what_it_searched_for(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["search", "bycicles", str(root), "--mode", "words", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert (said["query"], said["corrected"]) == ("bycicles", "bicycles")
    main(["search", "bycicles", str(root), "--mode", "words", "--json", "--literal"])
    said = json.loads(capsys.readouterr().out)
    assert (said["corrected"], said["note"], said["results"]) == (None, "", [])


def with_errors(word: str, n: int, chance: random.Random) -> str:
    """The word with random errors: letters doubled, lost, exchanged or replaced."""
    letters = list(word)
    for _ in range(n):
        at, kind = chance.randrange(len(letters) - 1), chance.randrange(4)
        if kind == 0:
            letters.insert(at, letters[at])
        elif kind == 1:
            del letters[at]
        elif kind == 2:
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
        else:
            letters[at] = chance.choice("abcdefghijklmnopqrstuvwxyz")
    return "".join(letters)


@pytest.mark.parametrize("seed", range(8))
def test_a_word_with_a_random_error_finds_its_document(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    words = ["bicycles", "resonance", "magnetic", "preferred", "betriebskostenabrechnung", "organization",
             "universities", "relations", "children", "scanner", "tunnel", "monate"]  # fmt: skip
    for word in words:
        typed = with_errors(word, 1, chance)
        if not is_listed(typed, ("en", "de")):  # "referred" may be meant
            assert first(asked(root, typed)) == first(asked(root, word)), typed


@pytest.mark.parametrize(
    "typed", ["dividend", "despise", "untrust", "dont", "constrain", "Constraining", "diagnose", "noes", "Gewinde"]
)
def test_a_right_word_that_the_documents_lack_is_no_error(
    home: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr(searching, "token_table", lambda *_: None)
    text = "They divided it despite all, and entrust what boxes contain: don't note the containing diagnosis."
    german = "Die Gewinne und die Gebinde der Genossenschaft werden in jedem Jahr an alle Mitglieder verteilt."
    assert asked(make_folder(home / "papers", {"a.md": text, "b.md": german}), typed).corrected == ""


def test_of_two_words_as_near_the_one_with_the_same_ends_was_meant(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "token_table", lambda *_: None)
    made = make_folder(home / "papers", {"a.md": "an amount is due", "b.md": "amount", "c.md": "birds among the reeds"})
    assert asked(made, "amoung reeds").corrected == "among reeds"


@pytest.mark.parametrize(
    ("word", "codes", "is_known"),
    [
        ("dividend", ["en"], True),
        ("Dividend", ["en"], True),
        ("übersicht", ["de"], True),
        ("übersicht", ["en"], False),
        ("собака", ["ru"], True),
        ("untrust", [], True),
        ("untill", ["en"], False),
        ("bycicles", ["en", "de", "fr"], False),
        ('a":1', ["en"], False),
        ("word", ["xx", ""], False),
    ],
)
def test_a_list_says_whether_a_word_is_one(word: str, codes: list[str], is_known: bool) -> None:
    assert is_listed(word, codes) is is_known


def test_segments_and_fts5_know_the_same_near_words(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_folder(home / "papers", TEXTS)
    typed = ["tunel", "bycicles", "kundigungsfirst", "садовнкиов", "relatoins", "monatte", "ctiy"]

    def near() -> Sequence[dict[str, int]]:
        with open_index(index_path(made)) as index:
            return [index.backend.words_near(word, n_allowed(word), 1) for word in typed]

    by_fts5 = near()
    monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
    with Store.open(index_path(made)) as store:
        store.tidy()
    assert near() == by_fts5
    assert all(by_fts5)


def slow_errors(one: str, other: str) -> int:
    """Optimal string alignment, cell by cell."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            differ = one[i - 1] != other[j - 1]
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + differ)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


WORDS = st.text("abcд", max_size=7)


@given(typed=WORDS, words=st.lists(WORDS, max_size=6), most=st.integers(1, 2))
def test_errors_are_counted_as_cell_by_cell(typed: str, words: list[str], most: int) -> None:
    whole, begun = n_errors(typed, Letters.of(words), most)
    for i, word in enumerate(words):
        exact = slow_errors(typed, word)
        nearest = min(slow_errors(typed[:n], word) for n in range(1, len(typed) + 1)) if typed else most + 1
        assert whole[i] == exact if exact <= most and typed and word else whole[i] > most or not (typed and word)
        assert begun[i] == nearest if nearest <= most and word else begun[i] > most or not word


@given(st.text())
def test_a_query_without_words_to_change_stays_as_it_is_typed(text: str) -> None:
    assert with_words(text, {}) == text.replace("\0", " ").encode("utf-8", "replace").decode()
