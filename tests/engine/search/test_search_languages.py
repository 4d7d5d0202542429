"""Search by words in many languages, in one index."""

import unicodedata
from functools import partial
from pathlib import Path

import pytest

from longsearch.engine.index import bm25
from longsearch.engine.index.fts5_words import by_fts5
from longsearch.engine.index.lookup import any_of, lookup, match
from longsearch.engine.query_language.query import parse
from longsearch.engine.store import documents, keywords
from longsearch.engine.store.languages import IndexLanguages, counts
from longsearch.engine.store.session import Session
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.engine.search.search_helpers import add, names, search
from tests.engine.store.store_helpers import open_store

_DOCUMENTS = {
    "de.md": "Die Verträge der Gärtner wurden von beiden Seiten unterschrieben und in den Häusern der Stadt bewahrt.",
    "en.md": "The contracts of the gardeners were signed by both sides and were kept in the houses of the town.",
    "ru.md": "Договоры садовников были подписаны обеими сторонами и хранились в домах старого города.",
    "zh.md": "园丁的合同由双方签署，并保存在城里的房子里。人们在東大寺看见了大佛。",
    "ja.md": "庭師の契約は双方が署名し、町の家に保管された。東大寺には大仏がある。",
    "th.md": "สัญญาของชาวสวนได้รับการลงนามโดยทั้งสองฝ่ายและเก็บไว้ในบ้านของเมือง",
    "ar.md": "وُقِّعت عقود البستانيين من الطرفين وحُفظت في بيوت المدينة القديمة.",
    "ko.md": "정원사들의 계약은 양측이 서명하여 마을의 집에 보관하였다.",
    "hi.md": "बागवानों के अनुबंध पर दोनों पक्षों ने हस्ताक्षर किए और उन्हें शहर के घरों में रखा गया।",
}


@pytest.fixture
def library(store: Store) -> Store:
    for path, sentence in _DOCUMENTS.items():
        add(store, path, [sentence])
    return store


def found(store: Session, text: str, prefix_last: bool = False) -> list[str]:
    return names(search(store, text, SearchMode.WORDS, prefix_last=prefix_last))


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Vertrag", "de.md"),
        ("vertrag gartner", "de.md"),
        ("contract gardener", "en.md"),
        ("договор", "ru.md"),
        ("合同", "zh.md"),
        ("双方签署", "zh.md"),
        ("園 契約", "ja.md"),
        ("署名", "ja.md"),
        ("สัญญา", "th.md"),
        ("บ้าน", "th.md"),
        ("عقود", "ar.md"),
        ("계약", "ko.md"),
        ("अनुबंध", "hi.md"),
    ],
)
def test_a_word_in_any_form_finds_the_document(library: Store, query: str, path: str) -> None:
    assert found(library, query)[0] == path


@pytest.mark.parametrize("text", ["zh.md", "ja.md", "th.md"])
def test_any_piece_of_a_text_without_spaces_finds_it(library: Store, text: str) -> None:
    whole = _DOCUMENTS[text]
    for length in (1, 2, 3, 5):
        for start in range(0, len(whole) - length, 3):
            piece, after = whole[start : start + length], whole[start + length]
            if piece.isalpha() and unicodedata.category(after)[0] != "M":  # a sign belongs to its letter
                assert text in found(library, piece)
                assert text in found(library, f'"{piece}"')


def test_a_word_without_spaces_is_found_across_the_end_of_a_line(store: Store) -> None:
    add(store, "wrapped.txt", ["奈良の東大\n寺には大仏がある。"])
    assert found(store, "大寺") == ["wrapped.txt"]
    assert found(store, '"東大寺には"') == ["wrapped.txt"]


def test_a_phrase_without_spaces_must_be_there_as_it_is(library: Store) -> None:
    assert set(found(library, '"東大寺"')) == {"zh.md", "ja.md"}
    assert found(library, '"東大寺には"') == ["ja.md"]
    assert found(library, '"東寺大"') == []
    assert found(library, '"大寺见"') == []


def test_a_phrase_holds_the_forms_of_one_language(library: Store) -> None:
    assert found(library, '"Vertrag der Gärtner"') == ["de.md"]
    assert found(library, '"Gärtner der Vertrag"') == []


def test_a_word_is_left_out_in_all_its_forms(library: Store) -> None:
    assert "de.md" not in found(library, "Stadt town -Vertrag")
    assert set(found(library, "大仏 大佛 -東大寺には")) == {"zh.md"}


def test_a_word_that_is_being_typed_finds_longer_ones(library: Store) -> None:
    for typed in ("vertr", "verträg", "Verträge", "договор"[:5], "अनुब"):
        assert found(library, typed, prefix_last=True)


def test_a_query_in_a_language_that_the_index_lacks_finds_nothing_and_never_fails(library: Store) -> None:
    assert found(library, "Συμβόλαιο κηπουρών") == []
    assert found(library, "ကန်ထရိုက် សញ្ញា") == []


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("大仏 lang:ja", {"ja.md"}),
        ("東大寺 -lang:japanese", {"zh.md"}),
        ("東大寺 lang:zh lang:ja", {"zh.md", "ja.md"}),
        ("東大寺 lang:ja in:zh", set()),
    ],
)
def test_lang_keeps_to_documents_in_these_languages(library: Store, query: str, paths: set[str]) -> None:
    results = search(library, query, SearchMode.WORDS)
    assert set(names(results)) == paths
    assert all(hit.language == Path(hit.path).stem for hit in results.hits)


def test_a_language_that_no_document_is_in_is_named(library: Store) -> None:
    assert search(library, "house lang:el", SearchMode.WORDS).note == "No file matches lang:el"


