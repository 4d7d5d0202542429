"""Any typed text is a valid query, or raises an error that says what to do."""

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from longsearch.engine.errors import QueryError
from longsearch.engine.index.lookup import all_of, any_of, lookup
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.query_language.query import MAX_TERMS, Query, parse
from longsearch.engine.store.languages import IndexLanguages
from longsearch.engine.types.results import Term

_DB = apsw.Connection(":memory:")
_DB.execute("""
    CREATE VIRTUAL TABLE words USING fts5(
        text, title, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'
    );
    INSERT INTO words (rowid, text, title) VALUES (1, 'running c code for state-space models', 'Title'),
        (2, 'It''s the NOT and the OR', ''), (3, 'Ελληνικά ру́сский 中文 😀', ''), (4, 'written in C', '')
""")


ENGLISH = IndexLanguages(("en",), is_settled=True)
MANY = IndexLanguages(("", "ar", "de", "en", "hi", "ja", "ru", "th", "tr", "vi"), is_settled=False)


def texts(terms: tuple[Term, ...]) -> list[str]:
    return [term.text for term in terms]


def found(expression: str) -> list[int]:
    return [row[0] for row in _DB.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (expression,))]


def run(query: Query) -> None:
    """Run every FTS5 expression that the search builds from a query; raise apsw.SQLError for a syntax error."""
    for languages in (ENGLISH, MANY):
        asked = lookup(query, languages)
        found(any_of(asked.terms)) if asked.terms else None
        for expressions in (asked.phrases, asked.excluded):
            if expressions:
                found(all_of(expressions))
                found(any_of(expressions))
        for expression in asked.terms:
            found(expression)


def test_words_phrases_and_exclusions_are_told_apart() -> None:
    query = parse('selective "state space" models -transformer -"flash attention" state-of-the-art')
    assert texts(query.words) == ["selective", "models", "state-of-the-art"]
    assert texts(query.phrases) == ["state space"]
    assert texts(query.excluded) == ["transformer", "flash attention"]
    assert query.meaning == "selective state space models state-of-the-art"


def test_typographic_quotation_marks_are_quotation_marks() -> None:
    assert texts(parse("“state space” models").phrases) == ["state space"]


def test_an_unclosed_phrase_ends_with_the_query() -> None:
    query = parse('models "state sp', prefix_last=True)
    assert query.phrases == (Term("state sp", is_phrase=True),)
    assert parse('models "state spa', prefix_last=True).phrases == (Term("state spa", is_phrase=True, is_prefix=True),)
    assert parse('models "state spa"', prefix_last=True).phrases == (Term("state spa", is_phrase=True),)


def test_stop_words_are_dropped_unless_nothing_else_is_left() -> None:
    assert texts(parse("What is the state of it").words) == ["state"]
    assert texts(parse("to be or not to be").words) == ["to", "be", "or", "not"]
    assert parse('"to be" or not').words == ()
    assert parse("What is the state of it").meaning == "What is the state of it"


@pytest.mark.parametrize(
    ("text", "is_prefix"),
    [("state mod", True), ("state mod ", False), ("state mo", False), ("state the", False), ("state c++", False)],
)
def test_the_last_word_is_a_prefix_while_it_is_typed(text: str, is_prefix: bool) -> None:
    assert parse(text, prefix_last=True).terms[-1].is_prefix == is_prefix
    assert not any(term.is_prefix for term in parse(text).terms)


@pytest.mark.parametrize("text", ["", "   ", "?!", '""', '"', "-", "\0", "\ud800"])
def test_an_empty_query_is_an_error_with_a_hint(text: str) -> None:
    with pytest.raises(QueryError, match="no words") as caught:
        parse(text)
    assert caught.value.hint


def test_a_query_of_exclusions_alone_is_an_error_with_a_hint() -> None:
    with pytest.raises(QueryError, match="what not to find") as caught:
        parse('-one -"two three"')
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "ids"), [("c++", [1]), ("c", [4]), ("it's", [2]), ("NOT", [2]), ("RUN*", [1]), ("русский", [3])]
)
def test_punctuation_and_fts5_operators_are_looked_up_as_words(text: str, ids: list[int]) -> None:
    assert found(any_of(lookup(parse(text), ENGLISH).terms)) == ids


def test_a_pasted_page_is_prose_and_its_first_words_are_searched() -> None:
    page = 'He said "never again" and -left. ' + " ".join(f"word{number}" for number in range(500))
    query = parse(page, prefix_last=True)
    assert (query.phrases, query.excluded) == ((), ())
    assert len(query.words) == MAX_TERMS
    assert "left" in query.meaning
    assert not any(term.is_prefix for term in query.words)
    run(query)


