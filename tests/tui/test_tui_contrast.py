"""Every text of the app can be read on its ground, in both of its themes (WCAG 2.1, contrast of at least 4.5)."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from rich.color import ColorSystem
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.pilot import Pilot
from textual.widget import Widget

from longsearch.engine.types.results import ChanceLevel
from longsearch.tui.app import LongsearchApp
from longsearch.tui.themes import THEMES
from tests.tui.fake_backend import FakeBackend, described_reports, indexing, three_folders, three_reports, with_files
from tests.tui.tui_helpers import WIDE, ask, press_each, preview, results, settle

ENOUGH = 4.5
ENOUGH_IN_16 = 3.6
"""The grey of many terminals has no more on yellow, and 4 on white; that of others has 7."""
Steps = Callable[[Pilot[Any]], Awaitable[None]]
both_themes = pytest.mark.parametrize("theme", [theme.name for theme in THEMES])


def luminance(colour: ColorTriplet) -> float:
    """The relative luminance of WCAG 2.1."""
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(first: ColorTriplet, second: ColorTriplet) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def texts(pilot: Pilot[Any]) -> Iterator[Segment]:
    """Yield every text of the top screen's widgets, as it is painted. Lines and bars are no texts."""
    screen = pilot.app.screen
    shown = screen._compositor.visible_widgets  # what lies below a dialog is dimmed, and not among them
    areas = [region.intersection(clip) for widget, (region, clip) in shown.items() if not widget.children]
    for y, strip in enumerate(screen._compositor.render_strips(pilot.app.size)):
        for area in areas:
            if area.y <= y < area.bottom:
                yield from (part for part in strip.crop(area.x, area.right) if any(map(str.isalnum, part.text)))


def colours(style: Style | None, system: ColorSystem) -> tuple[ColorTriplet, ColorTriplet]:
    """The colours of letters and ground, as a terminal of this kind shows them."""
    assert style and style.color and style.bgcolor, style
    return style.color.downgrade(system).get_truecolor(), style.bgcolor.downgrade(system).get_truecolor()


def unreadable(pilot: Pilot[Any], system: ColorSystem = ColorSystem.TRUECOLOR, enough: float = ENOUGH) -> list[str]:
    """Return each text whose contrast is too low, with that contrast and its colours."""
    found = []
    for segment in texts(pilot):
        colour, ground = colours(segment.style, system)
        if (reached := contrast(colour, ground)) < enough:
            found.append(f"{reached:.2f} {colour.hex} on {ground.hex}: {segment.text.strip()}")
    return found


def pressed(*keys: str) -> Steps:
    async def steps(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        await press_each(pilot, *keys)

    return steps


def asked(*keys: str) -> Steps:
    async def steps(pilot: Pilot[Any]) -> None:
        await ask(pilot, "why did the valve fail", press_enter=True)
        await pressed(*keys)(pilot)

    return steps


def offering() -> FakeBackend:
    backend = three_reports()
    backend.heading_list = ["The history of the valve", "What the committee found"]
    return backend


def levels() -> FakeBackend:
    backend = three_reports()
    first, second, third = backend.hits
    chances = ChanceLevel.GOOD, ChanceLevel.CHANCE, ChanceLevel.CHANCE
    backend.hits = tuple(replace(hit, level=level) for hit, level in zip((first, second, third), chances, strict=True))
    return backend


STATES: dict[str, tuple[Callable[[], FakeBackend], Steps]] = {
    "nothing typed": (three_reports, pressed()),
    "what to ask first": (offering, pressed("down")),
    "indexing": (indexing, pressed()),
    "results": (three_reports, asked("down")),
    "a text that is read": (described_reports, asked("enter")),
    "finding in a text": (three_reports, asked("enter", "slash", "v", "a", "enter")),
    "why": (three_reports, asked("x")),
    "help": (three_reports, pressed("f1")),
    "the palette": (three_reports, pressed("ctrl+p")),
    "files": (with_files, pressed("f3")),
    "folders": (three_folders, pressed("f4")),
    "the goal": (three_reports, pressed("ctrl+r")),
    "the basket": (three_reports, asked("space", "b")),
    "likely and unlikely": (levels, asked()),
    "nothing found": (lambda: FakeBackend(), asked()),
    "the outline": (three_reports, asked("enter", "t")),
}


@both_themes
@pytest.mark.parametrize("state", STATES)
async def test_every_text_can_be_read(theme: str, state: str) -> None:
    make, steps = STATES[state]
    app = LongsearchApp(make())
    app.theme = theme
    async with app.run_test(size=WIDE) as pilot:
        await steps(pilot)
        assert sum(1 for _ in texts(pilot)) > 3
        assert unreadable(pilot) == []


@pytest.mark.slow
@both_themes
@pytest.mark.parametrize("size", [(40, 12), (60, 20), (80, 24), (140, 40), (200, 50)])
@pytest.mark.parametrize("state", STATES)
async def test_every_text_can_be_read_at_every_size(theme: str, state: str, size: tuple[int, int]) -> None:
    make, steps = STATES[state]
    app = LongsearchApp(make())
    app.theme = theme
    async with app.run_test(size=size) as pilot:
        await steps(pilot)
        assert unreadable(pilot) == []


@both_themes
async def test_in_16_colours_texts_can_be_read_and_the_chosen_row_and_the_answer_are_tinted(
    theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "standard")
    app = LongsearchApp(three_reports())
    app.theme = theme
    system = ColorSystem.STANDARD

    def grounds(widget: Widget) -> set[ColorTriplet]:
        parts = [part for y in range(widget.size.height) for part in widget.render_line(y) if part.text.strip()]
        return {colours(part.style, system)[1] for part in parts}

    async with app.run_test(size=WIDE) as pilot:
        await asked("down")(pilot)
        assert len(grounds(results(pilot))) == 2, "the chosen row, and the others"
        assert unreadable(pilot, system, ENOUGH_IN_16) == []
        await pressed("enter")(pilot)
        assert len(grounds(preview(pilot))) == 2, "the sentence that answers, and the text around it"
        assert unreadable(pilot, system, ENOUGH_IN_16) == []
        chosen = grounds(results(pilot)) | grounds(preview(pilot))
        for key in ("t", "f3", "b", "f5"):  # each marks its chosen row with the tint of the results
            await pressed(key)(pilot)
            (cursor,) = pilot.app.screen.query("LongTable, OptionList")
            assert len(grounds(cursor)) <= 2 and grounds(cursor) <= chosen, key
            assert unreadable(pilot, system, ENOUGH_IN_16) == []
            await pressed("escape")(pilot)


@both_themes
async def test_the_words_of_the_query_stand_out_on_the_sentence_and_beside_it(theme: str) -> None:
    app = LongsearchApp(three_reports())
    app.theme = theme
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve hydrogen", press_enter=True)
        await pilot.press("enter")
        await settle(pilot)
        text = preview(pilot)
        styles = [
            segment.style
            for y in range(text.size.height)
            for segment in text.render_line(y)
            if segment.style and segment.text.lower() in ("valve", "hydrogen")
        ]
        assert len({style.bgcolor for style in styles}) >= 2, "on the passage and on its excerpt"
        for style in styles:
            assert style.color and style.bgcolor and style.bold and style.underline
            assert contrast(style.color.get_truecolor(), style.bgcolor.get_truecolor()) >= ENOUGH
