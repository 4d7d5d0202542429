"""Passages ranked by BM25: SQLite FTS5 in memory, with the word index's own tokenizer and stop words."""

import re

import apsw
import numpy as np
from numpy.typing import NDArray

from engine.errors import QueryError
from engine.search import bm25
from engine.search.query import any_of, match, parse
from engine.store import keywords
from engine.types import Term

_OPERATORS = re.compile(r'["“”„«»]|(?<!\S)-+')  # what is measured is ranking, not the query language


class Bm25:
    """An index over passages; rows are numbered from 0."""

    def __init__(self, texts: list[str]) -> None:
        self._db = apsw.Connection(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61 remove_diacritics 2')"
        )
        self._n_texts = len(texts)
        rows = ((row, text.replace("\0", " ").encode("utf-8", "replace").decode()) for row, text in enumerate(texts))
        with self._db:
            self._db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)

    def rank(self, query: str, depth: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows that hold a word of the query, best first, at most `depth`; none for a query without words.

        Beside them, each row's score: the share of the highest BM25 that the query can reach, as longsearch has it.
        """
        terms = _terms(query)
        if not terms:
            return np.empty(0, np.int64), np.empty(0)
        sql = "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ? ORDER BY bm25(words), rowid LIMIT ?"
        found = self._db.execute(sql, (any_of(terms), depth)).fetchall()
        highest = bm25.highest([len(keywords.matching(self._db, match(term))) for term in terms], self._n_texts)
        table = np.array(found, np.float64).reshape(-1, 2)
        return table[:, 0].astype(np.int64), table[:, 1] / highest

    def of_documents(self, query: str, documents: NDArray[np.int64]) -> dict[int, float]:
        """The score by words of each of the rows' `documents`, as longsearch has it."""
        holding = []
        for term in _terms(query):
            found, counts = np.unique(documents[keywords.matching(self._db, match(term))], return_counts=True)
            holding.append(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        found, lengths = np.unique(documents, return_counts=True)
        of_length = dict(zip(found.tolist(), lengths.tolist(), strict=True))
        return bm25.of_documents(holding, of_length, len(of_length), len(documents) / max(1, len(of_length)))


def _terms(query: str) -> tuple[Term, ...]:
    try:
        return parse(_OPERATORS.sub(" ", query)).terms
    except QueryError:
        return ()
