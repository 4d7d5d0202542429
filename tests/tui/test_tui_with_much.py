"""The palette, the list of files, the results and the text do no more work for much than for little.

What is counted are the calls of functions in the thread of the screen while a key is handled, not time.
"""

import sys
from types import FrameType
from typing import Any

import pytest
from textual.pilot import Pilot

from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.tui.app import LongsearchApp
from tests.tui.conftest import NEVER_S
from tests.tui.fake_backend import FakeBackend, hit, long_document
from tests.tui.tui_helpers import WIDE, ask, settle

KEYS = (
    "down",
    "enter",
    "pagedown",
    "n",
    "t",
    "escape",
    "escape",
    "ctrl+p",
    "h",
    "e",
    "escape",
    "f3",
    "down",
    "G",
    "escape",
)
"""To the second result, into its text, down, to its next passage, its outline; the palette; the files, to their end."""


def backend_with(n_files: int, n_pages: int) -> FakeBackend:
    few = long_document()
    text = few.text * (n_pages // len(few.page_starts))
    size = len(text) // n_pages
    book = DocumentText(text, tuple(range(0, size * n_pages, size)), "A book")
    backend = FakeBackend(
        hit(1, few, (12, 3)), hit(2, book, (n_pages // 2, 3), "book.txt"), documents={1: few, 2: book}
    )
    statuses = list(FileStatus)
    backend.file_list = [
        FileReport(f"folder {n % 100}/file {n}.pdf", statuses[n % len(statuses)], "a reason", "a hint", n % 300, n, n)
        for n in range(n_files)
    ]
    return backend


async def calls_of(pilot: Pilot[Any], key: str) -> int:
    """How many functions are called in this thread from a key to the end of what it starts."""
    n_calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        await pilot.press(key)
        await settle(pilot)
    finally:
        sys.setprofile(None)
    return n_calls


async def calls_of_keys(backend: FakeBackend) -> list[int]:
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "accident", press_enter=True)
        return [await calls_of(pilot, key) for key in KEYS]


@pytest.mark.xdist_group("much")
async def test_no_key_does_more_on_the_screens_thread_for_50_000_files_and_a_document_of_10_megabytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # by the clock, a busy machine would draw more frames while a long text is wrapped; `settle` draws them all the same
    monkeypatch.setattr("textual.screen.UPDATE_PERIOD", NEVER_S)
    few, many = await calls_of_keys(backend_with(200, 500)), await calls_of_keys(backend_with(50_000, 5_000))
    more = {key: (own, most) for key, own, most in zip(KEYS, few, many, strict=True) if most > 1.2 * own + 5_000}
    assert not more
