"""A day in the life: a person opens the app over the real backend, a daemon and the bundled model, and does their work.

Ask, see the page as printed, narrow the results, mark and copy two, keep three passages, export them, add a file, see
it in the news, search all folders.
"""

import asyncio
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from longsearch.app.backend import AppBackend
from longsearch.app.daemon.daemon import Daemon
from longsearch.app.daemon.daemon_control import watch
from longsearch.app.evidence.user_data import StoredUserData
from longsearch.engine.types.results import SearchMode
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.backend_calls import BackendCalls
from longsearch.tui.backend.interface import Backend
from longsearch.tui.screens.user_data_calls import UserDataCalls
from longsearch.tui.text.progress_words import is_complete
from longsearch.tui.widgets.page_view import PageView
from longsearch.tui.widgets.result_pane import ResultPane
from longsearch.tui.widgets.results import Results
from tests.app.app_helpers import PATIENCE_S, wait_until
from tests.app.homes import SAMPLES
from tests.indexer.pdf_writing import lines_of, write_pdf

PAGES = (
    "The relief valve of the second pump stayed open, and the coolant was lost within the hour.",
    "The crew had been trained for a large break. What they had in front of them was a small one.",
    "The committee found that the same relief valve had failed nine times before in other plants.",
)
QUERY = "relief valve stayed open"


@pytest.fixture
def papers(home: Path) -> Path:
    """A folder of a report as a PDF and two notes."""
    folder = home / "papers"
    folder.mkdir()
    for name in ("tides.md", "violin.md"):
        shutil.copy(SAMPLES / name, folder)
    write_pdf(folder / "report.pdf", [lines_of(f"{page}\n" * 12) for page in PAGES], title="Report on unit 2")
    return folder


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Let the app run until the condition holds."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if condition():
            return
        await asyncio.sleep(0.02)  # not `pilot.pause`, which waits until no other thread works either
    pytest.fail(f"it did not happen:\n{seen(pilot)}")


def seen(pilot: Pilot[Any]) -> str:
    """Return what is on the screen."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def app_over(backend: Backend) -> LongsearchApp:
    return LongsearchApp(backend)


async def ask(pilot: Pilot[Any], query: str) -> None:
    """Paste the query, press Enter, and wait for the answer by meaning and words."""
    pilot.app.screen.query_one(Input).value = query
    await pilot.press("enter")

    def is_answered() -> bool:
        results = pilot.app.screen.query_one(ResultPane).results
        return results is not None and results.mode is SearchMode.HYBRID and results.query == query

    await until(pilot, lambda: is_answered() and pilot.app.screen.query_one(Results).has_focus)


async def read_whole(pilot: Pilot[Any], n_documents: int) -> None:
    """Wait until so many documents can be searched by meaning."""

    def is_done() -> bool:
        calls = pilot.app.screen_stack[0].query(BackendCalls)  # none in the first frame
        found = calls.first().progress if calls else None
        return found is not None and found.n_current == n_documents and is_complete(found)

    await until(pilot, is_done)


async def export_three_passages(pilot: Pilot[Any], papers: Path) -> None:
    for step in ("space", "n", "space", "down", "space"):
        await pilot.press(step)
        await pilot.pause()
    await until(pilot, lambda: "kept: 3 passages" in seen(pilot))
    await pilot.press("b")
    await until(pilot, lambda: "Report on unit 2" in seen(pilot) and "Export" in seen(pilot))
    await pilot.press("e")
    await pilot.pause()
    pilot.app.screen.query_one(Input).value = str(papers.parent / "evidence.json")
    await pilot.press("enter")
    await until(pilot, lambda: "3 passages written" in seen(pilot))
    await pilot.press("escape")
    await pilot.pause()


async def narrow_and_widen(pilot: Pilot[Any]) -> None:
    """Narrow the results to the texts in Markdown, and take that back."""
    await pilot.press("ampersand")
    await until(pilot, lambda: "Only results with" in seen(pilot))
    await pilot.press(*"type", "colon", *"md", "enter")
    await until(pilot, lambda: f"{QUERY} type:md" in seen(pilot) and "report.pdf" not in seen(pilot))
    await until(pilot, lambda: pilot.app.screen.query_one(Results).has_focus)
    await pilot.press("escape")
    await until(pilot, lambda: "type:md" not in seen(pilot) and "report.pdf" in seen(pilot))
    await until(pilot, lambda: pilot.app.screen.query_one(Results).has_focus)


async def mark_and_copy_two(pilot: Pilot[Any]) -> None:
    await pilot.press("asterisk", "asterisk")
    await until(pilot, lambda: "2 documents marked" in seen(pilot))
    await pilot.press("y")
    await until(pilot, lambda: "2 passages copied" in seen(pilot))
    assert "Report on unit 2" in pilot.app.clipboard
    await pilot.press("escape", "g")


async def save_this_search(pilot: Pilot[Any]) -> None:
    await pilot.press("f6")
    await until(pilot, lambda: f"Save: {QUERY}" in seen(pilot))
    await pilot.press("enter")
    await until(pilot, lambda: "Save this search as" in seen(pilot))
    await pilot.press("enter")
    await until(pilot, lambda: "saved: " in seen(pilot))


@pytest.fixture(autouse=True)
def no_waiting_for_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Textual go on after a key while the daemon works."""

    async def pass_on(*_: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr("textual.app.wait_for_idle", pass_on)
    monkeypatch.setattr("textual.pilot.wait_for_idle", pass_on)


async def test_a_day_in_the_life(daemon: Daemon, home: Path, papers: Path) -> None:
    async with app_over(AppBackend(papers)).run_test(size=(120, 30)) as pilot:
        await read_whole(pilot, 3)
        await ask(pilot, QUERY)
        assert "Report on unit 2" in seen(pilot).split("\n")[4]

        await pilot.press("v")
        view = pilot.app.screen.query_one(PageView)
        await until(pilot, lambda: view.picture is not None and bool(view.picture.lines))
        assert "p. 1 of 3" in seen(pilot)
        await pilot.press("v")
        await until(pilot, lambda: "the coolant was lost within the hour" in seen(pilot))

        await narrow_and_widen(pilot)
        await mark_and_copy_two(pilot)
        await export_three_passages(pilot, papers)
        exported = json.loads((home / "evidence.json").read_text())
        assert any("coolant" in json.dumps(item) for item in exported)

        await save_this_search(pilot)
        (papers / "letter.md").write_text("# A letter\n\nThe relief valve stayed open again last night.\n")
        await read_whole(pilot, 4)
        wait_until(lambda: StoredUserData(papers).n_new() == 1)
        await pilot.press("escape")  # what was said before makes room
        pilot.app.screen.query_one(UserDataCalls).count_news()
        await until(pilot, lambda: "● 1 new passage (F6)" in seen(pilot))
        await pilot.press("ctrl+q")

    other = home / "notes"
    other.mkdir()
    (other / "pumps.md").write_text("# Pumps\n\nA relief valve that stayed open was found at the third pump as well.\n")
    watch(other)
    async with app_over(AppBackend()).run_test(size=(120, 30)) as pilot:
        await read_whole(pilot, 5)
        await ask(pilot, QUERY)
        for place in ("papers/report.pdf", "papers/letter.md", "notes/pumps.md"):
            assert place in seen(pilot), place
