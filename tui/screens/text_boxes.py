"""Boxes of text that scroll: the help, and why a document has its score. Esc closes them."""

from collections.abc import Mapping
from typing import ClassVar, Self

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from longsearch.engine.metadata_lines import describe
from longsearch.engine.reason_lines import reason_lines
from longsearch.engine.types.results import DocumentHit
from longsearch.tui.keys_page import tables
from longsearch.tui.painting import show_title
from longsearch.tui.preferences import Preferences, sound_keys
from longsearch.tui.screens.box import BoxScreen
from longsearch.tui.text import styles
from longsearch.tui.text.display import shown
from longsearch.tui.widgets.key_line import KeyLine
from longsearch.tui.widgets.long_text import LongText
from longsearch.tui.widgets.result_pane import EXAMPLES

_KEY_CELLS = 18
"""The width of what is typed, left of what it does."""
_QUERIES = (
    *EXAMPLES,
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


def text_box_keys(name: str, close: str) -> list[BindingType]:
    """Return the keys of a box of text, with the ids `NAME.close`, `NAME.down` and `NAME.up`."""
    return [
        Binding(close, "dismiss", "Close", id=f"{name}.close"),
        Binding("j", "scroll(1)", "Down", id=f"{name}.down", show=False),
        Binding("k", "scroll(-1)", "Up", id=f"{name}.up", show=False),
    ]


class TextBox(BoxScreen[None]):
    """A box of text that scrolls."""

    def __init__(self, box_id: str, title: str = "", hang: int = 0) -> None:
        """`title` has passed through `shown`. `hang`: cells that stay empty where a line goes on."""
        super().__init__()
        self._title, self._content = title, Content("")
        self._text = LongText(hang, id=box_id)

    def compose(self) -> ComposeResult:
        yield from (self._text, KeyLine())

    def fill(self) -> None:
        """Show the text from its beginning."""
        show_title(self._text, self._title)
        self._text.show(self._content)

    def action_scroll(self, rows: int) -> None:
        self._text.scroll_relative(y=rows, animate=False)


class HelpScreen(TextBox):
    """A box with the help text. Esc closes it."""

    BINDINGS: ClassVar[list[BindingType]] = text_box_keys("help", "escape,f1,q,question_mark")

    def __init__(self, preferences: Preferences) -> None:
        """Name the keys as a person has set them."""
        super().__init__("help", "Help", hang=_KEY_CELLS + 4)
        self._content, self._has_contents = help_content(sound_keys(preferences.keys)), True


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
        gap = "  " if len(left) <= _KEY_CELLS else "\n" + " " * (_KEY_CELLS + 4)
        lines.append(Content.assemble("  ", (left.ljust(_KEY_CELLS), styles.ACCENT), gap, right))
    return Content("\n").join(lines)


class WhyScreen(TextBox):
    """A box with the points of a hit."""

    BINDINGS: ClassVar[list[BindingType]] = text_box_keys("why", "escape,q,x")

    def __init__(self) -> None:
        super().__init__("why")

    def put(self, hit: DocumentHit, understood: str = "", note: str = "") -> Self:
        """As `why_content`."""
        score = f"{hit.score:.2f} " if hit.score else ""
        self._title, self._content = f"Why {score}{shown(hit.title)}", why_content(hit, understood, note)
        return self.renew()


def why_content(hit: DocumentHit, understood: str = "", note: str = "") -> Content:
    """Return the lines; the sums by words and by meaning stand out. Below stands where the metadata were read.

    `understood`: how the operators of the query were understood; `note`: why the answer may be incomplete.
    """
    verdict, *rows = reason_lines(hit)
    lines = [Content(verdict), Content("")] if rows else [Content(verdict)]
    lines += [Content(row) if row.startswith(" ") else Content.styled(row, styles.HEADING) for row in rows]
    lines = [Content(f"understood as: {shown(understood)}"), Content(""), *lines] if understood else lines
    if about := describe(hit.metadata, with_others=True):
        lines += [Content(""), Content.styled(about, styles.MUTED)]
    lines += [Content(""), Content.styled(shown(note), styles.MUTED)] if note else []
    return Content("\n").join(lines)
