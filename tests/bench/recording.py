"""Records the app at work for the README: `python tests/bench/recording.py FOLDER OUT.svg [QUERY]`.

FOLDER must be indexed, and a daemon must be running. The app runs without a terminal; each step is taken as Textual's
own picture of the screen, and the pictures become one animated SVG, which needs no player and no network. Each word
that is typed is a frame as well. A row that comes again is kept once, so the file stays small.
"""

import argparse
import asyncio
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"  # whatever terminal this is run in

from textual.pilot import Pilot

from longsearch.app.backend import AppBackend
from longsearch.app.paths import resolve_root
from longsearch.tui.app import LongsearchApp

SIZE = (100, 28)
QUERY = "when does the landlord have to return the deposit"
PATIENCE_S, STEP_S = 60.0, 0.1
STEPS = (
    ("enter", 2.0),
    ("down", 1.2),
    ("up", 0.8),
    ("enter", 1.5),
    ("space", 1.5),
    ("n", 1.5),
    ("escape", 0.8),
    ("ampersand", 1.0),
    *((letter, 0.15) for letter in "rent"),
    ("enter", 2.0),
    ("escape", 1.0),
    ("s", 1.0),
    ("down", 0.6),
    ("s", 3.0),
    ("escape", 0.5),
    ("f1", 2.5),
    ("escape", 0.5),
    ("b", 3.0),
)
"""Keys, and how many seconds each result is shown."""
_WORD_S = 0.3
_IDS = re.compile(r"terminal-\d+")
_RULE = re.compile(r"\.t-(r\d+) \{(.*?)\}")
_CLASS = re.compile(r'class="t-(r\d+)"')
_FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Letters from another machine: none are loaded."""
_ELEMENT = re.compile(r'<rect [^>]*? y="(?P<y>[\d.]+)"[^>]*/>|<text [^>]*?-line-(?P<line>\d+)\)">.*?</text>', re.DOTALL)
_RECT = re.compile(r'<rect fill="(?P<fill>[^"]+)" x="(?P<x>[\d.]+)" (?P<y>y="[\d.]+") width="(?P<width>[\d.]+)"')
_CLIP = re.compile(r' clip-path="[^"]*"')
_FIRST_ROW, _ROW_HEIGHT = 1.0, 24.4
_SCREEN = '<g transform="translate(9, 41)"'


async def frames(folder: Path, query: str) -> list[tuple[str, float]]:
    """Return the pictures, each with the seconds for which it is shown."""
    app, taken = LongsearchApp(AppBackend(folder)), []

    async def settle(pilot: Pilot[str | None], is_done: Callable[[], bool] = lambda: True) -> str:
        """Wait until the screen no longer changes; return its picture."""
        end, before = asyncio.get_running_loop().time() + PATIENCE_S, ""
        while asyncio.get_running_loop().time() < end:
            await pilot.pause(STEP_S)
            picture = _IDS.sub("t", app.export_screenshot(title="longsearch"))
            if picture == before and is_done():
                break
            before = picture
        return before

    async with app.run_test(size=SIZE) as pilot:
        taken.append((await settle(pilot, lambda: "ready" in app.export_screenshot()), 1.5))
        for word in query.split():
            await pilot.press(*word, "space")
            await pilot.pause()
            taken.append((_IDS.sub("t", app.export_screenshot(title="longsearch")), _WORD_S))
        for key, shown_s in STEPS:
            await pilot.press(key)
            taken.append((await settle(pilot), shown_s))
    return taken


def animated(taken: list[tuple[str, float]]) -> str:
    """Return one SVG that shows the pictures one after the other, for ever.

    The window around the screen is that of the first picture. Each row of a screen is a group that is visible for its
    time; a row that comes again is kept once. Styles are shared by all.
    """
    total_s, began_s = sum(shown_s for _, shown_s in taken), 0.0
    styles: dict[str, str] = {}
    groups: dict[str, list[tuple[float, float]]] = {}
    for picture, shown_s in taken:
        for row in _rows(picture, styles):
            times = groups.setdefault(row, [])
            begin_s = times.pop()[0] if times and times[-1][1] == began_s else began_s
            times.append((begin_s, began_s + shown_s))
        began_s += shown_s
    rules = [f".{name} {{ {rule} }}" for rule, name in styles.items()]
    parts, visible = [], {}
    for row, times in groups.items():
        name = visible.setdefault(_keyframes(times, total_s), f"f{len(visible)}")
        parts.append(f'<g class="{name}">{row}</g>')
    for steps, name in visible.items():
        rules.append(f"@keyframes {name} {{ {steps} }}")
        rules.append(f".{name} {{ animation: {name} {total_s:.2f}s step-end infinite; visibility: hidden; }}")
    window = _FONTS.sub("", _RULE.sub("", taken[0][0].split(_SCREEN, 1)[0]))
    style = "\n".join(rules)
    return (
        window.replace("</style>", f"{style}\n</style>", 1)
        + _SCREEN
        + f' class="t-matrix">{"".join(parts)}</g></svg>\n'
    )


def _rows(picture: str, styles: dict[str, str]) -> Iterator[str]:
    """Yield the drawing of each row of a picture's screen. Adds its styles to those of all: rule to name."""
    start, inside = picture.split(_SCREEN, 1)
    names = {name: styles.setdefault(rule.strip(), f"s{len(styles)}") for name, rule in _RULE.findall(start)}
    rows: dict[int, list[str]] = {}
    for element in _ELEMENT.finditer(inside):
        drawn = _CLASS.sub(lambda found: f'class="{names[found[1]]}"', element[0])
        row = element["line"] or (float(element["y"]) - _FIRST_ROW) // _ROW_HEIGHT
        if not drawn.endswith(">\n</text>"):
            rows.setdefault(int(row), []).append(_CLIP.sub("", drawn).replace(' shape-rendering="crispEdges"', ""))
    yield from map("".join, map(_joined, rows.values()))


def _joined(row: list[str]) -> list[str]:
    """Return the drawing of a row with neighbouring grounds of one colour as one: half of its characters are these."""
    drawn: list[str] = []
    for element in row:
        here, before = _RECT.match(element), _RECT.match(drawn[-1]) if drawn else None
        if here and before and here["fill"] == before["fill"]:
            width = float(here["x"]) + float(here["width"]) - float(before["x"])
            drawn[-1] = drawn[-1].replace(f'width="{before["width"]}"', f'width="{width:g}"')
        else:
            drawn.append(element)
    return drawn


def _keyframes(times: list[tuple[float, float]], total_s: float) -> str:
    """Return when a group is visible, as the steps of an animation in CSS."""
    steps = {0.0: "hidden"}
    for begin_s, end_s in times:
        steps[100 * begin_s / total_s] = "visible"
        steps.setdefault(min(100 * end_s / total_s, 100.0), "hidden")
    for begin_s, _ in times:  # one that begins where another ends stays visible
        steps[100 * begin_s / total_s] = "visible"
    return " ".join(f"{at:.3f}% {{ visibility: {how}; }}" for at, how in sorted(steps.items()))


def main() -> None:
    """Record, and write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("out", type=Path)
    parser.add_argument("query", nargs="?", default=QUERY)
    options = parser.parse_args()
    svg = animated(asyncio.run(frames(resolve_root(options.folder), options.query)))
    options.out.write_text(svg)
    print(f"{options.out}: {len(svg) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
