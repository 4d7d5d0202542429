"""Questions, requests, and the rule for answers that may still be shown. Pure: knows no thread and no widget."""

from dataclasses import dataclass, replace

from longsearch.engine.types import SearchMode


@dataclass(frozen=True, slots=True)
class Question:
    """The content of the query bar."""

    query: str = ""
    mode: SearchMode = SearchMode.HYBRID
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One search that the app asks the backend for."""

    serial: int
    """The number of the question, counted up: a later question has a higher one."""
    question: Question
    is_final: bool
    """Whether this is the search in the chosen mode, not the search by words that bridges the wait for it."""
    similar_to: int | None = None
    """The document to find similar documents for, in place of a query."""
    similar_start: int | None = None
    """Where the passage of it begins that passages are wanted like; None: documents are wanted."""

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to search for."""
        return not self.question.query and self.similar_to is None

    @property
    def age(self) -> tuple[int, bool]:
        """Orders answers: by question, and for one question the final answer after the answer by words."""
        return self.serial, self.is_final

    def by_words(self) -> "Request":
        """Return the search by words that bridges the wait for this search."""
        return replace(self, question=replace(self.question, mode=SearchMode.WORDS), is_final=False)


class Newest:
    """Remembers the newest answer, so that an older one never replaces it."""

    def __init__(self) -> None:
        self._age = (0, False)

    def admits(self, request: Request) -> bool:
        """Return whether the answer to `request` may be shown. If so, no older answer is admitted afterwards."""
        if request.age < self._age:
            return False
        self._age = request.age
        return True
