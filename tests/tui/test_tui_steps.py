"""Narrowing: a second query over the results, undone by Esc; steps back; the results by date."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input

from longsearch.engine.query_language.query import parse
from longsearch.engine.types.documents import MetadataValue
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.interface import InView, Question
from longsearch.tui.backend.steps import Steps, narrowed
from longsearch.tui.text.dates import bars, by_date
from tests.tui.fake_backend import FakeBackend, three_reports
from tests.tui.tui_helpers import WIDE, ask, results, screen_text, settle


def test_the_words_of_the_second_query_must_be_there_and_fields_stay_fields() -> None:
    query = parse(narrowed("why did the valve fail", "hydrogen spike type:pdf -drill"))
    assert [term.text for term in query.phrases] == ["hydrogen", "spike"]
    assert {"valve", "fail"} <= {term.text for term in query.words}
    assert [term.text for term in query.excluded] == ["drill"] and not query.files.admits("a.md")


def test_a_question_stays_prose_when_it_is_narrowed() -> None:
    assert parse(narrowed("classical AND and OR operations?", "gates")).joined == ()


def test_quotations_operators_and_stars_are_taken_as_they_are() -> None:
    assert narrowed("valve", '"small break" gask* pump OR blower') == 'valve "small break" gask* "pump" OR "blower"'
    assert narrowed("valve", ">= $5 million pump") == 'valve >= $5 million "pump"'


@given(st.text(alphabet='ab "-:*()|', max_size=12))
def test_whatever_is_typed_stands_in_the_query(wanted: str) -> None:
    query = narrowed("valve", wanted)
    kept, typed = ("".join(text.replace('"', " ").split()) for text in (query, wanted))
    assert kept == f"valve{typed}"


def test_a_step_back_is_the_question_before_with_its_file() -> None:
    steps, first, second = Steps(), Question("pumps"), Question("valves")
    steps.note(first)
    steps.see(first, "/a.pdf")
    steps.note(second)
    steps.note(second)
    assert steps.back(second) == InView(first, "/a.pdf")
    assert steps.back(Question("typed but not sent")) == InView(first, "/a.pdf")
    assert steps.back(first) is None


def dated(*dates: str) -> FakeBackend:
    backend = three_reports()
    backend.hits = tuple(
        replace(hit, metadata=(MetadataValue("date", date, "PDF info"),) if date else ())
        for hit, date in zip(backend.hits, dates, strict=True)
    )
    return backend


def test_years_between_are_listed_and_months_where_there_is_one_year() -> None:
    assert by_date(dated("2019-03-28", "2021", "").hits) == [("2021", 1), ("2020", 0), ("2019", 1)]
    assert by_date(dated("2021-05-17", "2021-05", "2021-01-02").hits) == [("2021-05", 2), ("2021-01", 1)]
    assert by_date(dated("", "", "").hits) == []
    copied = MetadataValue("date", "2021-05-17", "file time")
    assert by_date([replace(hit, metadata=(copied,)) for hit in three_reports().hits]) == []
    assert bars([("2021", 4), ("2020", 0), ("2019", 1)], 4) == ["2021     ▇▇▇▇ 4", "2020", "2019     ▇ 1"]


async def test_a_narrower_question_is_asked_and_escape_goes_back_to_the_document_before() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("down")
        await settle(pilot)
        chosen = results(pilot).selected
        await pilot.press("ampersand", *"pump", "enter")
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == 'valve "pump"'
        assert backend.called("hybrid")[-1] == ('valve "pump"', "")
        assert results(pilot).has_focus
        await pilot.press("escape")
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "valve"
        assert results(pilot).selected == chosen and results(pilot).has_focus
        await pilot.press("escape")
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).has_focus


async def test_u_goes_back_through_the_questions_that_were_asked() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        for query in ("valve", "pump"):
            await ask(pilot, query, press_enter=True)
            await pilot.press("slash")
        await ask(pilot, "dome", press_enter=True)
        for expected in ("pump", "valve"):
            await pilot.press("u")
            await settle(pilot)
            assert pilot.app.screen.query_one(Input).value == expected
        await pilot.press("u")
        await settle(pilot)
        assert "no earlier step" in screen_text(pilot.app)


async def test_a_year_of_the_results_is_chosen_from_bars() -> None:
    backend = dated("2019-03-28", "2021-01-01", "2021-05-17")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("h")
        await settle(pilot)
        assert "▇ 2" in screen_text(pilot.app) and "Delete" not in screen_text(pilot.app)
        await pilot.press("enter")
        await settle(pilot)
        assert backend.called("hybrid")[-1] == ("valve date:2021", "")
