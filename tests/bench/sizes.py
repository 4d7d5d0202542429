"""Draws the main screens at every usual size, in both themes: `python tests/bench/sizes.py OUT`. To be looked at.

CI compares all states at 80x24 and 140x40 and the main ones at every size (`tests/tui/test_tui_snapshots.py`); this
draws all of them, as SVG, in two minutes.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"  # whatever terminal this is run in

from longsearch.tui.app import LongsearchApp
from longsearch.tui.themes import THEMES
from tests.tui.fake_backend import FakeBackend, described_reports, indexing, three_folders, three_reports, with_files
from tests.tui.tui_helpers import ask, settle

SIZES = ((60, 20), (80, 24), (140, 40), (200, 50))


STATES: dict[str, tuple[Callable[[], FakeBackend], str, tuple[str, ...]]] = {
    "empty": (three_reports, "", ()),
    "indexing": (indexing, "", ()),
    "results": (three_reports, "why did the valve fail", ()),
    "marked": (three_reports, "why did the valve fail", ("asterisk",)),
    "jump": (three_reports, "why did the valve fail", ("semicolon",)),
    "reading": (described_reports, "why did the valve fail", ("enter",)),
    "printed": (three_reports, "why did the valve fail", ("enter", "v")),
    "folders": (three_folders, "why did the valve fail", ()),
    "files": (with_files, "", ("f3",)),
    "basket": (three_reports, "why did the valve fail", ("space", "b")),
    "outline": (three_reports, "why did the valve fail", ("enter", "t")),
    "why": (three_reports, "why did the valve fail", ("x",)),
    "help": (three_reports, "", ("f1",)),
}
"""The name of each: its backend, what is asked, and the keys after it."""


async def draw(state: str, size: tuple[int, int], theme: str, out: Path) -> None:
    """Draw one screen at one size."""
    make, query, keys = STATES[state]
    app = LongsearchApp(make())
    app.theme = theme
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        if query:
            await ask(pilot, query, press_enter=True)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
        colours = "mono" if "NO_COLOR" in os.environ else theme.removeprefix("longsearch-")
        app.save_screenshot(f"{state}-{size[0]}x{size[1]}-{colours}.svg", str(out))


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    themes = [theme.name for theme in THEMES]
    for theme in themes[:1] if "NO_COLOR" in os.environ else themes:
        for size in SIZES:
            for state in STATES:
                asyncio.run(draw(state, size, theme, out))


if __name__ == "__main__":
    main()
