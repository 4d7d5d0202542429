"""No key waits for the garbage collector, and nothing that was closed stays in memory."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from longsearch.tui import garbage
from longsearch.tui.app import LongsearchApp
from longsearch.tui.painting import BareLines
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import WIDE, ask, press_each, settle

KEYS = ("j", "k", "enter", "n", "escape", "t", "escape", "f1", "pagedown", "escape", "f3", "escape")


@contextmanager
def noted_collections() -> Iterator[list[int]]:
    """Yield a list to which the generation of every collection is added."""
    generations: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generations.append(info["generation"])

    gc.callbacks.append(note)
    try:
        yield generations
    finally:
        gc.callbacks.remove(note)


@pytest.fixture
def freezes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let keys pass in this process for one test, but freeze nothing: note it."""
    threshold, frozen = gc.get_threshold(), []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append("frozen"))
    garbage.let_keys_pass()
    yield frozen
    gc.set_threshold(*threshold)


async def test_keys_meet_no_look_at_everything_a_rest_looks_at_what_is_new_and_a_long_rest_at_all(
    freezes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "REST_S", 3600.0)
    app = LongsearchApp(three_reports())
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        with noted_collections() as generations:
            await press_each(pilot, *KEYS)
            assert max(generations, default=0) < 2 and len(generations) <= 3, generations
            del generations[:]
            monkeypatch.setattr(garbage, "REST_S", 0.0)
            monkeypatch.setattr(garbage, "LONG_REST_S", 3600.0)
            await press_each(pilot, "k")
            assert 1 in generations and 2 not in generations, generations
            monkeypatch.setattr(garbage, "LONG_REST_S", 0.0)
            await press_each(pilot, "j")
            assert 2 in generations


async def test_what_is_there_is_kept_from_every_look_once_when_all_screens_are_made(freezes: list[str]) -> None:
    app = LongsearchApp(three_reports())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert len(freezes) == 2, "as the process began, and now"
        assert app.is_screen_installed("FoldersScreen"), "the last that is made"
        await ask(pilot, "valve", press_enter=True)
        await press_each(pilot, *KEYS)
        assert len(freezes) == 2


@pytest.mark.parametrize("key", ["f1", "t"])
async def test_a_closed_box_leaves_no_lines_in_memory(key: str) -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        found = []
        for _ in range(3):
            await press_each(pilot, key, "escape")
            gc.collect()
            found.append(sum(isinstance(one, BareLines) for one in gc.get_objects()))
        assert found[0] == found[2], found
