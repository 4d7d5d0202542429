"""The basket: the passages that a person keeps, to read, order, annotate, copy, export and remove.

Reads the basket when it opens and after each change. Returns the passage to look for in the main screen, or None.
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from longsearch.engine.amounts import counted
from longsearch.engine.citing.evidence import Evidence, PlacedEvidence
from longsearch.engine.printable import condensed
from longsearch.tui.backend.interface import Backend, BasketView
from longsearch.tui.backend.latest_only import attempt
from longsearch.tui.bindings import BASKET
from longsearch.tui.painting import WrappedLines
from longsearch.tui.screens.carrying_out import open_file
from longsearch.tui.screens.dialogs import LineDialog, YesNoDialog
from longsearch.tui.screens.kept import KeptScreen, kept
from longsearch.tui.screens.picker import LineList
from longsearch.tui.text import styles
from longsearch.tui.text.display import below_home, clip, shorten_middle, shown
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.key_line import KeyLine

_EMPTY = "The basket is empty. Among the results and in the text, Space puts the passage into it."
_EXPORT_ABOUT = "The ending says the format: .md Markdown, .csv CSV, .json CSL-JSON, .bib BibTeX."
_NEEDS_A_PASSAGE = frozenset({"open", "note", "export", "copy", "remove", "move", "clear"})


class BasketScreen(KeptScreen[Evidence | None], Screen[Evidence | None]):
    """A list of the passages; below it the selected one in full."""

    BINDINGS: ClassVar[list[BindingType]] = BASKET

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self._view = BasketView()
        self._wanted: str | None = None
        """The id of the passage to select once the list has been read again."""

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield LineList(markup=False)
        yield Static(id="detail", markup=False)
        yield Static(id="said", markup=False)
        yield KeyLine()

    def fill(self) -> None:
        """Show the basket as it was, from its beginning; get ready for the keys."""
        self._say()
        self.query_one(OptionList).highlighted = None
        self._list()
        self.query_one(OptionList).focus()

    def begin(self) -> None:
        """Read the basket."""
        self._read()

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self._list()

    @property
    def _selected(self) -> PlacedEvidence | None:
        at = self.query_one(OptionList).highlighted
        return self._view.passages[at] if at is not None and at < len(self._view.passages) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the keys that need a passage only if there is one, and `u` only if there is something to undo."""
        if action == "undo":
            return bool(self._view.undoes)
        return bool(self._view.passages) if action in _NEEDS_A_PASSAGE else True

    # ---- reading and showing

    @work(exclusive=True, group="basket")
    async def _read(self) -> None:
        view, error = await attempt(self._backend.user_data.basket)
        if view is None:
            self._say(error=error)
            return
        self._view = view
        self.query_one(HeaderLine).right = shown(view.note)
        self._list()
        self.refresh_bindings()

    def _list(self) -> None:
        passages, options = self._view.passages, self.query_one(OptionList)
        at = next(
            (at for at, placed in enumerate(passages) if placed.evidence.id == self._wanted), options.highlighted or 0
        )
        width = max(options.scrollable_content_region.width - 2, 10)
        options.set_options(
            Option(list_lines(number, placed, width)) for number, placed in enumerate(passages, start=1)
        )
        options.highlighted = min(at, len(passages) - 1) if passages else None
        self._wanted = None
        n_documents = len({placed.evidence.path for placed in passages})
        about = f" of {counted(n_documents, 'document')}" if passages else ""
        self.query_one(HeaderLine).left = f"Basket: {counted(len(passages), 'passage')}{about}"
        self._show_detail()

    def _show_detail(self) -> None:
        placed = self._selected
        detail = (
            detail_content(placed, max(self.size.width - 2, 10)) if placed else Content.styled(_EMPTY, styles.MUTED)
        )
        self.query_one("#detail", Static).update(detail)

    def on_option_list_option_highlighted(self) -> None:
        """Show the passage under the cursor in full."""
        self._show_detail()

    def on_option_list_option_selected(self) -> None:
        """Go back to the main screen on Enter, and look for the passage there."""
        if placed := self._selected:
            self.dismiss(placed.evidence)

    def _say(self, done: str = "", error: str = "") -> None:
        text = Content.styled(f"✗ {error}", styles.ERROR) if error else Content.styled(f"✓ {done}", styles.SUCCESS)
        self.query_one("#said", Static).update(text if done or error else Content(""))

    # ---- keys

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_cursor(self, step: int) -> None:
        options = self.query_one(OptionList)
        options.action_cursor_down() if step > 0 else options.action_cursor_up()

    def action_open(self) -> None:
        if placed := self._selected:
            self._open(placed.evidence)

    @work(exclusive=True, group="open")
    async def _open(self, evidence: Evidence) -> None:
        self._say(*await open_file(self.app, self._backend, evidence.path, evidence.page, evidence.quote))

    def action_copy(self) -> None:
        if placed := self._selected:
            self._copy(placed.evidence.id)

    @work(exclusive=True, group="copy")
    async def _copy(self, id_: str) -> None:
        text, error = await attempt(self._backend.user_data.copied, id_)
        if text is not None:
            self.app.copy_to_clipboard(text)
        self._say("Passage copied", error)

    def action_remove(self) -> None:
        if placed := self._selected:
            self._do(lambda: self._backend.user_data.remove([placed.evidence.id]), "removed; u takes it back")

    def action_move(self, step: int) -> None:
        if placed := self._selected:
            self._wanted = placed.evidence.id
            self._do(lambda: self._backend.user_data.move(placed.evidence.id, step))

    def action_note(self) -> None:
        """Ask for the note of the passage."""
        if placed := self._selected:
            dialog = kept(self.app, LineDialog).put(
                "Note", placed.evidence.note, "Enter keeps the note; an empty line removes it."
            )
            self.app.push_screen(dialog, lambda note: self._annotate(placed.evidence.id, note))

    def _annotate(self, id_: str, note: str | None) -> None:
        if note is not None:
            self._wanted = id_
            self._do(lambda: self._backend.user_data.annotate(id_, note), "noted" if note else "the note is removed")

    def action_undo(self) -> None:
        def undo() -> str:
            undone = self._backend.user_data.undo()
            return f"taken back: {undone}" if undone else ""

        self._do(undo)

    def action_clear(self) -> None:
        """Ask first."""
        ids = [placed.evidence.id for placed in self._view.passages]
        question = f"Remove {counted(len(ids), 'passage')} from the basket?"
        self.app.push_screen(
            kept(self.app, YesNoDialog).put(question), lambda is_sure: self._clear(ids) if is_sure else None
        )

    def _clear(self, ids: list[str]) -> None:
        self._do(lambda: self._backend.user_data.remove(ids), "the basket is empty; u takes it back")

    def action_export(self) -> None:
        """Ask for the name of the file."""

        def export(name: str | None) -> None:
            if name:
                self._do(lambda: self._backend.user_data.export(name))

        dialog = kept(self.app, LineDialog).put("Export to", "~/evidence.md", _EXPORT_ABOUT, is_selected=True)
        self.app.push_screen(dialog, export)

    @work(group="basket-change")
    async def _do(self, call: Callable[[], Any], done: str = "") -> None:
        """Make a change, say what was done, and read the basket again."""
        answer, error = await attempt(call)
        self._say(done or shown(str(answer or "")), error)
        self._read()