def test_an_english_index_is_asked_as_if_there_were_no_languages() -> None:
    query = parse('running state-space "selective scan" über -naïve c++', prefix_last=True)
    asked = lookup(query, IndexLanguages(("", "en"), is_settled=True))
    words, phrases = [match(term) for term in query.words], tuple(map(match, query.phrases))
    assert words[1:3] == ['"state-space"', '"über"']
    spelt = (words[0], '("state-space" OR "statespace")', '("über" OR "ueber")', *words[3:])
    assert asked.terms == phrases + spelt
    assert asked.phrases == phrases
    assert asked.excluded == tuple(map(match, query.excluded))


def test_a_word_is_looked_up_in_a_bounded_number_of_forms() -> None:
    everything = IndexLanguages(
        tuple(
            sorted(
                [
                    "ar",
                    "de",
                    "en",
                    "es",
                    "fi",
                    "fr",
                    "hu",
                    "it",
                    "nl",
                    "pl",
                    "pt",
                    "ro",
                    "ru",
                    "sv",
                    "tr",
                    "vi",
                    "cs",
                    "da",
                    "el",
                ]
            )
        ),
        False,
    )
    for word in ("universities", "information", "國際", "книгами", "x"):
        for expression in lookup(parse(word), everything).terms:
            assert expression.count(" OR ") < 16


def test_an_index_from_before_languages_is_right_before_during_and_after_the_change(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with open_store(path) as store:
        for name, sentence in _DOCUMENTS.items():
            add(store, name, [sentence])
        with store.changing() as db:  # as schema 6 left it: the words as FTS5 takes them, the languages unknown
            rows = db.execute("SELECT id FROM contents").fetchall()
            db.execute("UPDATE contents SET language = NULL")
            for (document_id,) in rows:
                passage = db.execute("SELECT id FROM passages WHERE content_id = ?", (document_id,)).get
                text = store.text(document_id).text
                db.execute("DELETE FROM words WHERE rowid = ?", (passage,))
                db.execute("INSERT INTO words (rowid, text, title) VALUES (?, ?, '·')", (passage, text))
        old = {"gardeners": "en.md", "Verträge": "de.md", "садовников": "ru.md", "보관하였다": "ko.md"}
        while True:
            for query, expected in old.items():
                assert found(store, query) == [expected]
            if not store.index_words_again():
                break
        assert found(store, "Vertrag") == ["de.md"]
        assert found(store, "契約") == ["ja.md"]
        with store.reading() as db:
            assert counts(db) == {Path(name).stem: 1 for name in _DOCUMENTS}
        assert not store.index_words_again()


def test_the_words_of_a_stale_document_count_once_in_a_score() -> None:
    asked = lookup(parse("東大寺"), IndexLanguages((), is_settled=False))
    assert len(asked.terms) == 2
    assert all('"東大寺"' in expression for expression in asked.terms)
    assert any_of(asked.terms)


def test_a_few_documents_of_another_language_are_not_preferred_for_a_name_that_all_hold(store: Store) -> None:
    """FTS5 alone says of one English document that "bowl" is rare in its form, and ranks it before better matches."""
    german = "In diesem Jahr wurde das Spiel um den Titel der Liga in einer Stadt an der Küste ausgetragen, Bowl Nummer"
    english = "This is the report about the game that was played in the city on the coast, and the winner of the bowl"
    other = "Ein zweiter Satz über das Wetter im Land und in den Bergen, der gar nicht davon handelt."
    for number in range(8):
        add(store, f"de{number}.md", [f"{german} {number}.", *[f"{other} {number} {row}" for row in range(3)]])
    add(
        store,
        "en.md",
        [f"{english} was the team from the west, as it had been in the year before and also after that."],
    )
    asked = lookup(parse("Bowl Küste"), IndexLanguages(("de", "en"), is_settled=True))
    with store.reading() as db:
        pooled = by_fts5(db, asked, documents.count(db)).best(20, None)
        own_idf = keywords.best(db, any_of(asked.terms), 20)
        sql = "SELECT passages.id, path FROM passages JOIN files USING (content_id)"
        paths = {row[0]: row[1] for row in db.execute(sql)}
    assert paths[own_idf[0][0]] == b"en.md"
    assert paths[pooled[0][0]].startswith(b"de")
    assert {id_ for id_, _ in pooled} == {id_ for id_, _ in own_idf}


def test_forms_that_are_alone_score_as_one_expression(library: Store) -> None:
    asked = lookup(parse("gardeners contracts houses town"), IndexLanguages(("en",), is_settled=True))
    with library.reading() as db:
        fast = keywords.best(db, any_of(asked.terms), 10)
        idf = partial(bm25.idf, n_passages=len(_DOCUMENTS))
        weights = [idf(len(keywords.matching(db, term))) for term in asked.terms]
        scores, several = keywords.scores_of_forms(db, [[term] for term in asked.terms], weights, idf)
        slow = sorted(scores.items(), key=lambda row: -row[1])[:10]
    assert several == set()
    assert [id_ for id_, _ in fast] == [id_ for id_, _ in slow]
    assert [score for _, score in fast] == pytest.approx([score for _, score in slow])


@pytest.mark.parametrize("name", ["O'Brien", "O’Brien", "OBrien", "Obrien"])
def test_an_apostrophe_that_was_not_typed_is_no_error(store: Store, name: str) -> None:
    add(store, "letter.md", [f"The letter of Mr {name} came late."])
    add(store, "brief.md", [f"Der Brief von Herrn {name} kam gestern spät im Büro an, und niemand hat ihn gelesen."])
    add(store, "other.md", ["The letter of Mr Brixton came early."])
    queries = ["O'Brien", "o’brien"] if name == "Obrien" else ["O'Brien", "O’Brien", "OBrien"]
    assert [set(found(store, query)) for query in queries] == [{"letter.md", "brief.md"}] * len(queries)
