"""The files screen: every file with its status, the reason and the hint; its keys."""

import pytest
from textual.pilot import Pilot

from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.widgets.long_table import LongTable
from tests.tui.fake_backend import ROOT, FakeBackend, some_files
from tests.tui.tui_helpers import SMALL, screen_text, settle

SIZE = (110, 26)


async def open_files(pilot: Pilot[None]) -> None:
    await pilot.press("f3")
    await settle(pilot)


def backend_with_files() -> FakeBackend:
    backend = FakeBackend()
    backend.file_list = some_files()
    return backend


def statuses(pilot: Pilot[None]) -> list[str]:
    table = pilot.app.screen.query_one(LongTable)
    return [table.row_at(row)[0].text for row in range(table.row_count)]


async def test_letters_move_in_the_list_as_they_do_elsewhere() -> None:
    backend = backend_with_files()
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        table = pilot.app.screen.query_one(LongTable)
        rows = []
        for key in ("j", "j", "k", "G", "g"):
            await pilot.press(key)
            rows.append(table.cursor_row)
        assert rows == [1, 2, 1, len(backend.file_list) - 1, 0]


async def test_failed_files_come_first_with_their_reason_and_hint() -> None:
    async with LongsearchApp(backend_with_files()).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        assert statuses(pilot) == ["failed", "failed", "partial", "waiting", "current"]
        text = screen_text(pilot.app)
        assert "2 failed · 1 partial · 1 waiting · 1 current" in text
        assert "→ save a copy without the password" in text
        await pilot.press("down", "down", "down")
        assert "0 of 940 tokens searchable by meaning" in screen_text(pilot.app)
        assert "notes/[red]todo[/red].md" in screen_text(pilot.app)


async def test_what_can_be_done_is_seen_below_a_long_name_and_a_long_reason() -> None:
    backend, reason = (
        FakeBackend(),
        "no readable text in 32 pages: the fonts do not say which letters they show on them",
    )
    backend.file_list = [some_files()[3]._replace(path="a-name-of-forty-" * 6 + "cells.pdf", reason=reason)]
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await open_files(pilot)
        assert "→ save a copy without the password" in screen_text(pilot.app)


async def test_where_every_file_was_read_the_name_has_the_room_of_the_reason() -> None:
    backend = FakeBackend()
    backend.file_list = [file._replace(path=f"{file.path[:-4]}-year.pdf") for file in some_files()[:2]]
    async with LongsearchApp(backend).run_test(size=(60, 20)) as pilot:
        await open_files(pilot)
        text = screen_text(pilot.app)
        assert "reports/2011/unit-2-year.pdf" in text and "reason" not in text
        assert "940" in text, "the numbers keep their room"
    async with LongsearchApp(backend_with_files()).run_test(size=(60, 20)) as pilot:
        await open_files(pilot)
        assert "reason" in screen_text(pilot.app)


async def test_the_filter_goes_through_the_statuses_that_occur() -> None:
    backend = backend_with_files()
    backend.file_list = [file for file in backend.file_list if file.status is not FileStatus.PARTIAL]
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        seen = []
        for _ in range(4):
            await pilot.press("f")
            seen.append(statuses(pilot))
        assert seen == [["failed"] * 2, ["waiting"], ["current"], ["failed", "failed", "waiting", "current"]]


async def test_the_keys_open_copy_reload_and_go_back() -> None:
    backend = backend_with_files()
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        path = str(ROOT / "contracts/lease.pdf")
        for key in ("o", "enter"):  # one at a time: a second call cancels the first
            await pilot.press(key)
            await settle(pilot)
        assert backend.called("open") == [(path, None, ""), (path, None, "")]
        await pilot.press("y")
        assert pilot.app.clipboard == path
        backend.file_list = backend.file_list[:1]
        await pilot.press("f5")
        await settle(pilot)
        assert statuses(pilot) == ["current"]
        await pilot.press("escape", "ctrl+f")
        await settle(pilot)
        assert statuses(pilot) == ["current"]
        await pilot.press("ctrl+f")
        assert isinstance(pilot.app.screen, MainScreen)


async def test_r_reads_partial_files_again() -> None:
    backend = backend_with_files()
    backend.file_list = [file for file in backend.file_list if file.status is FileStatus.PARTIAL]
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        assert "read again once it has changed, or on request" in screen_text(pilot.app)
        await pilot.press("r")
        await settle(pilot)
        assert backend.called("retry") == [("",)]


async def test_r_reads_failed_files_again() -> None:
    backend = backend_with_files()
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        assert "read again once it has changed, or on request" in screen_text(pilot.app)
        await pilot.press("r")
        await settle(pilot)
        assert backend.called("retry") == [("",)]
        assert "✓ they are read again; F5 shows the outcome" in screen_text(pilot.app)
        backend.errors["retry"] = LongsearchError("the daemon did not start", "see its log")
        await pilot.press("r")
        await settle(pilot)
        assert "✗ the daemon did not start — see its log" in screen_text(pilot.app)
        assert len(statuses(pilot)) == 5


async def test_r_reads_nothing_again_if_every_file_was_read_in_full() -> None:
    backend = backend_with_files()
    backend.file_list = [file for file in backend.file_list if file.status is FileStatus.CURRENT]
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        await pilot.press("r")
        await settle(pilot)
        assert backend.called("retry") == []
        assert "Every file was read in full." in screen_text(pilot.app)


async def test_an_empty_list_is_explained_and_the_keys_for_a_file_do_nothing() -> None:
    backend = FakeBackend()
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        assert "There are no files here yet." in screen_text(pilot.app)
        await pilot.press("o", "y", "f", "enter")
        assert backend.called("open") == []


async def test_an_error_while_the_list_is_read_is_shown() -> None:
    backend = FakeBackend()
    backend.errors["files"] = OSError("gone")
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        assert "✗ Something went wrong inside longsearch: OSError: gone" in screen_text(pilot.app)


async def test_of_thousands_of_files_only_the_lines_on_the_screen_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    draw = LongTable.render_line
    monkeypatch.setattr(LongTable, "render_line", lambda self, y: (made.append(y), draw(self, y))[1])
    backend = FakeBackend()
    backend.file_list = [FileReport(f"a/{n}.pdf", FileStatus.CURRENT, "", "", 9, 9, 9) for n in range(5_000)]
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        assert 0 < len(made) < 500
        assert len(statuses(pilot)) == 5_000


async def test_the_cursor_stays_on_its_file_when_the_terminal_is_resized() -> None:
    backend = backend_with_files()
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        await pilot.press("down", "down", "down")
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert "0 of 940 tokens searchable by meaning" in screen_text(pilot.app)
        await pilot.press("o")
        await settle(pilot)
        assert backend.called("open") == [(str(ROOT / "notes/[red]todo[/red].md"), None, "")]
