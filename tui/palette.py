"""Lists the commands of the palette: every action of the screen that has a key. Lets a theme be chosen."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial

from textual.actions import parse
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES

from longsearch.tui.preferences import key_name, split_keys
from longsearch.tui.screens.kept import kept
from longsearch.tui.screens.picker import Line, PickerScreen
from longsearch.tui.widgets.key_line import KeyLine

_ROOMS = frozenset({"main", "results", "files", "basket", "table", "preview", "page"})
_MOVES = frozenset(
    {
        *("back", "query", "cursor_down", "cursor_up", "down", "up", "left", "right", "first", "last", "start", "end"),
        *("page_down", "page_up", "screen_down", "screen_up"),
    }
)
"""Steps for which nobody opens a palette."""
_TITLES = {
    "main.instruction": "Goal of the search",
    "main.saved": "Saved searches",
    "main.wider": "Wider results",
    "main.narrower": "Wider text",
    "main.next": "Next passage",
    "main.back_step": "Passage before",
    "main.previous": "Previous passage",
}
"""Where the word of the footer says too little."""


def palette_commands(app: App[str], screen: Screen[object], keymap: Mapping[str, str]) -> Iterable[SystemCommand]:
    """Yield a command for each action that works now, also those whose keys are text in the query line.

    Its help has its keys first, as its end may be cut off; `keymap` has other keys, by the id of the binding.
    """
    focused = screen.focused
    without = frozenset(action for line in screen.query(KeyLine) for action in line.without)
    for node in focused.ancestors_with_self if focused is not None else [screen]:
        for binding in node.BINDINGS:
            if isinstance(binding, Binding) and binding.id and _is_offered(binding, node, without):
                keys = ", ".join(map(key_name, split_keys(keymap.get(binding.id, binding.key))))
                about = f"{keys} · {binding.tooltip or binding.description}"
                title = _TITLES.get(binding.id, binding.description)
                yield SystemCommand(title, about, partial(app.run_action, binding.action, node))


def choose_theme(app: App[str]) -> None:
    """Let the person choose the colours: the app's own and the person's first, then those that Textual has."""
    names = sorted(app.available_themes, key=lambda name: (name in BUILTIN_THEMES, name))
    lines = [Line(name, is_marked=name == app.theme) for name in names]

    def take(at: int | None) -> None:
        if at is not None:
            app.theme = names[at]

    app.push_screen(kept(app, PickerScreen).put("Theme", lines, "Enter takes it; it is kept."), take)


def _is_offered(binding: Binding, node: DOMNode, without: Collection[str]) -> bool:
    """Return whether the command is one for the palette, and works now."""
    room, _, name = (binding.id or "").rpartition(".")
    if room not in _ROOMS or name in _MOVES or binding.action in without:
        return False
    _, action, parameters = parse(binding.action)
    return node.check_action(action, parameters) is True
