"""The help screen: how to ask, and every key. It reads the keys from the bindings, so they are always right."""

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from longsearch.tui.bindings import BASKET, LIST_MOVES, MAIN, MAP, PAGE_MOVES, SIDES, TEXT_MOVES
from longsearch.tui.preferences import Preferences, key_name, sound_keys, split_keys
from longsearch.tui.text import styles

_QUERIES = (
    ("words of your own", "what you mean, as a question, a claim or a topic"),
    ('"an exact phrase"', "these words, one after the other"),
    ("-word", "leave out passages with this word"),
    ("author:lee", "only by this author; also title:, tag:, doi:, arxiv:"),
    ("date:2021..2023", "only of this time; also since:30d; sort:date"),
    ("status:draft", "this value of any key of front matter"),
    ("in:contracts", "only paths that contain this; -in: leaves them out"),
    ("type:pdf", "only files of this type, or of one of several types"),
    ('where: "a quote"', "document and page of a quotation, even if it differs a little"),
    ("lang:de", "only documents in this language; lang:german too"),
    ("folder:papers", "only this one of several folders"),
)
_MODES = (
    ("hybrid", "by meaning and by words, the two scores combined"),
    ("meaning", "by meaning alone: finds it said in other words too"),
    ("words", "by words alone: for names and numbers; answers at once"),
)
_OTHERS = (
    ("Enter", "From the query: search now, go to the results"),
    ("Enter", "From a result: read it"),
    ("Tab", "In the query: complete the field or the value"),
    ("Tab", "Otherwise: to the query, the results, the text in turn"),
    ("Ctrl+U", "Clear the query up to the cursor"),
    ("Ctrl+P", "Every command; change the colours"),
    ("Ctrl+Q", "Quit; indexing goes on"),
)
_MARGIN = (
    ("▌  │", "the current passage, the other passages"),
    ("12", "page 12 starts here"),
    ("▀ ▄ █", "right edge: where in the document the passages are"),
)


class HelpScreen(ModalScreen[None]):
    """A box with the help text. Esc closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,question_mark", "dismiss", "Close", id="help.close"),
        Binding("j", "scroll(1)", "Down", id="help.down", show=False),
        Binding("k", "scroll(-1)", "Up", id="help.up", show=False),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = "Help"
            preferences: Preferences = getattr(self.app, "preferences", Preferences())
            yield Static(help_content(sound_keys(preferences.keys)), markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def action_scroll(self, rows: int) -> None:
        self.query_one("#help").scroll_relative(y=rows, animate=False)


def help_content(keymap: Mapping[str, str] | None = None) -> Content:
    """Return the whole help text. `keymap`: other keys, by the id of the binding."""
    changed = keymap or {}
    parts = [
        _table("Asking", _QUERIES),
        _table("Modes", _MODES),
        _table("Everywhere", [*_OTHERS, *_keys(MAIN, changed)]),
        _table("In the results", _keys(LIST_MOVES, changed)),
        _table("In the text", _keys(TEXT_MOVES, changed)),
        _table("On the page as printed", _keys(PAGE_MOVES, changed)),
        _table("Side by side", _keys(SIDES, changed)),
        _table("On the map", _keys(MAP, changed)),
        _table("In the basket", _keys(BASKET, changed)),
        _table("In the margins of the text", _MARGIN),
    ]
    return Content("\n\n").join(parts)


def _keys(bindings: list[BindingType], keymap: Mapping[str, str]) -> list[tuple[str, str]]:
    return [
        (
            ", ".join(key_name(key) for key in split_keys(keymap.get(binding.id or "", binding.key))),
            binding.tooltip or binding.description,
        )
        for binding in bindings
        if isinstance(binding, Binding)
    ]


def _table(heading: str, rows: "list[tuple[str, str]] | tuple[tuple[str, str], ...]") -> Content:
    lines = [Content.styled(heading, styles.HEADING)]
    for left, right in rows:
        lines.append(Content.assemble("  ", (left.ljust(17), styles.ACCENT), "  ", right))
    return Content("\n").join(lines)
