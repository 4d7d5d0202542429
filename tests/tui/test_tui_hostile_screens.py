"""Hostile titles, paths, texts and names on every screen: nothing is drawn outside its box, and nothing is obeyed."""

import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from longsearch.engine.types.documents import DocumentText, Heading, MetadataValue
from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.engine.types.results import DocumentHit, Folder, PassageHit
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.interface import Question, Saved
from tests.tui.fake_backend import FakeBackend, long_document
from tests.tui.fake_user_data import some_evidence
from tests.tui.tui_helpers import WIDE, ask, preview, screen_text, settle

EVIL = "[red]\x1b[31m\x1b]0;owned\x07\x9b2J[/red] \u202eevil\u2066\u200f \udcff 資料\u0301"
EVIL += "é👩\u200d👧\ufe0f\u200b\t\r\n\u2028"
"""Markup, escapes, bidi controls, a lone surrogate, wide and joined characters, tabs and line ends."""
LONG = EVIL * 40
SCREENS = {
    "the results": (),
    "the text": ("enter",),
    "the outline": ("enter", "t"),
    "finding": ("enter", "slash", "e"),
    "why": ("x",),
    "two sides": ("s", "down", "s"),
    "the files": ("f3",),
    "earlier queries": ("f5",),
    "saved searches": ("f6",),
    "the basket": ("b",),
    "the palette": ("ctrl+p",),
}


def evil_hit(number: int, text: str) -> DocumentHit:
    passages = tuple(
        PassageHit(None, LONG, start, start + 200, text[start : start + 200], 0.5, (start, start + 90))
        for start in (0, 300)
    )
    about = (MetadataValue("author", LONG, EVIL), MetadataValue("status", LONG, EVIL))
    return DocumentHit(number, number, f"/home/ada/papers/{EVIL}/{LONG}.pdf", LONG, 0.5, passages, metadata=about)


def evil_backend(text: str) -> FakeBackend:
    headings = tuple(Heading(1 + start % 6, LONG, start) for start in range(0, 600, 50))
    document = DocumentText(text, (), LONG, headings)
    backend = FakeBackend(evil_hit(1, text), evil_hit(2, text), documents={1: document, 2: document})
    backend.note = backend.start_note = LONG
    backend.file_list = [FileReport(LONG, status, LONG, LONG, 1, 1, 1) for status in FileStatus]
    backend.user_data.asked = [Question(LONG, instruction=LONG)]
    backend.user_data.searches = [Saved(LONG, Question(LONG), LONG, (LONG,))]
    backend.user_data.kept = some_evidence()
    backend.user_data.other_folders = [Folder(LONG, f"/{LONG}", 1)]
    backend.progress_now = replace(backend.progress_now, activity=LONG)
    return backend


def check_boxes(pilot: Pilot[Any]) -> None:
    """Every line fills the terminal exactly, and holds no character that a terminal would obey."""
    width, height = pilot.app.size
    strips = pilot.app.screen._compositor.render_strips()
    assert len(strips) == height
    for strip in strips:
        assert sum(cell_len(segment.text) for segment in strip) == width
    shown = screen_text(pilot.app).replace("\n", "")
    obeyed = {name for name in shown if unicodedata.category(name) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert obeyed == set()


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
@pytest.mark.parametrize("keys", SCREENS.values(), ids=SCREENS)
async def test_no_screen_draws_outside_its_boxes_or_obeys_a_text(keys: tuple[str, ...], size: tuple[int, int]) -> None:
    async with LongsearchApp(evil_backend(LONG * 3)).run_test(size=size) as pilot:
        await ask(pilot, "evil", press_enter=True)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
        check_boxes(pilot)


@pytest.mark.parametrize("letters", ["x", EVIL], ids=["one letter", "hostile"])
async def test_a_line_of_ten_million_characters_stays_in_its_box(letters: str) -> None:
    text = letters * (10_000_000 // len(letters))
    async with LongsearchApp(evil_backend(text)).run_test(size=WIDE) as pilot:
        await ask(pilot, "evil", press_enter=True)
        for key in ("enter", "n", "G", "pageup", "g"):
            await pilot.press(key)
            await settle(pilot)
            check_boxes(pilot)
        assert preview(pilot).document.text is text


async def test_an_error_of_the_backend_with_control_characters_stays_a_line() -> None:
    backend = FakeBackend(evil_hit(1, LONG), documents={1: long_document(2)})
    backend.errors["hybrid"] = RuntimeError(LONG)
    async with LongsearchApp(backend).run_test(size=(80, 24)) as pilot:
        await ask(pilot, "evil", press_enter=True)
        check_boxes(pilot)
