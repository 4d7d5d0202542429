"""Fills the command palette: every action of the screen that has a key, and the earlier queries."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol, cast

from textual.actions import parse
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.command import Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen

from longsearch.tui.backend.interface import Question
from longsearch.tui.preferences import key_name, split_keys
from longsearch.tui.text.display import clip, shown
from longsearch.tui.widgets.key_line import KeyLine
from longsearch.tui.widgets.query_bar import QueryBar

_ROOMS = frozenset({"main", "results", "files", "basket", "table", "preview", "page"})
_MOVES = frozenset(
    {
        *("back", "query", "cursor_down", "cursor_up", "down", "up", "left", "right", "first", "last", "start", "end"),
        *("page_down", "page_up", "screen_down", "screen_up"),
    }
)
"""Steps for which nobody opens a palette."""
_MAX_SHOWN = 200
"""Cells of an earlier query that are shown; a page may have been pasted."""
_TITLES = {
    "main.instruction": "Goal of the search",
    "main.saved": "Saved searches",
    "main.wider": "More room for the results",
    "main.narrower": "More room for the text",
    "main.next": "Next passage",
    "main.back_step": "Passage before",
    "main.previous": "Previous passage",
}
"""Where the word of the footer says too little."""


def palette_commands(app: App[str], screen: Screen[object], keymap: Mapping[str, str]) -> Iterable[SystemCommand]:
    """Yield a command for each action that works now, also those whose keys are text in the query line.

    Its help says what it does, and its keys; `keymap` has other keys, by the id of the binding.
    """
    focused = screen.focused
    for node in focused.ancestors_with_self if focused is not None else [screen]:
        for binding in node.BINDINGS:
            if isinstance(binding, Binding) and binding.id and _is_offered(binding, node):
                keys = map(key_name, split_keys(keymap.get(binding.id, binding.key)))
                about = f"{binding.tooltip or binding.description} ({', '.join(keys)})"
                title = _TITLES.get(binding.id, binding.description)
                yield SystemCommand(title, about, partial(app.run_action, binding.action, node))


def _is_offered(binding: Binding, node: DOMNode) -> bool:
    """Return whether the command is one for the palette, and works now."""
    room, _, name = (binding.id or "").rpartition(".")
    if room not in _ROOMS or name in _MOVES:
        return False
    if any(binding.action in line.without for line in node.screen.query(KeyLine)):
        return False
    _, action, parameters = parse(binding.action)
    return node.check_action(action, parameters) is True


class _Asker(Protocol):
    """What the app must know."""

    earlier: Callable[[], Awaitable[Sequence[Question]]]
    """Returns the earlier questions, newest first."""


class EarlierQueries(Provider):
    """The earlier queries, to ask again in the mode and with the instruction of that time."""

    _questions: Sequence[Question] = ()

    async def startup(self) -> None:
        """Read the history."""
        self._questions = await cast(_Asker, self.app).earlier()

    async def search(self, query: str) -> Hits:
        """Yield the queries that hold every word, newest first. Textual's matcher takes minutes for a long query."""
        words, bars = query.casefold().split(), self.screen.query(QueryBar)
        for age, question in enumerate(self._questions if bars else ()):
            text = shown(question.query)
            if all(word in text.casefold() for word in words):
                ask, line = partial(bars.first().put, question), clip(text, _MAX_SHOWN)
                yield Hit(1 / (1 + age), Content(line), ask, line, "Ask again")
