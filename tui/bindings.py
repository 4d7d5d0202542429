"""All keys of the main screen. The footer and the help screen are made from these tables.

Plain letters are commands in the results and in the text; in the query line they are text. Each binding has an id, so
a keymap can give it another key. The order is that of the footer: a narrow terminal cuts off the last ones.

A binding runs at once (`TakesKeys`). Textual sends a key through every widget from the focus up before it looks for a
binding, a message for each widget: 1.2 ms.
"""

import sys
from functools import cache, partial
from typing import Any

from textual import constants
from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.widget import Widget

from longsearch.tui.preferences import key_name


def _shown(id: str, keys: str, action: str, label: str, about: str = "", **more: Any) -> Binding:
    """Return a binding that the footer shows. `id` is its name in the settings, or "" for none."""
    return Binding(keys, action, label, id=id or None, tooltip=about, **more)


_hidden = partial(_shown, show=False)
EVERYWHERE = Binding.Group("Everywhere")
"""The keys that work everywhere stand at the right end of the footer."""
_everywhere = partial(_shown, group=EVERYWHERE)


def _find(id: str) -> Binding:
    """Return the key that finds words in the text, or in the page as printed."""
    action, about = "screen.text('ask_wanted')", "Find in this text"
    return _shown(id, "slash", action, "Find", about, key_display="/", priority=True)


MAIN: list[BindingType] = [
    _shown("main.open", "o,ctrl+o", "text('open_file')", "Open", "Open the file in its viewer, at this page"),
    _shown("main.printed_page", "v", "text('switch_view')", "Page", "The page as printed; again: the text"),
    _shown("main.copy", "y", "text('copy_passage')", "Copy", "Copy the sentence that answers, with title and page"),
    _shown("main.keep", "space", "text('keep')", "Add to basket", "Put the passage into the basket of evidence"),
    _shown("main.next", "n", "text('step', 1)", "Next", "Next passage in the document, or next place found"),
    _hidden("main.back_step", "N", "text('step', -1)", "Back", "Previous passage, or previous place found"),
    _hidden("main.previous", "p", "text('go_to_passage', -1)", "Prev", "Previous passage in the document"),
    _shown("main.basket", "b", "kept('show_basket')", "Basket", "The passages that you keep; export them"),
    _hidden("main.table", "T", "kept('show_table')", "Table", "Ask each document each question of a file"),
    _hidden("main.copy_path", "Y", "text('copy_path')", "Copy path", "Copy the path of the file"),
    _shown(
        "main.similar", "m", "similar", "Similar", "Documents similar to this one; in the text, passages like this one"
    ),
    # With priority, so that letters typed right after it no longer go to the list.
    _shown(
        "main.slash",
        "slash",
        "slash",
        "Query",
        "Go to the query line; in the text: find in it",
        key_display="/",
        priority=True,
    ),
    _hidden("main.act", "exclamation_mark", "text('choose_action')", "Action", "A command of your own for this result"),
    _hidden("main.narrow", "ampersand", "narrow", "Narrow", "Only results with more words or fields; Esc undoes it"),
    _hidden("main.dates", "h", "dates", "Dates", "How many results there are of each year; show one year alone"),
    _hidden("main.jump", "semicolon,f12", "jump", "Jump", "A letter at every pane and result; press one to go there"),
    _hidden("main.wider", "greater_than_sign", "share(1)", "Wider", "More room for the results"),
    _hidden("main.narrower", "less_than_sign", "share(-1)", "Narrower", "More room for the text"),
    _hidden("main.explain", "x", "text('explain')", "Why", "Why this document has its score"),
    _hidden(
        "main.side_by_side",
        "s",
        "text('mark_side')",
        "Side by side",
        "Mark this passage; on another one: show both side by side",
    ),
    _hidden("main.outline", "t", "text('show_outline')", "Outline", "Outline: headings or pages; go to one"),
    _hidden("main.larger", "plus,equals_sign", "text('zoom', 1)", "Larger page", "The page as printed: larger"),
    _hidden("main.smaller", "minus", "text('zoom', -1)", "Smaller page", "The page as printed: smaller"),
    _hidden("main.ask_page", "colon", "text('ask_page')", "Go to page", "Go to a page by its number"),
    _hidden("main.query", "ctrl+l", "query", "Query", "Go to the query line", priority=True),
    _everywhere("main.help", "f1,question_mark", "app.help", "Help", "This help", key_display="F1"),
    _everywhere("main.mode", "f2,ctrl+t", "mode", "Mode", "Next mode: hybrid, meaning, words", key_display="Ctrl+T"),
    # With priority, because the Input deletes a word on Ctrl+F.
    _everywhere(
        "main.files", "f3,ctrl+f", "app.files", "Files", "Every file and its status", key_display="F3", priority=True
    ),
    _everywhere("main.folders", "f4,ctrl+g", "folders", "Folders", "Search one folder only", key_display="F4"),
    _hidden("main.history", "f5,ctrl+y", "kept('choose_earlier')", "History", "Earlier queries, to ask again"),
    _hidden("main.saved", "f6,ctrl+s", "kept('choose_saved')", "Saved", "Saved searches, and what is new"),
    _everywhere(
        "main.instruction", "ctrl+r", "instruction", "Goal", "The goal of the search: what kind of answer you want"
    ),
    _hidden("main.back", "escape", "back", "Back", "One step back: text, results, query"),
    _hidden("main.down", "down", "select(1)", "Next result", "From the query: next result"),
    _hidden(
        "main.up",
        "up",
        "select(-1)",
        "Previous result",
        "From the query: previous result; in an empty line, the last query",
    ),
    _hidden("main.page_down", "pagedown", "text('turn_page', 1)", "Page down", "From the query: page the text down"),
    _hidden("main.page_up", "pageup", "text('turn_page', -1)", "Page up", "From the query: page the text up"),
]

