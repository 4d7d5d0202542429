"""What the tests of the terminal app share: no clock, no colours from the environment, and waiting for a condition."""

import asyncio
import contextlib
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerError

from tui.backend_calls import BackendCalls
from tui.screens.main import MainScreen
from tui.widgets.query_bar import QueryBar

NEVER_S = 3_600.0
PATIENCE_S = 10.0


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing happens by itself: no debounce runs out, no second poll of the progress, no search again."""
    monkeypatch.setattr(BackendCalls, "DEBOUNCE_S", NEVER_S)
    monkeypatch.setattr(BackendCalls, "PROGRESS_EVERY_S", NEVER_S)
    monkeypatch.setattr(MainScreen, "RENEW_EVERY_S", NEVER_S)
    # Textual's own waits 20 ms and more after every key, until the process uses no processor time.
    monkeypatch.setattr("textual.app.wait_for_idle", let_messages_pass)
    monkeypatch.setattr("textual.pilot.wait_for_idle", let_messages_pass)
    for name in ("NO_COLOR", "COLORTERM", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


async def let_messages_pass(*_: float) -> None:
    """Give every message a few turns of the loop."""
    for _turn in range(40):
        await asyncio.sleep(0)


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Let the app run until `condition` holds, and its messages have been handled."""
    end = monotonic() + PATIENCE_S
    while not condition():
        assert monotonic() < end, "it did not happen"
        await pilot.pause()
    await settle(pilot, all_workers=False)


async def settle(pilot: Pilot[Any], all_workers: bool = True) -> None:
    """Let every worker end and its answer be shown; an answer may start another worker."""
    for _ in range(4):
        for worker in list(pilot.app.workers) if all_workers else ():
            with contextlib.suppress(WorkerError):  # what it raised is the app's to show
                await worker.wait()
        await pilot.pause()


async def ask(pilot: Pilot[Any], query: str, press_enter: bool = False) -> None:
    """Write a query as if pasted, and wait for all answers; with Enter also for the one in the chosen mode."""
    await settle(pilot)
    pilot.app.screen.query_one(QueryBar).query_one(Input).value = query
    await settle(pilot)
    if press_enter:
        await pilot.press("enter")
        await settle(pilot)


def screen_text(app: Any) -> str:
    """What stands on the screen, line by line."""
    return "\n".join("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())
