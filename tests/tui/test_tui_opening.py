"""Opening and closing the app, and errors of its backend."""

import threading
from importlib import import_module
from types import ModuleType

import pytest
from textual.widgets import Input

from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens import loading
from tests.tui.fake_backend import ROOT, three_reports
from tests.tui.tui_helpers import WIDE, ask, screen_text, settle, until


async def test_the_app_opens_ready_to_type_and_tells_how_many_documents_are_ready() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert isinstance(pilot.app.focused, Input)
        text = screen_text(pilot.app)
        assert "480 documents ready." in text
        assert str(ROOT) in text
        assert backend.called("start") == [("",)]


async def test_the_frame_names_the_address_of_an_object_store_and_not_the_folder_that_stands_for_it() -> None:
    async with LongsearchApp(three_reports(), place="s3://bucket/papers").run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "s3://bucket/papers" in screen_text(pilot.app) and "/home/ada" not in screen_text(pilot.app)


async def test_no_key_waits_until_panes_and_screens_are_imported_and_the_panes_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imported: list[tuple[str, threading.Thread]] = []

    def note(name: str) -> ModuleType:
        imported.append((name, threading.current_thread()))
        return import_module(name)

    monkeypatch.setattr(loading, "import_module", note)
    app = LongsearchApp(three_reports())
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: app.is_screen_installed("HelpScreen"))
    assert threading.main_thread() not in {thread for _, thread in imported}
    assert imported[0][0] == "longsearch.tui.widgets.result_pane"


async def test_the_app_can_be_used_while_the_backend_still_starts() -> None:
    backend = three_reports()
    door = backend.hold("start")
    backend.hold("progress")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press("a")
        await until(pilot, lambda: "Report on the accident" in screen_text(pilot.app))
        assert "opening the index…" in screen_text(pilot.app)
        door.set()
        backend.close()


async def test_backend_calls_never_run_in_the_thread_of_the_screen() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("o", "f3")
        await settle(pilot)
    with pytest.raises(AssertionError, match="thread of the screen"):
        backend.files()  # so does every such call of every test of the app
    assert {call[0] for call in backend.calls} >= {"start", "progress", "words", "hybrid", "document", "open", "files"}


async def test_the_reason_why_indexing_does_not_run_is_shown_at_once_and_stays() -> None:
    backend = three_reports()
    backend.start_note = "the daemon could not be started"
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "! the daemon could not be started" in screen_text(pilot.app)
        await ask(pilot, "valve")
        assert "! the daemon could not be started · 480 documents ready" in screen_text(pilot.app)


async def test_any_exception_of_a_backend_call_becomes_a_line_and_the_app_goes_on() -> None:
    backend = three_reports()
    for kind in ("words", "hybrid", "document", "open", "files", "progress", "start"):
        backend.errors[kind] = RuntimeError(f"{kind} broke")
    async with LongsearchApp(backend).run_test(size=(170, 26)) as pilot:
        await settle(pilot)
        assert "✗ Something went wrong inside longsearch: RuntimeError: progress broke" in screen_text(pilot.app)
        await ask(pilot, "valve", press_enter=True)
        assert "RuntimeError: hybrid broke" in screen_text(pilot.app)
        del backend.errors["words"]
        await ask(pilot, "valves")
        assert "RuntimeError: document broke" in screen_text(pilot.app)
        await pilot.press("ctrl+o")
        await settle(pilot)
        assert "RuntimeError: open broke" in screen_text(pilot.app)
        await pilot.press("f3")
        await settle(pilot)
        assert "RuntimeError: files broke" in screen_text(pilot.app)


async def test_quitting_closes_the_backend_so_that_a_running_search_ends() -> None:
    backend = three_reports()
    backend.hold("hybrid")
    app = LongsearchApp(backend)
    async with app.run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await pilot.press("enter")
        await until(pilot, lambda: backend.called("hybrid"))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None)
    assert backend.called("close") == [("",)]
    assert app.return_code == 0


async def test_quitting_twice_leaves_even_if_the_backend_does_not_close() -> None:
    backend = three_reports()
    door = backend.hold("close")
    app = LongsearchApp(backend)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("ctrl+q")
        assert app.return_code is None
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None)
        door.set()