QUERY: list[BindingType] = [
    _shown("query.choose", "enter", "submit", "Choose", "From the query: search now, go to the results")
]

LIST_MOVES: list[BindingType] = [
    _shown("results.read", "enter", "select", "Read", "From a result: read it"),
    _hidden("results.down", "j", "cursor_down", "Down"),
    _hidden("results.up", "k", "cursor_up", "Up"),
    _hidden("results.first", "g", "first", "First"),
    _hidden("results.last", "G", "last", "Last"),
    _hidden(
        "results.mark",
        "asterisk,shift+down",
        "mark",
        "Mark",
        "Mark this result and go on: Open, Copy, Add to basket and actions then take all that are marked",
    ),
    _hidden("results.undo", "u", "screen.undo", "Undo", "Back to the question before, and to its document"),
    _hidden("results.unfold", "e", "unfold", "Unfold", "List the documents that say nearly the same as this one"),
]

TEXT_MOVES: list[BindingType] = [
    _find("preview.find"),
    _hidden("preview.down", "j", "scroll_down", "Down"),
    _hidden("preview.up", "k", "scroll_up", "Up"),
    _hidden("preview.page_down", "d", "page_down", "Page down"),
    _hidden("preview.page_up", "u", "page_up", "Page up"),
    _hidden("preview.start", "g", "scroll_home", "Start"),
    _hidden("preview.end", "G", "scroll_end", "End"),
]

SIDES: list[BindingType] = [
    _shown("sides.back", "escape,q,s", "leave", "Back", "Back to the results"),
    _shown(
        "sides.other",
        "tab,shift+tab,left,right",
        "other",
        "Other side",
        "To the other side",
        key_display="Tab",
        priority=True,
    ),
    _shown("sides.next", "n", "passage(1)", "Next", "Next passage on this side"),
    _shown("sides.previous", "p", "passage(-1)", "Prev", "Previous passage on this side"),
    _shown("sides.printed_page", "v", "printed_page", "Page", "The page as printed; again: the text"),
]

BASKET: list[BindingType] = [
    _shown("basket.back", "escape,q,b", "leave", "Back", "Back to the results"),
    _shown("basket.open", "o", "open", "Open", "Open the file in its viewer, at this page"),
    _shown("basket.note", "n", "note", "Note", "Write a note to the passage"),
    _shown("basket.export", "e", "export", "Export", "Write the basket to a file"),
    _shown("basket.copy", "y", "copy", "Copy", "Copy the passage with its source"),
    _shown("basket.remove", "d,delete", "remove", "Remove", "Take the passage out"),
    _shown("basket.move_down", "J,shift+down", "move(1)", "Down", "Move the passage down"),
    _shown("basket.move_up", "K,shift+up", "move(-1)", "Up", "Move the passage up"),
    _shown("basket.undo", "u", "undo", "Undo", "Take the last change back"),
    _shown("basket.clear", "C", "clear", "Clear", "Remove all passages"),
    _hidden("basket.next", "j", "cursor(1)", "Next", "Next passage"),
    _hidden("basket.previous", "k", "cursor(-1)", "Previous", "Previous passage"),
]

