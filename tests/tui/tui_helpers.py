"""Helpers for the tests of the terminal app: drive it, wait for it, read its screen."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from textual.css.query import NoMatches
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerError

from longsearch.tui.backend.backend_calls import BackendCalls
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.widgets.preview import Preview
from longsearch.tui.widgets.query_bar import QueryBar
from longsearch.tui.widgets.results import Results
from tests.tui.fake_backend import DONE, FakeBackend

WIDE, SMALL = (110, 26), (80, 24)
PATIENCE_S = 60.0


async def let_messages_pass(*_: float) -> None:
    """Give every message a few turns of the event loop."""
    for _turn in range(40):
        await asyncio.sleep(0)


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Let the app run until `condition` holds and the messages sent by then have been handled."""

    def holds() -> bool:
        with contextlib.suppress(NoMatches):  # the first frame lacks some of the widgets
            return bool(condition())
        return False

    await _wait(pilot, holds)
    await settle(pilot, all_workers=False)


async def _wait(pilot: Pilot[Any], condition: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE_S
    while not condition():
        assert monotonic() < end, "the condition never became true"
        await pilot.pause()


async def settle(pilot: Pilot[Any], all_workers: bool = True) -> None:
    """Let every worker end and its answer be shown. An answer may start another worker. A new size is shown too."""
    app = pilot.app
    mains = [one for one in app.screen_stack if isinstance(one, MainScreen)]
    await _wait(pilot, lambda: app._exit or all(main._is_whole for main in mains))
    for _ in range(4):
        for worker in list(app.workers) if all_workers else ():
            with contextlib.suppress(WorkerError):  # a worker that was cancelled
                await worker.wait()
        await pilot.pause()

    def is_laid_out() -> bool:
        return app.screen._compositor.size == app.size and not any(
            one._layout_required for one in app.screen_stack if one.is_current
        )

    await _wait(pilot, lambda: app._exit or is_laid_out())


async def press_each(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, each after all that the one before it asked for."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def ask(pilot: Pilot[Any], query: str, press_enter: bool = False) -> None:
    """Enter a query as if pasted and wait for its answers; with Enter also for the answer in the chosen mode."""
    await settle(pilot)
    pilot.app.screen.query_one(QueryBar).query_one(Input).value = query
    await settle(pilot)
    if press_enter:
        await pilot.press("enter")
        await settle(pilot)


async def grow_index(pilot: Pilot[None], backend: FakeBackend, n_more: int) -> None:
    """Let the index have `n_more` documents more, and wait until the app knows."""
    backend.progress_now = replace(DONE, n_current=DONE.n_current + n_more)
    calls = pilot.app.screen.query_one(BackendCalls)
    calls.poll()
    await until(pilot, lambda: calls.progress == backend.progress_now)


def preview(pilot: Pilot[None]) -> Preview:
    return pilot.app.screen.query_one(Preview)


def results(pilot: Pilot[None]) -> Results:
    return pilot.app.screen.query_one(Results)


def screen_text(app: Any) -> str:
    """The characters on the screen, line by line."""
    return "\n".join("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())
