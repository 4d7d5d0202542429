"""The words of the query can be read on every ground that they stand on (WCAG 2.1, contrast of at least 4.5)."""

import pytest
from rich.color_triplet import ColorTriplet

from longsearch.tui.app import LongsearchApp
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import WIDE, ask, preview, settle

ENOUGH = 4.5


def luminance(colour: ColorTriplet) -> float:
    """The relative luminance of WCAG 2.1."""
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(first: ColorTriplet, second: ColorTriplet) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
async def test_the_words_of_the_query_stand_out_on_the_text_that_is_highlighted(theme: str) -> None:
    app = LongsearchApp(three_reports())
    app.theme = theme
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve reactor", press_enter=True)
        await pilot.press("enter")
        await settle(pilot)
        text = preview(pilot)
        styles = [
            segment.style
            for y in range(text.size.height)
            for segment in text.render_line(y)
            if segment.style and segment.text.lower() in ("valve", "reactor")
        ]
        grounds = {style.bgcolor for style in styles}
        assert len(grounds) >= 2, "on the passage and on its excerpt"
        for style in styles:
            assert style.color and style.bgcolor and style.bold
            assert contrast(style.color.get_truecolor(), style.bgcolor.get_truecolor()) >= ENOUGH