_QUOTED_CHARACTERS = 300
_MARKS = re.compile(r"[\"“”„«»]")


def list_lines(number: int, placed: PlacedEvidence, width: int) -> WrappedLines:
    """Return a passage in `width` cells: its document and page, its first words, and the note if there is one."""
    kept = placed.evidence
    state = f" · {placed.state.value}" if placed.state else ""
    page = f"p. {kept.page}" if kept.page is not None else ""
    end = clip(f"{page}{state}".removeprefix(" · "), max(width - 12, 0))
    title = clip(f"{number}. {shown(kept.title)}", max(width - len(end) - 2, 4))
    head = Content.assemble((title, "bold"), "  ", (end, styles.WARNING if placed.state else styles.MUTED))
    lines = [head, Content(clip(shown(condensed(kept.quote)), width))]
    if kept.note:
        lines.append(Content.styled(clip(f"✎ {shown(condensed(kept.note))}", width), styles.ACCENT))
    return WrappedLines(len(lines), lambda: lines)


def detail_content(placed: PlacedEvidence, width: int) -> Content:
    """Return everything about a passage: the path, who says it, the words in full and the note."""
    kept = placed.evidence
    who = [*map(shown, kept.authors[:3]), *(["…"] if len(kept.authors) > 3 else []), shown(kept.date)]
    about = [", ".join(filter(None, who)), f"@{shown(kept.citekey)}" if kept.citekey else ""]
    about += [shown(name) for name in kept.collections]
    head = shorten_middle(shown(below_home(kept.path)), width)
    lines = [Content.styled(head, styles.MUTED)]
    if text := " · ".join(filter(None, about)):
        lines.append(Content.styled(clip(text, width), styles.MUTED))
    lines += [Content(shown(condensed(paragraph))) for paragraph in kept.quote.split("\n\n")]
    if kept.note:
        lines.append(Content.styled(f"✎ {shown(condensed(kept.note))}", styles.ACCENT))
    return Content("\n").join(lines)


def query_for(evidence: Evidence, names_folder: bool) -> str:
    """Return the query that finds a passage: its first words as a quotation; `names_folder`: in its folder only."""
    folder = f' folder:"{evidence.folder}"' if names_folder and evidence.folder else ""
    return quotation_query(evidence.quote) + folder


def quotation_query(quote: str) -> str:
    """Return the query that finds a quotation, by its first words."""
    words = " ".join(_MARKS.sub(" ", quote).split())
    if len(words) > _QUOTED_CHARACTERS:
        words = words[:_QUOTED_CHARACTERS].rpartition(" ")[0] or words[:_QUOTED_CHARACTERS]
    return f'where: "{words}"'
