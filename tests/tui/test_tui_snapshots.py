"""Snapshots of every view of the app at the two usual sizes of a terminal, of most at four and in both themes.

After an intended change, run `pytest tests/tui --snapshot-update` and look at the pictures before you commit them.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from longsearch.engine.errors import ModelError
from longsearch.engine.types.results import ChanceLevel, MeaningShare, Reason, WordShare
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.interface import Question, Saved
from longsearch.tui.themes import THEMES
from tests.tui.fake_backend import FakeBackend, described_reports, indexing, three_folders, three_reports, with_files
from tests.tui.tui_helpers import ask, press_each, settle

SIZES = [(80, 24), (140, 40)]
Compare = Callable[..., bool]
Steps = Callable[[Pilot[Any]], Awaitable[None]]
both_sizes = pytest.mark.parametrize("size", SIZES, ids=["80x24", "140x40"])


def compare(snap_compare: Compare, backend: FakeBackend, size: tuple[int, int], steps: Steps, theme: str = "") -> None:
    app = LongsearchApp(backend)
    if theme:
        app.theme = theme
    assert snap_compare(app, terminal_size=size, run_before=steps)


def press(*keys: str) -> Steps:
    async def steps(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        await pilot.press(*keys)
        await settle(pilot)

    return steps


def ask_and_press(*keys: str) -> Steps:
    async def steps(pilot: Pilot[Any]) -> None:
        await ask(pilot, "why did the valve fail", press_enter=True)
        await press_each(pilot, *keys)

    return steps


@both_sizes
def test_nothing_typed_yet(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, press())


@both_sizes
def test_what_to_ask_first(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = three_reports()
    backend.user_data.asked = [Question("why did the valve fail"), Question("decay heat of the second reactor")]
    backend.user_data.searches = [Saved("pumps", Question("pump that failed"))]
    backend.heading_list = ["The history of the valve", "What the committee found"]
    compare(snap_compare, backend, size, press("down"))


@both_sizes
def test_indexing_runs(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, indexing(), size, press())


@both_sizes
def test_similar_documents(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("m"))


@both_sizes
def test_results(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("down"))


@both_sizes
def test_results_no_better_than_chance(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = three_reports()
    best, *others = backend.hits
    backend.hits = (best, *(replace(hit, level=ChanceLevel.CHANCE) for hit in others))
    compare(snap_compare, backend, size, ask_and_press())


def test_nothing_says_that(snap_compare: Compare) -> None:
    compare(snap_compare, nothing_found(), (80, 24), ask_and_press())


@both_sizes
def test_reading_a_long_document(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("enter", "n"))


@both_sizes
def test_an_error(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, failing(), size, ask_and_press())


@both_sizes
def test_the_files(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, with_files(), size, press("f3"))


@both_sizes
def test_the_help(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, press("f1"))


@both_sizes
def test_results_of_several_folders(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_folders(), size, ask_and_press("down"))


@both_sizes
def test_the_folders(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_folders(), size, press("f4"))


def test_the_instruction(snap_compare: Compare) -> None:
    compare(snap_compare, three_reports(), (80, 24), press("ctrl+r"))


def first_screen() -> FakeBackend:
    backend = three_reports()
    backend.user_data.asked = [Question("why did the valve fail"), Question("decay heat of the second reactor")]
    backend.heading_list = ["The history of the valve", "What the committee found"]
    return backend


def likely_and_unlikely() -> FakeBackend:
    backend = three_reports()
    first, *others = backend.hits
    levels = [replace(hit, level=ChanceLevel.CHANCE) for hit in others]
    backend.hits = (replace(first, level=ChanceLevel.GOOD), *levels)
    return backend


def nothing_found() -> FakeBackend:
    backend = three_reports()
    backend.hits = tuple(replace(hit, level=ChanceLevel.CHANCE) for hit in backend.hits)
    return backend


def failing() -> FakeBackend:
    backend = three_reports()
    backend.errors["hybrid"] = ModelError("The model could not be loaded.", "Run `longsearch doctor`.")
    return backend


MAIN_STATES: dict[str, tuple[Callable[[], FakeBackend], Steps]] = {
    "first": (first_screen, press()),
    "results": (likely_and_unlikely, ask_and_press()),
    "reading": (described_reports, ask_and_press("enter")),
    "nothing": (nothing_found, ask_and_press()),
    "error": (failing, ask_and_press()),
    "indexing": (indexing, press()),
    "why": (three_reports, ask_and_press("x")),
    "outline": (three_reports, ask_and_press("t")),
    "basket": (three_reports, ask_and_press("space", "b")),
    "files": (with_files, press("f3")),
    "help": (three_reports, press("f1")),
}


@both_sizes
@pytest.mark.parametrize("state", MAIN_STATES)
def test_the_main_states_in_the_light_theme(snap_compare: Compare, state: str, size: tuple[int, int]) -> None:
    make, steps = MAIN_STATES[state]
    compare(snap_compare, make(), size, steps, "longsearch-light")


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
@pytest.mark.parametrize(
    ("state", "size"),
    [
        pytest.param(state, size, id=f"{state}-{size[0]}x{size[1]}")
        for size in ((60, 20), (200, 50))
        for state in MAIN_STATES
    ],
)
def test_the_main_states_at_the_smallest_and_the_largest_size(
    snap_compare: Compare, state: str, size: tuple[int, int], theme: str
) -> None:
    make, steps = MAIN_STATES[state]
    compare(snap_compare, make(), size, steps, theme)


@both_sizes
def test_a_document_with_metadata(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, described_reports(), size, ask_and_press("enter"))


@both_sizes
def test_values_of_a_field(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = described_reports()
    authors = (('"John G. Kemeny"', 12), ('"Bruce Babbitt"', 3), ("Lamport", 1))
    backend.completions["valve author:"] = (13, authors)

    async def steps(pilot: Pilot[Any]) -> None:
        await ask(pilot, "valve author:")
        await pilot.press("tab")
        await settle(pilot)

    compare(snap_compare, backend, size, steps)


@both_sizes
def test_a_page_as_printed(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("enter", "v"))


@both_sizes
def test_the_whole_page_as_printed(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("enter", "v", "minus"))


@both_sizes
def test_finding_in_the_text(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("enter", "slash", *"the valve"))


@both_sizes
def test_the_outline(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("enter", "t"))


@both_sizes
def test_the_strip_by_nearness(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = three_reports()
    length = len(backend.documents[1].text)
    parts = [length * part // 30 for part in range(31)]
    cosines = [0.2 + 0.02 * (part * 7 % 13) for part in range(30)]
    backend.near = {1: tuple(zip(parts, parts[1:], cosines, strict=False))}
    compare(snap_compare, backend, size, ask_and_press("enter"))


@both_sizes
def test_why_a_document_has_its_score(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = three_reports()
    best, *others = backend.hits
    words = (WordShare("valve", 0.17, 0.09, 12), WordShare("fail", 0.16, 0.08, 3), WordShare("why", 0.0, 0.0, 0))
    meaning = (
        MeaningShare("passage", 0.71, 0.10, 0.81),
        MeaningShare("excerpt", 0.78, 0.11, 0.92),
        MeaningShare("document", 0.66, 0.08, 0.73),
    )
    reason = Reason(words, meaning, 0.84, 0.88, 0.97, (0.25, 0.5))
    backend.hits = (replace(best, level=ChanceLevel.GOOD, reason=reason), *others)
    compare(snap_compare, backend, size, ask_and_press("x"))
