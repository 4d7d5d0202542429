"""How far it is from a pause after a key to the drawn answer: the modules and functions of the terminal app entered."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from longsearch.engine.types.results import SearchMode
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.backend_calls import BackendCalls
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import WIDE, ask, preview, screen_text, settle, until

TUI = Path(__file__).parents[2] / "tui"
MAX_MODULES, MAX_FUNCTIONS, MAX_PAINTING = 18, 105, 20
"""The most that a search by meaning may enter. Lambdas and comprehensions count with the function around them.

Functions that draw in place of Textual's own, which are not counted, are counted apart.
"""

Entered = set[tuple[str, str]]
"""(module, function)."""


@contextmanager
def entered() -> Iterator[Entered]:
    """Note which functions of the terminal app are entered, in this thread and in those that start meanwhile."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        # every message passes `on_event`; on a busy machine panes hear of their size late, and messages wait for one
        # another: no part of a search
        if event == "call" and not frame.f_code.co_qualname.endswith(
            (">", ".on_event", ".on_resize", ".fit", "._size_updated", ".can_replace")
        ):
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    result: Entered = set()
    try:
        yield result
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # typeshed forgets None
        for file, function in seen:
            path = Path(file).resolve()
            if path.is_relative_to(TUI):
                result.add((str(path.relative_to(TUI)), function))


async def test_a_search_enters_few_modules_and_functions_on_its_way_to_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BackendCalls, "PROGRESS_EVERY_S", 3600)  # a reading of it is no part of the search
    backend = three_reports()
    backend.answers[("valve fail", SearchMode.WORDS)] = backend.hits[1:]
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve fail")
        assert "Valves: a manual" in screen_text(pilot.app)
        await until(pilot, lambda: preview(pilot).size.width)  # the panes are laid out
        with entered() as functions:
            pilot.app.screen.query_one(BackendCalls).search_now()
            await settle(pilot)
            assert "Report on the accident" in screen_text(pilot.app)
    assert ("backend/backend_calls.py", "BackendCalls.search_now") in functions
    assert len({module for module, _ in functions}) <= MAX_MODULES, sorted(functions)
    painting = {one for one in functions if one[0] == "painting.py"}
    assert len(functions - painting) <= MAX_FUNCTIONS, sorted(functions)
    assert len(painting) <= MAX_PAINTING, sorted(painting)
