"""Finds earlier queries in the command palette, from the first letter typed there; without one it offers none."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, cast

from textual.command import Hit, Hits, Provider

from longsearch.tui.backend.requests import Question
from longsearch.tui.text.display import shown
from longsearch.tui.widgets.query_bar import QueryBar


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
        """Yield the queries that hold the letters."""
        matcher, bars = self.matcher(query), self.screen.query(QueryBar)
        for question in self._questions if bars else ():
            text = shown(question.query)
            if (score := matcher.match(text)) > 0:
                yield Hit(score, matcher.highlight(text), partial(bars.first().put, question), text, "Ask again")
