"""`o`: the viewer gets page and excerpt, the editor gets the terminal, and what cannot be done is copied."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from longsearch.engine.opened import Opened
from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens import carrying_out
from longsearch.tui.widgets.status_line import StatusLine
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import WIDE, ask, screen_text, settle

EDIT = ("vim", "+3", "/notes/a b.md")


async def press_o(app: LongsearchApp, backend: Any) -> tuple[str, str]:
    """Press `o` on the first result; return the notice and the error."""
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("o")
        await settle(pilot)
        status = pilot.app.screen.query_one(StatusLine)
        assert "\x1b" not in screen_text(app)
        return status.notice, status.error


async def test_the_viewer_is_told_the_page_and_the_excerpt() -> None:
    backend = three_reports()
    assert await press_o(LongsearchApp(backend), backend) == ("opened unit-2-report.pdf with xdg-open", "")
    document, passage = backend.documents[1], backend.hits[0].passages[0]
    assert passage.excerpt is not None
    assert backend.called("open") == [(backend.hits[0].path, 12, document.text[slice(*passage.excerpt)])]


async def test_a_printed_page_that_was_turned_to_opens_itself() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for key in ("enter", "v", "o", "pagedown", "o"):
            await pilot.press(key)
            await settle(pilot)
        assert [call[1] for call in backend.called("open")] == [12, 13]
        assert backend.called("open")[0][2] and not backend.called("open")[1][2]


async def test_an_editor_gets_the_terminal_while_the_app_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, happened = three_reports(), []
    backend.opened = Opened("back from vim", command=EDIT)
    app = LongsearchApp(backend)

    @contextmanager
    def suspend() -> Iterator[None]:
        happened.append("away")
        yield
        happened.append("back")

    def run(command: tuple[str, ...], check: bool) -> SimpleNamespace:
        happened.append(shlex.join(command))
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(app, "suspend", suspend)
    monkeypatch.setattr(carrying_out.subprocess, "run", run)
    assert await press_o(app, backend) == ("back from vim", "")
    assert happened == ["away", "vim +3 '/notes/a b.md'", "back"]


async def test_where_the_terminal_cannot_be_left_the_command_is_copied() -> None:
    backend = three_reports()
    backend.opened = Opened("back from vim", command=EDIT)
    app = LongsearchApp(backend)
    notice, _ = await press_o(app, backend)
    assert notice == f"cannot leave this terminal; copied: {shlex.join(EDIT)}"
    assert app.clipboard == shlex.join(EDIT)


async def test_an_editor_that_fails_or_is_gone_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = three_reports()
    backend.opened = Opened("back", command=("/nowhere/vim\x1b[2J", "/a.md"))
    app = LongsearchApp(backend)
    monkeypatch.setattr(app, "suspend", nullcontext)
    assert (await press_o(app, backend))[1].startswith("cannot start /nowhere/vim")
    backend.opened = Opened("back", command=("false",))
    app = LongsearchApp(backend)
    monkeypatch.setattr(app, "suspend", nullcontext)
    assert (await press_o(app, backend))[1] == "false ended with status 1"


async def test_without_a_display_the_command_is_shown_and_copied() -> None:
    backend = three_reports()
    backend.opened = Opened("no display here; copied: evince -i 7 /\x1b[2Ja.pdf", copy="evince -i 7 /a.pdf")
    app = LongsearchApp(backend)
    notice, _ = await press_o(app, backend)
    assert notice.startswith("no display here; copied: evince -i 7") and app.clipboard == "evince -i 7 /a.pdf"
