"""Scanned pages in the app: how many wait, the key that has them read, and the mark of text that is from OCR."""

from dataclasses import replace
from typing import Any

from textual.pilot import Pilot

from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.progress import ScannedPages
from longsearch.tui.app import LongsearchApp
from tests.tui.fake_backend import FakeBackend, some_files, three_reports
from tests.tui.test_tui_snapshots import Compare, both_sizes
from tests.tui.tui_helpers import ask, screen_text, settle

SIZE = (110, 26)


def backend_with_scans(**changes: Any) -> FakeBackend:
    backend = FakeBackend()
    backend.file_list = [
        file._replace(n_scanned=3412) if file.path.startswith("scans/") else file for file in some_files()
    ]
    backend.scans = ScannedPages(0, 16_920.0, True, **changes)
    return backend


async def open_files(pilot: Pilot[Any]) -> None:
    await pilot.press("f3")
    await settle(pilot)


async def test_s_has_scanned_pages_read_and_a_second_time_no_longer() -> None:
    backend = backend_with_scans()
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        assert "3,412 scanned pages, about 4.7 h · s: read them when the computer is idle" in screen_text(pilot.app)
        await pilot.press("s")
        await settle(pilot)
        assert backend.called("read_scans") == [("True",)]
        assert "read when the computer is idle and plugged in · s: no longer" in screen_text(pilot.app)
        assert "the scanned pages are noted" in screen_text(pilot.app)
        await pilot.press("s")
        await settle(pilot)
        assert backend.called("read_scans") == [("True",), ("False",)]


async def test_without_tesseract_s_says_how_to_get_it() -> None:
    backend = backend_with_scans(problem="OCR needs tesseract, which is not installed: install it")
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        assert "s: read them" not in screen_text(pilot.app)
        await pilot.press("s")
        await settle(pilot)
        assert "✗ OCR needs tesseract, which is not installed: install it" in screen_text(pilot.app)
        assert backend.called("read_scans") == []


async def test_an_error_of_the_key_is_shown() -> None:
    backend = backend_with_scans()
    backend.errors["read_scans"] = LongsearchError("the disk is full", "make room")
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        await pilot.press("s")
        await settle(pilot)
        assert "✗ the disk is full — make room" in screen_text(pilot.app)


async def test_a_folder_without_scanned_pages_has_no_line_for_them() -> None:
    backend = FakeBackend()
    backend.file_list = some_files()
    async with LongsearchApp(backend).run_test(size=SIZE) as pilot:
        await open_files(pilot)
        assert not pilot.app.screen.query_one("#scans").display
        await pilot.press("s")
        await settle(pilot)
        assert "There are no scanned pages without text." in screen_text(pilot.app)


def from_ocr() -> FakeBackend:
    backend = three_reports()
    first = backend.hits[0]
    backend.hits = (replace(first, passages=tuple(replace(p, is_ocr=True) for p in first.passages)), *backend.hits[1:])
    backend.documents[1] = replace(backend.documents[1], ocr_pages=tuple(range(1, 41)))
    return backend


async def test_results_and_text_say_that_they_are_from_ocr() -> None:
    backend = from_ocr()
    async with LongsearchApp(backend).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        text = screen_text(pilot.app)
        assert "p. 12 (OCR)" in text
        assert "p. 12 of 40 (OCR)" in text
        assert "p. 4 (OCR)" not in text


@both_sizes
def test_snapshot_of_scanned_pages(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(LongsearchApp(backend_with_scans()), terminal_size=size, run_before=open_files)


@both_sizes
def test_snapshot_of_text_from_ocr(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[Any]) -> None:
        await ask(pilot, "why did the valve fail", press_enter=True)
        await settle(pilot)

    assert snap_compare(LongsearchApp(from_ocr()), terminal_size=size, run_before=steps)
