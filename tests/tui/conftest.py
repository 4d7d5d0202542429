"""Fixtures for the tests of the terminal app: no clock, and no colours from the environment."""

import pytest

from longsearch.tui.backend.backend_calls import BackendCalls
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.screens.user_data_calls import UserDataCalls
from tests.tui.tui_helpers import let_messages_pass

NEVER_S = 3_600.0


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the timers: the debounce, the polling of the progress, the renewal of the answer."""
    monkeypatch.setattr(BackendCalls, "DEBOUNCE_S", NEVER_S)
    monkeypatch.setattr(BackendCalls, "PROGRESS_EVERY_S", NEVER_S)
    monkeypatch.setattr(BackendCalls, "FOLDERS_EVERY_S", NEVER_S)
    monkeypatch.setattr(MainScreen, "RENEW_EVERY_S", NEVER_S)
    monkeypatch.setattr(UserDataCalls, "NEWS_EVERY_S", NEVER_S)
    # After every key, Textual itself waits at least 20 ms, until the process uses no processor time.
    monkeypatch.setattr("textual.app.wait_for_idle", let_messages_pass)
    monkeypatch.setattr("textual.pilot.wait_for_idle", let_messages_pass)
    for name in ("NO_COLOR", "COLORTERM", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "truecolor")
