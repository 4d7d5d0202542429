"""Snapshots of the screens for a person's own things: the basket and its dialogs."""

import pytest
from fake_backend import FakeBackend, three_reports
from fake_desk import some_evidence
from test_tui_snapshots import Compare, ask_and_press, both_sizes, compare


@pytest.fixture
def backend() -> FakeBackend:
    backend = three_reports()
    backend.desk.kept = some_evidence()
    return backend


@both_sizes
def test_the_basket(snap_compare: Compare, backend: FakeBackend, size: tuple[int, int]) -> None:
    compare(snap_compare, backend, size, ask_and_press("b"))


def test_a_passage_that_is_no_longer_said(snap_compare: Compare, backend: FakeBackend) -> None:
    compare(snap_compare, backend, (80, 24), ask_and_press("b", "j", "j", "j"))


@both_sizes
def test_an_empty_basket(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("b"))


def test_the_name_of_an_export(snap_compare: Compare, backend: FakeBackend) -> None:
    compare(snap_compare, backend, (80, 24), ask_and_press("b", "e"))


def test_the_question_before_clearing(snap_compare: Compare, backend: FakeBackend) -> None:
    compare(snap_compare, backend, (80, 24), ask_and_press("b", "C"))
