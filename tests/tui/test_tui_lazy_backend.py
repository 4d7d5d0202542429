"""The backend is made when it is first asked, once, and never by a glance at its folder."""

import threading
from pathlib import Path

from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.lazy_backend import lazy_backend
from tests.tui.fake_backend import HELD_S, ROOT, FakeBackend, three_reports
from tests.tui.tui_helpers import WIDE, ask, screen_text, settle, until


async def test_the_app_shows_itself_and_takes_keys_while_the_backend_is_made() -> None:
    door, threads = threading.Event(), []

    def make() -> FakeBackend:
        threads.append(threading.get_ident())
        door.wait(HELD_S)
        return three_reports()

    shown: list[bool] = []
    app = LongsearchApp(lazy_backend(ROOT, make), when_shown=lambda: shown.append(door.is_set()))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press(*"valve")
        assert "❯ valve" in screen_text(pilot.app) and str(ROOT) in screen_text(pilot.app)
        await until(pilot, lambda: bool(shown))
        assert shown == [False], "the first frame does not wait for the backend"
        door.set()
        await until(pilot, lambda: "Report on the accident" in screen_text(pilot.app))
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("space")
        await settle(pilot)
        assert "kept: 1 passages in the basket" in screen_text(pilot.app)
    assert len(threads) == 1 and threading.get_ident() not in threads


def test_a_backend_that_was_never_asked_is_not_made_to_be_closed() -> None:
    made: list[FakeBackend] = []

    def make() -> FakeBackend:
        made.append(three_reports())
        return made[0]

    backend = lazy_backend(None, make)
    assert backend.root is None
    backend.close()
    assert made == []
    asked = backend.user_data.history  # a look at a method makes nothing
    assert made == []
    assert asked() == ([], []) and backend.folders() == []
    backend.close()
    assert [call[0] for call in made[0].calls] == ["close"]
    assert lazy_backend(Path("/p"), make).root == Path("/p")
