"""The page as printed: `v` shows it, its keys, what it says when there is none, and what the terminal gets."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from textual.pilot import Pilot

from longsearch.engine.errors import ExtractionError
from longsearch.engine.page_image import Highlight, PageImage, PageQuestion
from longsearch.tui.app import LongsearchApp
from longsearch.tui.graphics.encoders import KITTY_DELETE
from longsearch.tui.graphics.terminal import Graphics, GraphicsProtocol
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.page_view import PageView
from longsearch.tui.widgets.status_line import StatusLine
from longsearch.tui.widgets.text_pane import TextPane
from tests.tui.decoding import from_iterm2, from_kitty, from_sixel
from tests.tui.fake_backend import FakeBackend, draw_lines, three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, preview, results, screen_text, settle


def page_view(pilot: Pilot[Any]) -> PageView:
    return pilot.app.screen.query_one(PageView)


def heading(pilot: Pilot[Any]) -> str:
    return pilot.app.screen.query_one(TextPane).query_one(HeaderLine).right


def asked(backend: FakeBackend) -> list[PageQuestion]:
    return [call[1] for call in backend.called("page_image")]  # type: ignore[misc]


def has_dots(text: str) -> bool:
    """Return whether a page is drawn: by dots of braille."""
    return any("\u2801" <= letter <= "\u28ff" for letter in text)


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def test_v_shows_the_passages_page_as_printed_and_v_shows_the_text_again() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "enter", "v")
        assert pilot.app.focused is page_view(pilot)
        (question,) = asked(backend)
        assert (question.path, question.page) == (backend.hits[0].path, 12)
        assert [text.kind for text in question.highlights] == [Highlight.CURRENT, Highlight.EXCERPT]
        document, passage = backend.documents[1], backend.hits[0].passages[0]
        assert [text.text for text in question.highlights] == [
            document.text[passage.start : passage.stop],
            document.text[slice(*passage.excerpt)] if passage.excerpt else "",
        ]
        assert has_dots(screen_text(pilot.app))
        assert heading(pilot).startswith("p. 12 of 40 · passage 2 of 5")
        await press(pilot, "v")
        assert pilot.app.focused is preview(pilot) and not page_view(pilot).display
        assert "Operators read" in screen_text(pilot.app)


async def test_passages_and_pages_turn_in_place_and_the_text_follows() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "enter", "v", "n")
        assert asked(backend)[-1].page == 13
        await press(pilot, "pagedown", "pagedown", "pageup")
        assert [question.page for question in asked(backend)[-2:]] == [14, 15], "page 14 is still there"
        assert heading(pilot).startswith("p. 14 of 40")
        await press(pilot, "G", "pagedown")
        assert asked(backend)[-1].page == 40
        await press(pilot, "g", "pageup")
        assert asked(backend)[-1].page == 1 and heading(pilot).startswith("p. 1 of 40")
        await press(pilot, "v")
        assert "1. What happened on day 1" in screen_text(pilot.app)


async def test_down_moves_over_the_page_and_beyond_its_end_comes_the_next() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "enter", "v", "pagedown")
        picture = page_view(pilot).picture
        assert picture is not None and picture.view.top == 0
        await press(pilot, "j")
        picture = page_view(pilot).picture
        assert picture is not None and picture.view.top == picture.view.height // 8
        n_asked = len(asked(backend))
        await press(pilot, "d", "d", "d", "d")
        assert asked(backend)[n_asked].page == 14, "a page that is only moved is not drawn again"
        await press(pilot, "g", "k")
        assert asked(backend)[-1].page == 1


async def test_zooming_asks_for_a_larger_page_and_minus_at_last_for_the_whole_one() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "enter", "v", "plus", "plus", "minus", "minus", "minus", "minus")
        widths = [question.width for question in asked(backend)]
        assert widths[0] < widths[1] < widths[2]
        assert asked(backend)[-1].height is not None
        picture = page_view(pilot).picture
        assert picture is not None and picture.image.height <= picture.view.height
        await press(pilot, "plus", "plus", "plus", "l", "l", "h")
        picture = page_view(pilot).picture
        assert picture is not None and picture.view.left > 0


async def test_plus_and_minus_make_the_page_larger_and_smaller_from_the_list_too() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "plus")
        assert pilot.app.screen.query_one(StatusLine).error == "this is the text: v shows its page as printed"
        await press(pilot, "v", "plus", "minus")
        first, larger = (question.width for question in asked(backend))
        picture = page_view(pilot).picture
        assert picture is not None and picture.wish.question.width == first < larger
        assert pilot.app.focused is results(pilot)


async def test_a_note_is_shown_as_text_and_says_so_and_the_next_pdf_as_printed_again() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "v", "j", "j")
        assert not page_view(pilot).display and "as text" in heading(pilot)
        await press(pilot, "k")
        assert page_view(pilot).display and asked(backend)[-1].page == 4
        await press(pilot, "v", "j", "v")
        assert "only a PDF has printed pages" in pilot.app.screen.query_one(StatusLine).error


async def test_a_page_that_cannot_be_drawn_costs_a_message_and_the_next_page_is_drawn() -> None:
    backend = three_reports()

    def draw(question: PageQuestion) -> PageImage:
        if question.page == 12:
            raise ExtractionError("page 12 cannot be drawn: \x1b[2J took more than 10 s", "o opens it in your viewer")
        return draw_lines(question)

    backend.draw = draw
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "enter", "v")
        assert "page 12 cannot be drawn" in screen_text(pilot.app) and "\x1b" not in screen_text(pilot.app)
        await press(pilot, "pagedown")
        assert has_dots(screen_text(pilot.app))


async def test_a_passage_that_is_not_found_on_its_page_is_said() -> None:
    backend = three_reports()
    backend.draw = lambda question: replace(
        draw_lines(question),
        highlights=tuple(replace(highlight, boxes=()) for highlight in draw_lines(question).highlights),
    )
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "enter", "v")
        assert heading(pilot).endswith("not found on the page")


def page_pixels(output: str, protocol: GraphicsProtocol) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    """Return the picture in what was written to the terminal."""
    if protocol is GraphicsProtocol.KITTY:
        return from_kitty(output)[1]
    return from_iterm2(output)[1] if protocol is GraphicsProtocol.ITERM2 else from_sixel(output)


@pytest.mark.parametrize("protocol", [GraphicsProtocol.KITTY, GraphicsProtocol.ITERM2, GraphicsProtocol.SIXEL])
async def test_the_terminal_gets_the_page_at_its_place_and_loses_it_under_another_screen(
    protocol: GraphicsProtocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = three_reports()
    app = LongsearchApp(backend, graphics=Graphics(protocol, 4, 8))
    written: list[str] = []
    async with app.run_test(size=SMALL) as pilot:
        assert app._driver is not None
        monkeypatch.setattr(app._driver, "write", written.append)
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "enter", "v")
        view = page_view(pilot)
        line = view.render_line(view.size.height - 1)
        assert line.cell_length == view.size.width
        output = "".join(segment.text for segment in line)
        place = f"\x1b7\x1b[{view.region.y + 1};{view.region.x + 1}H"
        assert output.lstrip(" ").startswith(place) and output.endswith("\x1b8")
        pixels = page_pixels(output, protocol)
        assert pixels.shape == (view.size.height * 8, view.size.width * 4, 3)
        picture = view.picture
        assert picture is not None
        question = asked(backend)[-1]
        page = draw_lines(question)
        whole = np.frombuffer(page.rgb, np.uint8).reshape(page.height, page.width, 3)
        part = whole[picture.view.top : picture.view.top + picture.view.height]
        dark = (part == 0x60).all(axis=2)
        assert dark.any() and (pixels[: len(part)][dark] < 0x90).all()
        await press(pilot, "f1")
        assert "\x1b7" not in "".join(segment.text for segment in view.render_line(view.size.height - 1))
        assert (KITTY_DELETE in written) == (protocol is GraphicsProtocol.KITTY)
        await press(pilot, "escape")
        assert "\x1b7" in "".join(segment.text for segment in view.render_line(view.size.height - 1))


async def test_letters_typed_before_the_app_could_read_stand_in_the_query() -> None:
    backend = three_reports()
    async with LongsearchApp(backend, typed="valve").run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "❯ valve" in screen_text(pilot.app)
