"""Stepping through earlier queries with Up and Down in the query line. Pure."""

from collections.abc import Sequence


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
