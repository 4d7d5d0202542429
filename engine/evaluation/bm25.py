"""Passages ranked by BM25: SQLite FTS5 in memory, with the word index's own tokenizer and stop words."""

import re

import apsw
import numpy as np
from numpy.typing import NDArray

from engine.errors import QueryError
from engine.search.query import any_of, parse

_OPERATORS = re.compile(r'["“”„«»]|(?<!\S)-+')  # what is measured is ranking, not the query language


class Bm25:
    """An index over passages; rows are numbered from 0."""

    def __init__(self, texts: list[str]) -> None:
        self._db = apsw.Connection(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61 remove_diacritics 2')"
        )
        rows = ((row, text.replace("\0", " ").encode("utf-8", "replace").decode()) for row, text in enumerate(texts))
        with self._db:
            self._db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)

    def rank(self, query: str, depth: int) -> NDArray[np.int64]:
        """Rows that hold a word of the query, best first, at most `depth`; empty for a query without words."""
        try:
            match = any_of(parse(_OPERATORS.sub(" ", query)).terms)
        except QueryError:
            return np.empty(0, np.int64)
        rows = self._db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words), rowid LIMIT ?", (match, depth)
        )
        return np.fromiter((row[0] for row in rows), dtype=np.int64)
