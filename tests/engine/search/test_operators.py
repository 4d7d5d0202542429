"""Operators say exactly which passages are found; any text still parses, and what it means can be written and read."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from longsearch.engine.errors import QueryError
from longsearch.engine.index.lookup import lookup
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.operators import All, Either, Near, Node, Not, Where
from longsearch.engine.query_language.operators import written as node_written
from longsearch.engine.query_language.query import Query, parse, written
from longsearch.engine.search.joined import expression_of, narrowed
from longsearch.engine.store import keywords
from longsearch.engine.store.languages import IndexLanguages
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode, Term
from tests.engine.search.search_helpers import add, names, search, toward

WORDS = ["pump", "gasket", "blower", "sleeve", "sleeves", "water", "universities"]
TEXTS = [
    "pump and gasket of the water mill",
    "the sleeve of the blower",
    "a blower needs neither pump nor seal, and no sleeve",
    "gaskets for sleeves",
    "water",
    "the universities buy a pump for the water garden of the old blower house",
]


@pytest.fixture(params=[False, True], ids=["FTS5", "segments"])
def shelf(store: Store, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Six documents a.md to f.md, with segments and without."""
    if request.param:
        monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
    for name, text in zip("abcdef", TEXTS, strict=True):
        add(store, f"{name}.{'pdf' if name in 'ab' else 'md'}", [text], [toward(1, ord(name) - 96)])
    store.tidy()
    return store


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pump NOT gasket", "cf"),
        ("pump AND water", "af"),
        ("pump AND water AND NOT gasket", "f"),
        ("sleeve OR gasket", "abcd"),
        ("(sleeve|gasket) water", "abcd"),
        ("(pump|blower) AND (water OR sleeve)", "abcf"),
        ("pump -(gasket OR garden)", "c"),
        ("pump && water", "af"),
        ("gask*", "ad"),
        ("*leeve", "bcd"),
        ("s*ve blower", "bcd"),
        ("*vers*ties pump", "f"),
        ("universi*", "f"),
        ("water -gask*", "ef"),
        ('"sleeve blower"~2', "b"),
        ('"blower sleeve"~8', "bc"),
        ("pump NEAR/2 gasket", "a"),
        ("pump NEAR water", "af"),
        ("(pump|sleeve) NEAR/2 (gasket|blower)", "abcd"),
        ('"old blower" NEAR garden', "f"),
        ("gask* NEAR/1 sleeves", "d"),
        ("g?sk?et", "ad"),
        ("s?e?ve blower", "bcd"),
        ("wat?er NOT gask?t*", "ef"),
        ("blower AND type:pdf", "b"),
        ("pump NOT type:pdf", "cf"),
        ("(type:pdf OR garden) blower", "bf"),
        ("type:pdf OR type:txt", "ab"),
        ("pump (water)", "acef"),
        ("(pump water) NOT gasket", "cef"),
    ],
)
def test_operators_find_these_documents_and_no_others(shelf: Store, text: str, found: str) -> None:
    results = search(shelf, text, SearchMode.WORDS)
    assert sorted(name[0] for name in names(results)) == list(found)


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.MEANING])
def test_what_operators_ask_for_holds_whatever_the_meaning_is(shelf: Store, mode: SearchMode) -> None:
    assert sorted(names(search(shelf, "sleeve OR gasket", mode, toward(1, 5)))) == ["a.pdf", "b.pdf", "c.md", "d.md"]
    assert "a.pdf" not in names(search(shelf, "pump NOT gasket", mode, toward(1, 1)))
    found = search(shelf, "water OR NOT pump", mode, toward(1, 1))
    assert sorted(names(found)) == ["a.pdf", "b.pdf", "d.md", "e.md", "f.md"]
    assert "found by meaning alone" in found.note


def test_alternatives_count_as_one_word_beside_others(shelf: Store) -> None:
    assert names(search(shelf, "(seal|gasket|pump) water", SearchMode.WORDS))[0] == "a.pdf"
    alone, beside = (parse(text) for text in ("pump|blower", "(pump|blower) garden"))
    english = IndexLanguages(("en",), True)
    assert lookup(alone, english).terms == ('"pump"', '"blower"')
    assert lookup(beside, english).terms == ('"garden"', '("pump" OR "blower")')


def test_a_pattern_without_words_is_told_and_highlights_are_the_words_that_it_stands_for(shelf: Store) -> None:
    nothing = search(shelf, "*xyz pump", SearchMode.WORDS)
    assert (names(nothing), nothing.note) == ([], "no word here is like *xyz")
    lit = {term.text for term in search(shelf, "*leeve gask*", SearchMode.WORDS).lit}
    assert lit == {"sleeve", "gask"}


@pytest.mark.parametrize("text", ["+pump", "!pump", "pump~", "pump^2", "g?t", "a* pump"])
def test_a_sign_without_meaning_is_told(text: str) -> None:
    assert "looked up as a word" in " ".join(parse(text).notes)


