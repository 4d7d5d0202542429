"""The colours that a person last chose in the app, for the next start. The config file comes first."""

from longsearch.app.settings.reading import current
from longsearch.app.user_data.user_file import UserFile
from longsearch.engine.errors import LongsearchError
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
