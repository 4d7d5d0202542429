"""The help screen: how to ask, and every key. It reads the keys from the bindings, so they are always right."""

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from longsearch.tui.keys_page import tables
from longsearch.tui.preferences import Preferences, sound_keys
from longsearch.tui.screens.dialogs import TextBox, text_box_keys
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
_MARGIN = (
    ("▌  │", "the current passage, the other passages"),
    ("12", "page 12 starts here"),
    ("▀ ▄ █", "right edge: where in the document the passages are"),
)


class HelpScreen(TextBox):
    """A box with the help text. Esc closes it."""

    BINDINGS: ClassVar[list[BindingType]] = text_box_keys("help", "escape,f1,q,question_mark")

    def __init__(self) -> None:
        super().__init__("help", "Help")

    def text(self) -> Content:
        preferences: Preferences = getattr(self.app, "preferences", Preferences())
        return help_content(sound_keys(preferences.keys))


def help_content(keymap: Mapping[str, str] | None = None) -> Content:
    """Return the whole help text. `keymap`: other keys, by the id of the binding."""
    parts = [
        _table("Asking", _QUERIES),
        _table("Modes", _MODES),
        *(_table(place, rows) for place, rows in tables(keymap)),
        _table("In the margins of the text", _MARGIN),
    ]
    return Content("\n\n").join(parts)


def _table(heading: str, rows: "list[tuple[str, str]] | tuple[tuple[str, str], ...]") -> Content:
    lines = [Content.styled(heading, styles.HEADING)]
    for left, right in rows:
        lines.append(Content.assemble("  ", (left.ljust(17), styles.ACCENT), "  ", right))
    return Content("\n").join(lines)
