"""Snapshots of the screens for a person's own things: the basket and its dialogs, earlier queries, saved searches."""

import pytest

from longsearch.engine.types.results import SearchMode
from longsearch.tui.backend.interface import InView, Question, Saved
from tests.tui.fake_backend import FakeBackend, three_reports
from tests.tui.fake_user_data import some_evidence
from tests.tui.test_tui_snapshots import Compare, ask_and_press, both_sizes, compare, press


@pytest.fixture
def backend() -> FakeBackend:
    backend = three_reports()
    backend.user_data.kept = some_evidence()
    return backend


@both_sizes
def test_the_basket(snap_compare: Compare, backend: FakeBackend, size: tuple[int, int]) -> None:
    compare(snap_compare, backend, size, ask_and_press("b"))


@both_sizes
def test_a_table_of_evidence(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("T", "enter", "j", "right"))


def test_a_passage_that_is_no_longer_said(snap_compare: Compare, backend: FakeBackend) -> None:
    compare(snap_compare, backend, (80, 24), ask_and_press("b", "j", "j", "j"))


@both_sizes
def test_an_empty_basket(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("b"))


def test_the_name_of_an_export(snap_compare: Compare, backend: FakeBackend) -> None:
    compare(snap_compare, backend, (80, 24), ask_and_press("b", "e"))


def test_the_question_before_clearing(snap_compare: Compare, backend: FakeBackend) -> None:
    compare(snap_compare, backend, (80, 24), ask_and_press("b", "C"))


@both_sizes
def test_earlier_queries(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = three_reports()
    backend.user_data.asked = [
        Question("why did the valve fail", SearchMode.MEANING),
        Question("\x1b[31m[red]pumps\u202e[/red]\nand more " * 9, instruction="Find the definition of this term"),
        Question("decay heat date:1979.."),
    ]
    compare(snap_compare, backend, size, press("f5"))


def test_the_app_as_it_was_left(snap_compare: Compare) -> None:
    backend = three_reports()
    backend.user_data.last_in_view = InView(Question("why did the valve fail"), backend.hits[1].path)
    compare(snap_compare, backend, (80, 24), press())


@both_sizes
def test_saved_searches_with_news(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = three_reports()
    backend.user_data.searches = [
        Saved("Decay heat", Question("decay heat"), "papers"),
        Saved(
            "Valves", Question("why did the valve fail"), "papers", ("Report on unit 2, p. 12", "[red]Notes\x1b[31m")
        ),
    ]
    compare(snap_compare, backend, size, ask_and_press("f6", "down", "down"))
