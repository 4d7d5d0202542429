"""Hostile titles and paths, wrong offsets, empty documents, terminals of every size."""

from dataclasses import replace

import pytest

from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.results import PassageHit
from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.main import MainScreen
from tests.tui.fake_backend import FakeBackend, hit, long_document, three_reports
from tests.tui.tui_helpers import WIDE, ask, preview, screen_text

HOSTILE = "[red]Alert[/red] \x1b[31mred\x1b]0;owned\x07 \u202eevil \udcff"


async def test_hostile_titles_paths_and_texts_are_shown_literally() -> None:
    text = f"{HOSTILE}\n\x1b[2J and more [bold]text[/bold]\n" * 3
    bad = replace(
        hit(1, long_document(2), (1,), f"[b]dir[/b]/{HOSTILE}.pdf", HOSTILE),
        passages=(PassageHit(None, HOSTILE, 0, 30, text[:30], 0.5),),
    )
    backend = FakeBackend(bad, documents={1: DocumentText(text, (), HOSTILE)})
    backend.note = HOSTILE
    backend.start_note = HOSTILE
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "[red]x[/red]", press_enter=True)
        await pilot.press("y", "Y", "n", "p")
        shown = screen_text(pilot.app)
        assert "[red]Alert[/red] \ufffd[31mred\ufffd]0;owned\ufffd \ufffdevil \ufffd" in shown
        assert "[bold]text[/bold]" in shown
        assert not any(character in shown for character in "\x1b\x07\u202e\udcff")


async def test_a_document_is_shown_even_if_its_passages_lie_past_its_end() -> None:
    late = replace(hit(1, long_document(2), (2,)), passages=(PassageHit(9, "", 900_000, 900_100, "gone", 0.5),))
    backend = FakeBackend(late, documents={1: long_document(2)})
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "gone", press_enter=True)
        await pilot.press("n", "enter", "n", "G", "g")
        assert preview(pilot).document is backend.documents[1]


@pytest.mark.parametrize("document", [DocumentText("", (), ""), DocumentText("\n", (0, 0, 0), "")])
async def test_an_empty_document_is_shown(document: DocumentText) -> None:
    empty = replace(hit(1, long_document(2), (2,)), passages=())
    async with LongsearchApp(FakeBackend(empty, documents={1: document})).run_test(size=WIDE) as pilot:
        await ask(pilot, "x", press_enter=True)
        await pilot.press("n", "o", "y", "enter", "G", "g", "space")
        assert preview(pilot).document is document


@pytest.mark.parametrize("size", [(1, 1), (12, 6), (99, 13), (160, 50)])
async def test_no_terminal_is_too_small_or_too_large(size: tuple[int, int]) -> None:
    async with LongsearchApp(three_reports()).run_test(size=size) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("enter", "n", "escape", "f3", "escape", "f1", "escape", "ctrl+r", "escape")
        assert isinstance(pilot.app.screen, MainScreen)
