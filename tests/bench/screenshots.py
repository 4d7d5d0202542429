"""Takes the screenshots of the README from the real app: python tests/bench/screenshots.py FOLDER QUERY OUT

FOLDER must be indexed already, and a daemon must be running. Writes OUT/app-80x24.svg and OUT/app-140x40.svg.
"""

import argparse
import asyncio
import os
from pathlib import Path

os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"  # whatever terminal this is run in

from longsearch.app.backend import AppBackend
from longsearch.app.paths import resolve_root
from longsearch.tui.app import LongsearchApp

SIZES = ((80, 24), (140, 40))
SETTLED_S = 4.0


async def take(folder: Path, query: str, out: Path, size: tuple[int, int]) -> None:
    """Type the query, wait for the results by meaning, and write the screenshot."""
    app = LongsearchApp(AppBackend(folder))
    async with app.run_test(size=size) as pilot:
        await pilot.pause(1)
        await pilot.press(*("space" if key == " " else key for key in query))
        await pilot.pause(SETTLED_S)
        app.save_screenshot(f"app-{size[0]}x{size[1]}.svg", str(out))


def main() -> None:
    """Take a screenshot of each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("query")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for size in SIZES:
        asyncio.run(take(resolve_root(options.folder), options.query, options.out, size))


if __name__ == "__main__":
    main()
