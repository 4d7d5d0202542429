"""What the app keeps for its next start: its colours, and for each folder what was in view when it was left.

The config file comes before the colours that were chosen in the app.
"""

import time
from typing import NamedTuple

from longsearch.app.settings.reading import current
from longsearch.app.user_data.user_file import UserFile
from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.modes import SearchMode
from longsearch.tui.preferences import AUTO_THEME

_FILE, _KEY = "app.json", "theme"


def kept_theme() -> str:
    """Return the theme that was last chosen, or ""."""
    try:
        return str(UserFile(_FILE).read().get(_KEY, ""))
    except LongsearchError:  # colours are no reason to stop
        return ""


def keep_theme(name: str) -> str:
    """Keep a theme. Returns why it is not kept, or "". Raises LongsearchError if it cannot be written."""
    wished = current().theme
    if wished != AUTO_THEME:
        return f"{name} until you leave: the config file names {wished}"
    with UserFile(_FILE).changing() as known:
        known[_KEY] = name
    return ""


MAX_FOLDERS = 100


class LastState(NamedTuple):
    """The query and the document that were in view."""

    query: str
    mode: SearchMode
    instruction: str
    path: str
    """The file of the document that was in view, or ""."""


def _left() -> UserFile:
    return UserFile("last.json", lambda known: [float(row.get("left_at", 0.0)) for row in known.values()])


def keep_state(root: str, state: LastState) -> None:
    """Keep the state of the app over a folder; "" for all folders. Does nothing if the person has turned it off.

    Raises LongsearchError.
    """
    if not current().restore:
        return
    with _left().changing() as known:
        known[root] = {
            "query": state.query,
            "mode": state.mode.value,
            "instruction": state.instruction,
            "path": state.path,
            "left_at": time.time(),
        }
        for oldest in sorted(known, key=lambda name: known[name].get("left_at", 0.0))[:-MAX_FOLDERS]:
            del known[oldest]


def last_state(root: str) -> LastState | None:
    """Return the state in which the app over this folder was left; None if there is none. Raises LongsearchError."""
    row = _left().read().get(root) if current().restore else None
    if not isinstance(row, dict):
        return None
    try:
        mode = SearchMode(row.get("mode", ""))
    except ValueError:
        return None
    return LastState(str(row.get("query", "")), mode, str(row.get("instruction", "")), str(row.get("path", "")))


def left_at() -> dict[str, float]:
    """Return when the app over each folder was last left, in seconds since 1970."""
    known = _left().read() if current().restore else {}
    return {root: float(row.get("left_at", 0.0)) for root, row in known.items() if isinstance(row, dict)}