@pytest.mark.parametrize("text", ["C++ and +49 30 1234", "what is it?", "a+b", "~/notes", "2*3", "f(x)", ":)"])
def test_signs_of_prose_pass_without_a_word(text: str) -> None:
    assert parse(f"pump {text}").notes == ()


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("pump OR blower AND sleeve", Either((Term("pump"), All((Term("blower"), Term("sleeve")))))),
        ("a OR b c", Either((Term("a"), Term("b")))),
        ("NOT (pump blower)", Not(All((Term("pump"), Term("blower"))))),
        ("NOT pump OR blower", Either((Not(Term("pump")), Term("blower")))),
        ('"a b"~3', Near((Term("a"), Term("b")), 3)),
        ("a NEAR b NEAR/2 c", All((Near((Term("a"), Term("b")), 10), Near((Term("b"), Term("c")), 2)))),
        ("(type:pdf OR tag:x) pump", Either((Where("type", "pdf"), Where("tag", "x")))),
        ("P(A|B) OR x", Either((Term("P(A|B)"), Term("x")))),
        ("pump|(blower)", Either((Term("pump"), Term("blower")))),
    ],
)
def test_operators_join_what_stands_beside_them(text: str, joined: Node) -> None:
    assert parse(f"{text} mill").joined == (joined,)


@pytest.mark.parametrize(
    "text",
    [
        "can they perform classical AND and OR operations?",
        "arbitrary powers of NOT and SWAP",
        "cap *and* cork",
        "the state $|\\Psi_0\\rangle$ of $||A||$",
        "cat notes | sort",
        "P(A|B)",
        "what is (pump|blower)?",
    ],
)
def test_prose_and_formulas_have_no_operators(text: str) -> None:
    query = parse(f"pump {text}")
    assert (query.joined, query.excluded, query.notes) == ((), (), ())


def test_a_dash_right_behind_a_phrase_excludes_nothing() -> None:
    assert parse('"Bourbaki"-style study').excluded == ()


@pytest.mark.parametrize(
    "text", ["pump (for water) (c) f(x) 1) :)", "OR pump", "pump AND", "NEAR pump", "( NOT ) pump"]
)
def test_what_joins_nothing_is_a_word_or_nothing(text: str) -> None:
    query = parse(text)
    assert query.joined == ()
    assert Term("pump") in query.words


def test_operators_in_a_pasted_page_are_prose() -> None:
    query = parse("do NOT open (pump|blower) AND gask* OR close " * 40)
    assert (query.joined, query.excluded) == ((), ())
    assert not any(term.is_pattern for term in query.words)


_PIECES = [
    *'"-*+^(){}|:,.;~\\', "NEAR", "NEAR/3", "AND", "&&", "OR", "||", "NOT", "title:x", "-tag:", "sort:date", "type:pdf",
    "folder:x", "since:30d", "foo", "bar)", "(baz", "f(x)", "x|y", "c++", "gask*", "*eve", "the", '"a b"', '"a b"~4',
    "中文", "-foo", "--foo", "and", "or", "?", "|\\x", "a|b", "*em*", "-(",
]  # fmt: skip
_TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(_PIECES), max_size=14).map(" ".join),
    st.lists(st.sampled_from(_PIECES), max_size=14).map("".join),
)


def meaning_of(query: Query) -> tuple[object, ...]:
    words = [
        {(term.text.casefold(), term.is_prefix) for term in part}
        for part in (query.words, query.phrases, query.excluded)
    ]
    return *words, query.joined, query.files, query.folders, query.conditions, query.sort, query.is_reversed


@given(_TEXTS)
@example("(a OR f(x) b(")
@example("NOT NOT x -NOT y")
def test_what_any_text_means_can_be_written_and_read_again(text: str) -> None:
    try:
        query = parse(text)
    except QueryError:
        return
    assert meaning_of(parse(written(query))) == meaning_of(query)


_LEAVES = st.sampled_from([Term(word) for word in WORDS] + [Term("water mill", is_phrase=True)])
_NODES = st.recursive(
    st.one_of(_LEAVES, st.builds(Near, st.tuples(_LEAVES, _LEAVES), st.integers(0, 6))),
    lambda inner: st.one_of(
        st.builds(Either, st.tuples(inner, inner)),
        st.builds(lambda a, b: All((a, Not(b))), inner, inner),
        st.builds(All, st.tuples(inner, inner)),
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(_NODES)
def test_the_ids_that_operators_leave_are_those_that_fts5_finds(shelf: Store, node: Node) -> None:
    with open_index(shelf.path) as index:
        found = narrowed(None, index, [node], index.spoken)
        assert found is not None
        by_ids = found.ids(index.db).tolist()
        assert by_ids == keywords.matching(index.db, expression_of(node, index.spoken)).tolist(), node_written(node)


@pytest.mark.parametrize("text", [word for word in WORDS if word != "water"])
def test_segments_know_who_holds_a_word_as_fts5_does(shelf: Store, text: str) -> None:
    with open_index(shelf.path) as index:
        expression = expression_of(Either((Term(text), Term("water"))), index.spoken)
        assert np.array_equal(index.backend.matching(expression), keywords.matching(index.db, expression))


def test_words_are_asked_of_segments_and_never_of_fts5(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
    add(store, "a.md", [TEXTS[0]])
    store.tidy()
    refuse: Callable[..., object] = lambda *_: pytest.fail("FTS5 was asked")  # noqa: E731
    monkeypatch.setattr(keywords, "matching", refuse)
    assert names(search(store, "pump AND (gasket OR seal) NOT oil -steam", SearchMode.WORDS)) == ["a.md"]


def test_thousands_of_brackets_in_brackets_join_what_they_join_at_the_top() -> None:
    deep = "(" * 5_000 + "pump OR valve" + ")" * 5_000
    assert parse(f"{deep} AND seal").text == f"{deep} AND seal"
    assert parse(f"{'(' * 60}pump OR valve{')' * 60}").joined == parse("(pump OR valve)").joined
