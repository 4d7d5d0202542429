"""What to ask first, under an empty query line: earlier queries, saved searches, headings of the documents."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from longsearch.tui.backend.interface import Question, Saved
from longsearch.tui.text import styles
from longsearch.tui.text.display import clip, shown

_EACH = 3
"""Rows of a kind."""


class Starters(OptionList):
    """Questions that Enter or a click asks, under a line for each kind. It is hidden while there are none."""

    @dataclass
    class Chosen(Message):
        """The person wants this question asked."""

        question: Question

    class Left(Message):
        """The person went up from the first one."""

    def __init__(self) -> None:
        super().__init__(markup=False, id="starters")
        self.recent: Sequence[str] = ()
        """Earlier queries, newest first."""
        self.saved: Sequence[Saved] = ()
        """The saved searches that can be asked here."""
        self.headings: Sequence[str] = ()
        """Headings of the documents."""
        self._questions: list[Question | None] = []
        """The question of each row; None for the line above a kind."""
        self.display = False

    def renew(self) -> None:
        """Lay the rows out anew after one of the kinds has changed."""
        recent = [(query, Question(query)) for query in dict.fromkeys(self.recent)]
        saved = [(one.name, one.question) for one in self.saved if not one.problem]
        headings = [(heading, Question(heading)) for heading in self.headings]
        kinds = ("Asked before", recent), ("Saved searches", saved), ("From your documents", headings)
        self._questions.clear()
        options: list[Option] = []
        for name, rows in kinds:
            for text, question in ([("", None), *rows[:_EACH]]) if rows else ():
                line = Content.styled(name, styles.MUTED) if question is None else Content(f"  {clip(shown(text), 70)}")
                options.append(Option(line, disabled=question is None))
                self._questions.append(question)
        self.display = bool(options)
        self.set_options(options)

    def action_cursor_up(self) -> None:
        """Go up; from the first row, back to the query."""
        at = self.highlighted or 0
        if any(self._questions[:at]):
            super().action_cursor_up()
        else:
            self.post_message(self.Left())

    def on_focus(self) -> None:
        """Begin with the first row."""
        if self.highlighted is None:
            self.action_first()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Have the question asked."""
        event.stop()
        if question := self._questions[event.option_index]:
            self.post_message(self.Chosen(question))
