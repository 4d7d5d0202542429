"""Ranks passages by BM25: SQLite FTS5 in memory, with the tokenizer and stop words of the product's word index."""

from collections.abc import Iterable, Sequence
from functools import partial

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.errors import QueryError
from longsearch.engine.index import bm25
from longsearch.engine.index.bm25 import WordStatistics
from longsearch.engine.index.lookup import forms_of, lookup
from longsearch.engine.languages.analysis import analysed
from longsearch.engine.languages.document_words import indexed
from longsearch.engine.query_language.items import as_prose
from longsearch.engine.query_language.query import in_languages, parse
from longsearch.engine.store import keywords
from longsearch.engine.store.languages import IndexLanguages


class Bm25:
    """A BM25 index over passages, numbered from 0."""

    def __init__(self, texts: Iterable[str], languages: Sequence[str], has_parts: bool = True) -> None:
        """`languages`: for each passage the language of its document, as `languages.detection` finds it.

        `has_parts`: whether code names are also found by their parts, as in longsearch.
        """
        self._languages = IndexLanguages(tuple(sorted(set(languages))), is_settled=True)
        self._db = apsw.Connection(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61 remove_diacritics 2')"
        )
        clean = (text.replace("\0", " ").encode("utf-8", "replace").decode() for text in texts)
        prepared = indexed if has_parts else analysed
        rows = (
            (row, prepared(text, language)) for row, (text, language) in enumerate(zip(clean, languages, strict=True))
        )
        with self._db:
            self._db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)
        ((self._n_texts,),) = self._db.execute("SELECT count(*) FROM words_docsize")

    def rank(self, query: str, limit: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the rows that contain a word of the query, best first, at most `limit`, and their scores.

        A score is the share of the highest BM25 that the query can reach, as in longsearch. A query without words finds
        no rows.
        """
        terms = self._terms(query)
        if not terms:
            return np.empty(0, np.int64), np.empty(0)
        idf, n_holding = partial(bm25.idf, n_passages=self._n_texts), self._n_holding(terms)
        scores, _ = keywords.scores_of_forms(self._db, list(map(forms_of, terms)), list(map(idf, n_holding)), idf)
        ranked = sorted(scores.items(), key=lambda row: (-row[1], row[0]))[:limit]
        highest = bm25.highest(WordStatistics(0, self._n_texts, 0, n_holding, ()))
        table = np.array(ranked, np.float64).reshape(-1, 2)
        return table[:, 0].astype(np.int64), table[:, 1] / highest

    def trust(self, query: str) -> float:
        """Return how much of its weight the score by words of a query keeps."""
        return WordStatistics(0, self._n_texts, 0, self._n_holding(self._terms(query)), ()).trust

    def n_terms(self, query: str) -> int:
        """Return the number of the query's terms."""
        return len(self._terms(query))

    def of_documents(self, query: str, documents: NDArray[np.int64]) -> dict[int, float]:
        """Score the documents by words, as longsearch does; documents (n_rows,) has the document of each row."""
        holding = []
        for term in self._terms(query):
            rows, counts = np.unique(documents[keywords.matching(self._db, term)], return_counts=True)
            holding.append(dict(zip(rows.tolist(), counts.tolist(), strict=True)))
        rows, lengths = np.unique(documents, return_counts=True)
        of_length = dict(zip(rows.tolist(), lengths.tolist(), strict=True))
        figures = WordStatistics(len(of_length), len(documents), 0, (), tuple(map(len, holding)))
        return bm25.of_documents(holding, of_length, figures)

    def _n_holding(self, terms: tuple[str, ...]) -> tuple[int, ...]:
        """Return for each term the number of texts that hold it."""
        return tuple(len(keywords.matching(self._db, term)) for term in terms)

    def _terms(self, query: str) -> tuple[str, ...]:
        try:
            # evaluation measures the ranking, not the query language
            asked = in_languages(parse(as_prose(query)), self._languages.codes)
            return lookup(asked, self._languages).terms
        except QueryError:
            return ()
