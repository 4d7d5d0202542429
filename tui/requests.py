"""What was asked, and which answers may still be shown. Pure: knows no thread and no widget."""

from dataclasses import dataclass, replace

from engine.types import SearchMode


@dataclass(frozen=True, slots=True)
class Request:
    """One search the app has asked for."""

    serial: int
    """Counts the states of the query line; a later state has a higher one."""
    query: str
    mode: SearchMode
    instruction: str
    is_final: bool
    """Whether this is the search in the chosen mode; the words searched meanwhile are not."""
    similar_to: int | None = None
    """The document that others are to be like, in place of a query."""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is asked."""
        return not self.query and self.similar_to is None

    @property
    def age(self) -> tuple[int, bool]:
        """Orders answers: by state of the query line, and within one state the final answer over the words."""
        return self.serial, self.is_final

    def by_words(self) -> "Request":
        """The search that bridges the wait for this one."""
        return replace(self, mode=SearchMode.WORDS, is_final=False)


class Newest:
    """Remembers the newest answer shown, so that an older one never replaces it."""

    def __init__(self) -> None:
        self._age = (0, False)

    def admits(self, request: Request) -> bool:
        """Whether the answer to `request` may be shown; from then on nothing older may."""
        if request.age < self._age:
            return False
        self._age = request.age
        return True