def test_a_repeated_word_is_looked_up_once() -> None:
    assert texts(parse("State state STATE models").words) == ["STATE", "models"]


syntax = st.lists(
    st.sampled_from(
        [
            *'"-*+^(){}:,.;\0 \\',
            "NEAR(",
            "AND",
            "OR",
            "NOT",
            "title:",
            "-tag:",
            "author:",
            "date:2021",
            "since:30d",
            "sort:",
            "auhtor:",
            "in:",
            "“",
            "foo",
            "c++",
            "it's",
            "中文",
            "😀",
        ]
    )
)


@given(st.one_of(st.text(max_size=200), syntax.map("".join), syntax.map(" ".join)), st.booleans())
@example("a" * 5000, False)
@example('"' + "word " * 300 + '"', True)
@example(" ".join(f"-x{number} y{number}" for number in range(120)), False)
def test_no_text_is_ever_a_syntax_error(text: str, prefix_last: bool) -> None:
    try:
        query = parse(text, prefix_last)
    except QueryError:
        return
    assert query.terms or query.filters
    assert bool(query.meaning) is bool(query.terms)
    run(query)


def test_two_dashes_begin_an_option_of_a_program_which_is_text() -> None:
    query = parse("git commit --no-verify -draft")
    assert texts(query.words) == ["git", "commit", "no-verify"]
    assert texts(query.excluded) == ["draft"]


def test_a_slash_stands_between_two_long_words_alone() -> None:
    assert texts(parse("pharmacist/schedule km/h TCP/IP example.org/harbour").words) == [
        "pharmacist", "/schedule", "km/h", "TCP/IP", "example.org/harbour",
    ]  # fmt: skip


def test_a_comma_without_a_space_stands_between_words() -> None:
    assert texts(parse("pumps,valves;seals 1,234.5 author:doe,jane").words) == ["pumps", "valves", "seals", "1,234.5"]


def test_a_file_filter_is_neither_a_word_nor_part_of_the_meaning() -> None:
    query = parse('notice period in:contracts -in:"old drafts" type:pdf -type:.md "in writing"')
    assert texts(query.words) == ["notice", "period"]
    assert texts(query.phrases) == ["in writing"]
    assert query.excluded == ()
    assert query.meaning == "notice period in writing"
    assert query.files == FileFilter("", ("contracts",), ("pdf",), ("old drafts",), ("md",))
    assert str(query.files) == 'in:contracts type:pdf -in:"old drafts" -type:md'


@pytest.mark.parametrize("text", ["plugin:beta", "in: the beginning", "type:", "in:?", "I:n type :pdf", "IN:there"])
def test_text_that_only_resembles_a_file_filter_is_text(text: str) -> None:
    assert parse(f"apples {text}").files == FileFilter()


def test_a_pasted_page_has_no_file_filter() -> None:
    query = parse("it was written in:side type:face " * 50)
    assert query.files == FileFilter()
    assert "side" in query.meaning


def test_filters_alone_list_documents() -> None:
    query = parse("in:contracts type:pdf author:lee")
    assert query.is_listing
    assert (query.terms, query.meaning) == ((), "")


@pytest.mark.parametrize(
    ("query", "path", "is_admitted"),
    [
        ("in:2023", "contracts/2023/lease.pdf", True),
        ("in:2023 in:lease", "contracts/2023/Lease.PDF", True),
        ("in:2023 in:rent", "contracts/2023/lease.pdf", False),
        ("in:contracts/2023", "contracts/2023/lease.pdf", True),
        ("in:ÜBER", "notizen/u\u0308bersicht.md", True),
        ("-in:drafts", "drafts/a.md", False),
        ("-in:drafts", "final/a.md", True),
        ("type:pdf", "a.PDF", True),
        ("type:.pdf type:md", "a.md", True),
        ("type:pdf", "pdf/a.md", False),
        ("type:gz", "a.tar.gz", True),
        ("-type:md", "README", True),
        ("-type:md", "a.md", False),
        ("type:md -in:a", "b\udcff.md", True),
    ],
)
def test_a_file_filter_admits_files_by_parts_of_their_path_and_by_type(
    query: str, path: str, is_admitted: bool
) -> None:
    assert parse(f"x {query}").files.admits(path) is is_admitted


@given(st.text(), st.text())
def test_any_filter_decides_for_any_path(value: str, path: str) -> None:
    kept = FileFilter.of([("in", value, False), ("type", value, True)])
    assert kept.admits(path) in (True, False)
    assert isinstance(str(kept), str)
