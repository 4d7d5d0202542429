"""The interface between the terminal app and a person's own things; `app` implements it, and the tests fake it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from longsearch.engine.types import DocumentHit, Folder, PassageHit
from longsearch.tui.backend.requests import Question

if TYPE_CHECKING:
    from longsearch.engine.citing.evidence import PlacedEvidence


@dataclass(frozen=True, slots=True)
class BasketView:
    """The basket as the app shows it."""

    passages: "tuple[PlacedEvidence, ...]" = ()
    undoes: str = ""
    """The change that `undo` would take back, in words; "" if there is none."""
    note: str = ""
    """Why nothing is known from the reference manager, or ""."""


@dataclass(frozen=True, slots=True)
class InView:
    """The state of the app's view."""

    question: Question
    path: str = ""
    """The file of the document in view, or ""."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved search as the app shows it."""

    name: str
    question: Question
    about: str = ""
    """The folders that it is about, or ""."""
    news: tuple[str, ...] = ()
    """Where its new passages are, newest first: "title, p. 12"."""
    problem: str = ""
    """Why it cannot be asked here, or ""."""


class UserData(Protocol):
    """The things that a person keeps. As with `Backend`, every call may block and may raise `LongsearchError`."""

    def quotation(self, hit: DocumentHit, passage: PassageHit) -> str:
        """Return a passage for the clipboard, with its source, in the form that the person has chosen."""

    def keep(self, hit: DocumentHit, passage: PassageHit, query: str) -> str:
        """Put a passage into the basket. Return what was done, as a sentence."""

    def basket(self) -> BasketView:
        """Return the basket, each passage with its place as it is now."""

    def remove(self, ids: Sequence[str]) -> None:
        """Take passages out of the basket."""

    def move(self, id_: str, step: int) -> None:
        """Move a passage of the basket down (1) or up (-1)."""

    def annotate(self, id_: str, note: str) -> None:
        """Write a note to a passage of the basket; "" removes it."""

    def undo(self) -> str:
        """Take the last change of the basket back. Return it in words; "" if there was none."""

    def copied(self, id_: str) -> str:
        """Return a passage of the basket for the clipboard."""

    def export(self, file_name: str) -> str:
        """Write the basket to a new file, in the format of its ending. Return what was done, as a sentence."""

    def history(self) -> list[Question]:
        """Return the questions that were asked before, newest first."""

    def remember(self, question: Question) -> None:
        """Put a question into the history, unless the person has turned it off."""

    def forget_question(self, question: Question) -> None:
        """Take a question out of the history."""

    def last(self) -> InView | None:
        """Return what was in view when the app was left; None if nothing was, or if the person has turned it off."""

    def leave(self, in_view: InView) -> None:
        """Keep what is in view for the next start."""

    def folders(self) -> list[Folder]:
        """Return the other folders that can be opened, the last one used first."""

    def keep_theme(self, name: str) -> str:
        """Keep the colours for the next start. Return why they are not kept, or ""."""

    def saved(self) -> list[Saved]:
        """Return the saved searches, by name."""

    def save(self, name: str, question: Question) -> str:
        """Save a question with a name. Return what was done, as a sentence."""

    def remove_saved(self, name: str) -> None:
        """Delete a saved search."""

    def look(self, name: str) -> None:
        """Note that somebody looks at the news of a saved search."""

    def n_new(self) -> int:
        """Return how many new passages answer the saved searches, within milliseconds."""
