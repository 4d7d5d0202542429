"""Fills the query line: completions by Tab, earlier queries by Up and Down. Pure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from longsearch.tui.text.display import clip, shown

if TYPE_CHECKING:
    from longsearch.engine.completions import Completion, CompletionChoice


class Cycle(NamedTuple):
    """The ways to complete what stood before the cursor, and the one that is in place."""

    before: str
    """The query up to the place where each choice begins."""
    choices: "tuple[CompletionChoice, ...]" = ()
    place: int = -1
    """Index of the choice in place; -1: none yet."""

    @classmethod
    def of(cls, typed: str, completion: "Completion") -> "Cycle":
        """The choices for `typed`, the query up to the cursor."""
        return cls(typed[: completion.start], completion.choices)

    @property
    def text(self) -> str:
        """The query up to the cursor, with the choice that is in place."""
        return self.before + shown(self.choices[self.place].text) if self.choices else self.before

    def goes_on(self, typed: str) -> bool:
        """Whether Tab takes the next choice: one is in place, and there are others."""
        return self.place >= 0 and len(self.choices) > 1 and typed == self.text

    def next(self) -> "Cycle":
        """The same choices with the next one in place; the first follows the last."""
        return Cycle(self.before, self.choices, (self.place + 1) % len(self.choices))

    def hint(self, width: int) -> str:
        """The choices with their numbers of documents, from the one in place on, as many as `width` cells hold."""
        if not self.choices:
            return ""
        first = max(self.place, 0)
        text = "Tab:"
        for index, choice in enumerate((*self.choices[first:], *self.choices[:first])):
            count = "" if choice.n_documents is None else f" {choice.n_documents:,}"
            mark = "▸" if index == 0 and self.place >= 0 else ""
            meaning = f" ({shown(choice.meaning)})" if choice.meaning else ""
            part = f"{' ·' if index else ''} {mark}{shown(choice.text)}{meaning}{count}"
            if cell_len(text + part) > width:
                break
            text += part
        return clip(text, width)


class HistorySteps:
    """Up in an empty line gives the last query, Up again the one before. What somebody has edited is left alone."""

    def __init__(self) -> None:
        self._queries: Sequence[str] = ()
        self._at = -1
        """The index of the query in the line; -1 if the line holds none of them."""

    def renew(self, queries: Sequence[str]) -> None:
        """Take the queries, newest first. Whoever steps through them stays at the query in the line."""
        current = self._queries[self._at] if self._at >= 0 else None
        self._queries = queries
        self._at = queries.index(current) if current in queries else -1

    def step(self, typed: str, step: int) -> str | None:
        """Return the query to put into a line that holds `typed`: the one before (-1) or after (1).

        None: the key is not about the history, because the line holds something else.
        """
        if not typed:
            self._at = -1
        elif self._at < 0 or typed != self._queries[self._at]:
            return None
        if not typed and (step > 0 or not self._queries):
            return None
        self._at = min(self._at - step, len(self._queries) - 1)
        return self._queries[self._at] if self._at >= 0 else ""