TABLE: list[BindingType] = [
    _shown("table.back", "escape,q,T", "leave", "Back", "Back to the results; what was found is kept"),
    _shown("table.open", "o", "open", "Open", "Open the file in its viewer, at this page"),
    _shown("table.correct", "e", "correct", "Correct", "Write the cell by hand; it stays"),
    _shown("table.copy", "y", "copy", "Copy", "Copy the sentence with its document and page"),
    _shown("table.stop", "s", "stop", "Stop", "Stop asking; again: go on"),
    _hidden("table.left", "left,h", "column(-1)", "Left", "The question to the left", priority=True),
    _hidden("table.right", "right,l", "column(1)", "Right", "The question to the right", priority=True),
]

FILES: list[BindingType] = [
    _shown("files.back", "escape,q,f3,ctrl+f", "dismiss", "Back", "Back to the results"),
    _shown("files.filter", "f", "filter", "Filter", "Show only the files of the next status"),
    _shown("files.open", "o,enter", "open", "Open", "Open the file in its viewer"),
    _shown("files.copy_path", "y", "copy_path", "Copy path", "Copy the path of the file"),
    _shown("files.retry", "r", "retry", "Read again", "Read again the files that failed or are partial"),
    _shown(
        "files.scans",
        "s",
        "scans",
        "Read scans",
        "Read scanned pages when the computer is idle and plugged in; again: no longer",
    ),
    _shown("files.reload", "f5", "read", "Reload", "Read the list again"),
]

TABLE_MOVES: list[BindingType] = [
    _hidden("", "down,j", "move(1)", "Down"),
    _hidden("", "up,k", "move(-1)", "Up"),
    _hidden("", "pagedown", "page(1)", "Page down"),
    _hidden("", "pageup", "page(-1)", "Page up"),
    _hidden("", "home,ctrl+home,g", "go_to(0)", "First"),
    _hidden("", "end,ctrl+end,G", "go_to(-1)", "Last"),
]

PAGE_MOVES: list[BindingType] = [
    _find("page.find"),
    _shown("page.next", "pagedown,right_square_bracket", "turn(1)", "Next page"),
    _hidden("page.previous", "pageup,left_square_bracket", "turn(-1)", "Page before"),
    _hidden("page.down", "j,down", "move(0, 1)", "Down", "Down, then the next page"),
    _hidden("page.up", "k,up", "move(0, -1)", "Up", "Up, then the page before"),
    _hidden("page.screen_down", "d", "move(0, 6)", "Screen down"),
    _hidden("page.screen_up", "u", "move(0, -6)", "Screen up"),
    _hidden("page.right", "l,right", "move(1, 0)", "To the right"),
    _hidden("page.left", "h,left", "move(-1, 0)", "To the left"),
    _shown("page.larger", "plus,equals_sign", "zoom(1)", "Larger"),
    _shown("page.smaller", "minus", "zoom(-1)", "Smaller", "Smaller; at last the whole page"),
    _hidden("page.first", "g,home", "end(1)", "First page"),
    _hidden("page.last", "G,end", "end(-1)", "Last page"),
]


@cache
def handles_keys(kind: type[Widget]) -> bool:
    """Return whether widgets of a kind have handlers of keys of their own, beside those of all screens and widgets."""
    own = (name for base in kind.__mro__ if base not in Widget.__mro__ and base is not Screen for name in vars(base))
    return any(name in ("on_key", "_on_key") or name.startswith(("key_", "_key_")) for name in own)


class TakesKeys(App[str]):
    """An app that gets keys quickly, and asks the widgets about a key only where one of them handles keys."""

    def get_driver_class(self) -> type[Driver]:
        """Return the driver: Textual's for Windows, or the one that the environment names; else `TerminalInput`."""
        if sys.platform == "win32" or constants.DRIVER:
            return super().get_driver_class()
        from longsearch.tui.terminal_input import TerminalInput

        return TerminalInput

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        if await super()._check_bindings(key, priority):
            return True
        if not priority or key == "escape":  # on its way through the screen, Escape clears a selection
            return False
        below = self.focused or self.screen
        if any(isinstance(one, Widget) and handles_keys(type(one)) for one in below.ancestors_with_self):
            return False
        await super()._check_bindings(key)
        return True

    def get_key_display(self, binding: Binding) -> str:
        """Return a key as the footer shows it: in the spelling of the help."""
        return binding.key_display or key_name(binding.key)
