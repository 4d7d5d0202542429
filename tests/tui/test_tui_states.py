"""States in which something is missing: each says what is the matter, and what to do."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from longsearch.engine.errors import ModelError
from longsearch.engine.types.results import SearchMode
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend import backend_calls
from longsearch.tui.backend.backend_calls import BackendCalls
from tests.tui.fake_backend import DONE, EMPTY, INDEXING, FakeBackend, three_reports
from tests.tui.test_tui_snapshots import Compare, ask_and_press, both_sizes, compare, press
from tests.tui.tui_helpers import SMALL, ask, screen_text, settle, until

AWAY = "the folder is away: its documents are found, and indexing goes on when it is back"
DEAD = "the daemon did not start (see /home/ada/.local/share/longsearch/daemon.log)"
FULL = "The disk is full (Make room on the disk of /home/ada/.local/share/longsearch/papers-1f.db)"
NO_MODEL = "words only: no model is at /models/own (set LONGSEARCH_MODEL to a folder with config.json)"


def empty() -> FakeBackend:
    backend = FakeBackend()
    backend.progress_now = EMPTY
    return backend


def with_problem(problem: str, **more: Any) -> FakeBackend:
    backend = three_reports()
    backend.progress_now = replace(backend.progress_now, problem=problem, **more)
    return backend


async def poll(pilot: Pilot[Any], backend: FakeBackend, **changes: Any) -> None:
    """Let the progress change, and wait until the app knows."""
    backend.progress_now = replace(backend.progress_now, **changes)
    calls = pilot.app.screen.query_one(BackendCalls)
    calls.poll()
    await until(pilot, lambda: calls.progress == backend.progress_now)


async def test_an_empty_folder_says_what_can_be_put_into_it_and_offers_the_samples() -> None:
    async with LongsearchApp(empty()).run_test(size=SMALL) as pilot:
        await settle(pilot)
        text = screen_text(pilot.app)
        assert "There are no documents in this folder." in text
        assert "PDF, Word, EPUB" in text and "`longsearch demo`" in text


@pytest.mark.parametrize("problem", [AWAY, DEAD, FULL])
async def test_a_problem_that_comes_while_the_app_is_open_is_shown_until_it_is_gone(problem: str) -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=(160, 30)) as pilot:
        await ask(pilot, "valve")
        assert "!" not in screen_text(pilot.app)
        await poll(pilot, backend, problem=problem)
        assert f"! {problem} · 480 documents ready" in screen_text(pilot.app)
        assert "Report on the accident" in screen_text(pilot.app), "what is indexed is still found"
        await poll(pilot, backend, problem="")
        assert problem not in screen_text(pilot.app)


async def test_a_problem_never_draws_control_characters() -> None:
    async with LongsearchApp(with_problem("\x1b[31mfull\x1b]0;x\x07")).run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert "\x1b" not in screen_text(pilot.app) and "full" in screen_text(pilot.app)


async def test_a_quotation_that_is_not_found_gets_advice_for_quotations() -> None:
    backend = three_reports()
    query = 'where: "the valve had never failed"'
    backend.answers = {(query, mode): () for mode in SearchMode}
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await ask(pilot, query)
        assert "Give less of it" in screen_text(pilot.app)
        assert "Ctrl+T searches by meaning" not in screen_text(pilot.app)


async def test_the_progress_is_read_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackendCalls, "PROGRESS_EVERY_S", 0.0)
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await until(pilot, lambda: len(backend.called("progress")) >= 3)


@pytest.mark.parametrize(("took_s", "wait_s"), [(0.01, 1.0), (2.0, 18.0)])
async def test_the_progress_of_a_large_index_is_read_less_often(
    monkeypatch: pytest.MonkeyPatch, took_s: float, wait_s: float
) -> None:
    monkeypatch.setattr(BackendCalls, "PROGRESS_EVERY_S", 1.0)
    times = iter([100.0, 100.0 + took_s])
    monkeypatch.setattr(backend_calls, "time", SimpleNamespace(monotonic=lambda: next(times)))
    waits: list[float] = []
    monkeypatch.setattr(BackendCalls, "set_timer", lambda self, wait_s, callback: waits.append(wait_s))
    async with LongsearchApp(three_reports()).run_test(size=SMALL) as pilot:
        await until(pilot, lambda: waits)
    assert waits == [wait_s]


@both_sizes
def test_snapshot_of_an_empty_folder(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, empty(), size, press())


@both_sizes
def test_snapshot_of_a_folder_that_is_away(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, with_problem(AWAY), size, press())


@both_sizes
def test_snapshot_of_a_dead_daemon(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = with_problem(DEAD)
    backend.note = "words only: no daemon is running (start one: longsearch daemon start)"
    compare(snap_compare, backend, size, ask_and_press())


@both_sizes
def test_snapshot_of_a_full_disk(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = three_reports()
    backend.progress_now = replace(INDEXING, problem=FULL, activity="", tokens_per_s=0.0)
    compare(snap_compare, backend, size, press())


@both_sizes
def test_snapshot_of_a_missing_model(snap_compare: Compare, size: tuple[int, int]) -> None:
    backend = three_reports()
    backend.note = NO_MODEL
    backend.progress_now = replace(DONE, problem="no model is at /models/own")
    backend.errors["meaning"] = ModelError("no model is at /models/own", "set LONGSEARCH_MODEL to a folder")
    compare(snap_compare, backend, size, ask_and_press())
