"""The ways to complete a query, as the search finds them and the app offers them. Imports nothing heavy."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompletionChoice:
    """One way to go on with a query."""

    text: str
    """A field with its colon, or a value as it is typed behind one."""
    n_documents: int | None
    """How many documents have it; None if that makes no sense."""
    meaning: str = ""
    """The meaning of the text, if it does not say so itself: "German" for "de"."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The ways to go on with a query; each replaces what stands between `start` and the cursor."""

    start: int
    choices: tuple[CompletionChoice, ...]
