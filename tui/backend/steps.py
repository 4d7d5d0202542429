"""The steps of a session: which questions were asked one after the other, and how one is narrowed. Pure."""

import re
from dataclasses import replace

from longsearch.tui.backend.interface import InView, Question

_AS_IT_IS = r'-|[~≈<>≤≥]|.*\.\.|[\w-]+:|"|.*[*(|)]|(?:AND|OR|NOT|NEAR(?:/\d+)?)$'
"""What the query language reads as more than a word that may be there."""


def narrowed(query: str, wanted: str) -> str:
    """Return the query for those of its results that also are what `wanted` says: its words must be there."""
    from longsearch.engine.quantities import ANY_RANGE  # its units take longer than the first frame's own modules

    typed = (found[0] for found in re.finditer(rf'-?(?:[\w-]+:)?"[^"]*"?|{ANY_RANGE}|\S+', wanted))
    pieces = (piece if re.match(_AS_IT_IS, piece) else f'"{piece}"' for piece in typed)
    more = " ".join(pieces)
    # a query that ends with a question mark is prose, and stays so
    return f"{more} {query}" if query.endswith("?") else f"{query} {more}"


class Steps:
    """The questions that were sent, and the file that was last chosen in the answer to each."""

    def __init__(self) -> None:
        self._steps: list[InView] = []
        self._narrowings: set[Question] = set()

    def note(self, question: Question) -> None:
        """Take the question that was sent, unless it is the last one."""
        if question.query and (not self._steps or self._steps[-1].question != question):
            self._steps.append(InView(question))

    def see(self, question: Question, path: str) -> None:
        """Take the file that was chosen in the answer to the last question."""
        if self._steps and self._steps[-1].question == question:
            self._steps[-1] = InView(question, path)

    def narrow(self, question: Question, wanted: str) -> Question:
        """Return the question for some of its results, as `narrowed` does."""
        self.note(question)
        narrow = replace(question, query=narrowed(question.query, wanted))
        self._narrowings.add(narrow)
        return narrow

    def is_narrowed(self, question: Question) -> bool:
        """Return whether the question is for some of the results of the one before."""
        return question in self._narrowings and len(self._steps) > 1 and self._steps[-1].question == question

    def back(self, question: Question) -> InView | None:
        """Return the question before this one, and its chosen file; None if there is none. It is the last one then."""
        if self._steps and self._steps[-1].question == question:
            self._steps.pop()
        return self._steps[-1] if self._steps else None
