"""The queries that a person has asked, newest first. The file is private, and at most 500 of them are kept."""

import time
from dataclasses import dataclass
from typing import Any

from longsearch.app.settings.reading import current
from longsearch.app.user_data.user_file import UserFile
from longsearch.engine.types.results import SearchMode

MAX_QUERIES = 500
MAX_CHARACTERS = 10_000
"""A longer query, such as a pasted page, is cut."""


@dataclass(frozen=True, slots=True)
class PastQuery:
    """A query as it was asked."""

    query: str
    mode: SearchMode = SearchMode.HYBRID
    instruction: str = ""
    root: str = ""
    """The folder that the app was over; "" for all folders."""
    asked_at: float = 0.0
    """Seconds since 1970."""


class History:
    """Reads and changes the file of the history. All methods raise LongsearchError if the file cannot be used."""

    def __init__(self) -> None:
        self.file = UserFile("history.json", _check)

    def queries(self) -> list[PastQuery]:
        """Return the queries, newest first."""
        rows = self.file.read().get("queries", [])
        return [found for row in rows if (found := _query(row))] if isinstance(rows, list) else []

    def add(self, query: str, mode: SearchMode, instruction: str, root: str) -> None:
        """Put a query before all others; it is kept once. Does nothing if the person has turned the history off."""
        query = query.strip()[:MAX_CHARACTERS]
        if not query or not current().history:
            return
        with self.file.changing() as known:
            rows = [row for row in known.get("queries", []) if _query(row) and row["query"] != query]
            new = {
                "query": query,
                "mode": mode.value,
                "instruction": instruction,
                "root": root,
                "asked_at": time.time(),
            }
            known["queries"] = [new, *rows][:MAX_QUERIES]

    def remove(self, query: str) -> None:
        """Forget one query."""
        with self.file.changing() as known:
            known["queries"] = [row for row in known.get("queries", []) if _query(row) and row["query"] != query]
        self.file.forget_versions()  # what is forgotten stands in no version

    def clear(self) -> int:
        """Forget all queries. Returns how many there were."""
        with self.file.changing() as known:
            n_queries = len(known.pop("queries", []))
        self.file.forget_versions()
        return n_queries


def _check(known: dict[str, Any]) -> None:
    if not isinstance(known.get("queries", []), list):
        raise TypeError("no list of queries")


def _query(row: Any) -> PastQuery | None:
    """Return the query in a row of the file; None for a row that holds none, such as one of a later version."""
    if not isinstance(row, dict) or not isinstance(row.get("query"), str):
        return None
    try:
        mode = SearchMode(row.get("mode", SearchMode.HYBRID.value))
        return PastQuery(
            row["query"], mode, str(row.get("instruction", "")), str(row.get("root", "")), float(row.get("asked_at", 0))
        )
    except (TypeError, ValueError):
        return None
