"""docs/screen.md lists every text of the first three screens. Read from the snapshots of these screens."""

import re
from collections import defaultdict
from html import unescape
from itertools import chain
from pathlib import Path

import pytest
from textual.binding import Binding

from longsearch.tui import bindings
from longsearch.tui.text.display import shown
from longsearch.tui.text.folder_words import place_line
from tests.tui.fake_backend import INDEXING, ROOT, described_reports, three_folders, three_reports
from tests.tui.test_tui_snapshots import first_screen

PAGE = Path(__file__).parents[2] / "docs" / "screen.md"
SNAPSHOTS = Path(__file__).parent / "__snapshots__" / "test_tui_snapshots"
SCREENS = [
    "nothing_typed_yet",
    "nothing_says_that",
    "what_to_ask_first",
    "indexing_runs",
    "results",
    "reading_a_long_document",
    "results_no_better_than_chance",
    "results_of_several_folders",
    "a_document_with_metadata",
    "finding_in_the_text",
    *(f"the_main_states_at_the_smallest_and_the_largest_size[{state}" for state in ("first", "results", "reading")),
]
"""Tests whose pictures show them; behind a bracket, how the names of the pictures go on."""
APART = re.compile(r"\s{2,}|[╭╮╰╯▏▌▀▄▇█▔▁│❯●━]+|─{3,}| · |(?<=[a-z]{2}\.) (?=\d)")
CELL = 12.2
"""Width of a cell in a snapshot."""


def rows(snapshot: str) -> list[str]:
    """Return the lines of a screen."""
    lines: dict[float, list[tuple[float, str]]] = defaultdict(list)
    for x, y, text in re.findall(r'<text class="[^"]*-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', snapshot):
        lines[float(y)].append((float(x), unescape(text).replace("\xa0", " ")))
    whole = []
    for y in sorted(lines):
        row = ""
        for x, text in sorted(lines[y]):
            row = row.ljust(round(x / CELL)) + text
        whole.append(row)
    return whole


def texts(snapshot: str) -> set[str]:
    """Return the texts of a screen, without frames and bars: two blanks or a dot part them."""
    parts = chain.from_iterable(APART.split(row) for row in rows(snapshot))
    return {part.strip(" ─") for part in parts} - {""}


def listed() -> list[re.Pattern[str]]:
    """Return what stands in the first column of the page: any number stands for any other, any quotation too."""
    cells = re.findall(r"^\| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    samples = chain.from_iterable(re.findall(r"\*(.+?)\*|`(.+?)`", cell) for cell in cells)
    found = ["".join(sample).strip(" ─") for sample in samples]
    return [re.compile(re.sub("“.+”", "“.+”", re.sub(r"\d+", r"[\\d,]+", re.escape(text)))) for text in found]


def of_the_documents() -> str:
    """Return all that the documents and the person say on these screens."""
    said = [
        "why did the valve fail",
        "decay heat of the second reactor",
        "pumps",
        "pump that failed",
        str(ROOT),
        INDEXING.activity,
    ]
    said.append(place_line(three_folders().folders()))
    for backend in (three_reports(), described_reports(), three_folders(), first_screen()):
        said += [*backend.heading_list, backend.note]
        for hit in backend.hits:
            said += [hit.title, *(f"{hit.path} {value.value}" for value in hit.metadata), hit.path]
            said += [f"{value.field}: {value.value}" for value in hit.metadata]
            said += [f"#{shown(value.value)}" for value in hit.metadata if value.field == "tag"]
            said += [f"{hit.folder}{hit.path.removeprefix(hit.root)} p. {one.page}" for one in hit.passages]
            said.append(", ".join(value.value for value in hit.metadata if value.field == "author"))
        said += [document.text for document in backend.documents.values()]
    return " ".join(" ".join(said).split())


def is_key(text: str) -> bool:
    """Return whether it is a key of the footer, with what it does."""
    tables = (bindings.MAIN, bindings.QUERY, bindings.LIST_MOVES, bindings.TEXT_MOVES)
    labels = {key.description for key in chain.from_iterable(tables) if isinstance(key, Binding)} | {"Quit"}
    return text.partition(" ")[2] in labels


@pytest.mark.parametrize("name", SCREENS)
def test_each_text_of_the_first_screens_is_listed_with_its_reason(name: str) -> None:
    samples, documents = listed(), of_the_documents()
    test, _, state = name.partition("[")
    snapshots = sorted(SNAPSHOTS.glob(f"test_{test}[[]{state}*")) or [SNAPSHOTS / f"test_{test}.svg"]

    def has_reason(text: str) -> bool:
        whole = text.rstrip("…").strip()
        is_sample = any(sample.fullmatch(text) for sample in samples)
        return is_sample or is_key(text) or all(piece in documents for piece in whole.split("…"))

    unlisted = {text for file in snapshots for text in texts(file.read_text("utf-8")) if not has_reason(text)}
    assert not unlisted
