"""Tab completes the field or the value before the cursor, and otherwise goes to the next pane."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from longsearch.engine.completions import Completion, CompletionChoice
from longsearch.engine.errors import StoreError
from longsearch.engine.metadata_lines import describe
from longsearch.engine.types.documents import MetadataValue
from longsearch.tui.app import LongsearchApp
from longsearch.tui.text.query_filling import Cycle
from longsearch.tui.widgets.query_bar import QueryBar
from tests.tui.fake_backend import FakeBackend, described_reports
from tests.tui.tui_helpers import WIDE, ask, results, screen_text, settle

AUTHORS = (('"Ann Lee"', 12), ("Lamport", 1))


def backend() -> FakeBackend:
    fake = described_reports()
    fake.completions = {
        "valve au": (6, (("author:", 4),)),
        "valve author:": (13, AUTHORS),
        "valve author:l": (13, AUTHORS[1:]),
    }
    return fake


def query(pilot: Pilot[Any]) -> Input:
    return pilot.app.screen.query_one(Input)


def hint(pilot: Pilot[Any]) -> str:
    return str(pilot.app.screen.query_one(QueryBar).border_subtitle)


async def test_tab_completes_a_field_then_steps_through_its_values() -> None:
    async with LongsearchApp(backend()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve au")
        seen = []
        for _ in range(4):
            await pilot.press("tab")
            await settle(pilot)
            seen.append(query(pilot).value)
        assert seen == ["valve author:", 'valve author:"Ann Lee"', "valve author:Lamport", 'valve author:"Ann Lee"']
        assert query(pilot).has_focus
        assert hint(pilot) == 'Tab: ▸"Ann Lee" 12 · Lamport 1'


async def test_values_are_listed_while_a_field_is_typed_and_go_with_it() -> None:
    async with LongsearchApp(backend()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve author:")
        assert hint(pilot) == 'Tab: "Ann Lee" 12 · Lamport 1'
        await pilot.press("l")
        await settle(pilot)
        assert hint(pilot) == "Tab: Lamport 1"
        await ask(pilot, "valve")
        assert hint(pilot) == ""


async def test_tab_goes_to_the_results_if_there_is_nothing_to_complete() -> None:
    fake = backend()
    async with LongsearchApp(fake).run_test(size=WIDE) as pilot:
        await ask(pilot, "why did the valve fail")
        await pilot.press("tab")
        await settle(pilot)
        assert results(pilot).has_focus
        fake.errors["complete"] = StoreError("gone", "")
        await pilot.press("slash")
        await pilot.press("tab")
        await settle(pilot)
        assert results(pilot).has_focus


async def test_the_head_shows_each_value_with_its_source_and_no_control_character() -> None:
    async with LongsearchApp(backend()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        text = screen_text(pilot.app)
    assert "John G. Kemeny, Bruce Babbitt · #reactors" in text
    assert "\x1b" not in text


def test_a_hint_begins_with_the_choice_in_place_and_fits() -> None:
    cycle = Cycle.of("x sort:", Completion(7, (CompletionChoice("score", None), CompletionChoice("d\x1bate", None))))
    assert cycle.hint(80) == "Tab: score · d\ufffdate"
    assert cycle.next().next().hint(80) == "Tab: ▸d\ufffdate · score"
    assert cycle.hint(12) == "Tab: score"
    assert cycle.next().next().text == "x sort:d\ufffdate"
    assert (cycle.next().text, cycle.next().goes_on("x sort:score"), cycle.goes_on("x sort:")) == (
        "x sort:score",
        True,
        False,
    )


def test_metadata_on_one_line_is_short_and_printable() -> None:
    many = [MetadataValue("author", f"A{n}", "XMP") for n in range(9)] + [MetadataValue("tag", "a\x07b", "XMP")]
    assert describe(many) == "A0, A1, … [9] · #a\ufffdb"
    assert describe(many, with_others=True) == "A0, A1, … [9] · #a\ufffdb (XMP)"
    own = [MetadataValue("status", "read", "front matter"), MetadataValue("title", "T", "heading")]
    assert describe(own) == ""
    assert describe(own, with_others=True) == "status: read (front matter)", (
        "a title from a heading is where everybody expects it"
    )
    day = MetadataValue("date", "2026-11-23", "file time")
    assert describe([day], with_others=True) == "2026-11-23 (file time)"
    assert describe([own[0], day], with_others=True) == "2026-11-23 (file time) · status: read (front matter)"
    read = [MetadataValue("title", "T", "largest type")]
    assert describe(read, with_others=True) == "title: largest type"
