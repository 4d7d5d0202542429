"""What an index holds of a query's words, by FTS5: the slow twin of `segment_words`. Both rank and count alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.index import bm25
from longsearch.engine.index.backends import Found
from longsearch.engine.index.bm25 import WordStatistics
from longsearch.engine.index.lookup import Lookup, any_of, forms_of
from longsearch.engine.store import keywords
from longsearch.engine.store.segments.candidate_filter import CandidateFilter


def by_fts5(db: apsw.Connection, asked: Lookup, n_documents: int) -> "WordsByFts5":
    """Look up the terms of a query by FTS5."""
    holding = tuple(keywords.n_matching_by_document(db, term) for term in asked.terms)
    n_passages, n_words = keywords.totals(db)
    figures = WordStatistics(
        n_documents,
        n_passages,
        n_words,
        tuple(sum(counts.values()) for counts in holding),
        tuple(len(counts) for counts in holding),
        asked.weights,
    )
    return WordsByFts5(db, asked, holding, figures)


@dataclass(frozen=True, slots=True)
class WordsByFts5:
    """`QueryWords` by FTS5."""

    db: apsw.Connection
    asked: Lookup
    holding: tuple[Mapping[int, int], ...]
    """For each term the documents that hold it, each with the number of its passages that do."""
    statistics: WordStatistics
    is_pooled: bool = False
    """Whether the figures are those of several indexes, so that FTS5's own scores do not apply."""

    def pooled_with(self, statistics: WordStatistics) -> "WordsByFts5":
        """See `QueryWords`."""
        return replace(self, statistics=statistics, is_pooled=True)

    def best(self, limit: int, allowed: CandidateFilter | None) -> Found:
        """See `QueryWords`.

        FTS5 scores by the figures of its own index, and each form of a term by itself. Where those of several indexes
        apply, its best are scored again; so are passages that hold several forms of a term.
        """
        terms, ids = list(map(forms_of, self.asked.terms)), None if allowed is None else allowed.ids(self.db)
        if ids is not None and not len(ids):
            return []
        if self.is_pooled:
            found = [id_ for id_, _ in keywords.best(self.db, any_of(self.asked.terms), limit, ids)]
            scores = self._scored(found)
        elif all(len(forms) == 1 for forms in terms) and not self.asked.weights:
            return keywords.best(self.db, any_of(self.asked.terms), limit, ids)
        else:
            idf = partial(bm25.idf, n_passages=self.statistics.n_passages)
            scores, several = keywords.scores_of_forms(self.db, terms, bm25.idfs(self.statistics), idf, ids)
            scores |= self._scored(several)
        return sorted(scores.items(), key=lambda row: (-row[1], row[0]))[:limit]

    def _scored(self, passage_ids: Iterable[int]) -> dict[int, float]:
        """The BM25 of each of these passages, by the figures of several indexes."""
        ids = np.array(sorted(passage_ids), np.int64)
        return dict(zip(ids.tolist(), bm25.of_passages(*self.occurrences(ids), self.statistics).tolist(), strict=True))

    def in_documents(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `QueryWords`."""
        ids = document_ids.tolist()
        counts = np.array([[own.get(id_, 0) for id_ in ids] for own in self.holding], np.int64)
        return counts.reshape(len(self.holding), len(ids))

    def occurrences(self, passage_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """See `QueryWords`."""
        n_forms = [len(forms_of(term)) for term in self.asked.terms]
        found = keywords.occurrences(self.db, any_of(self.asked.terms), passage_ids.tolist())
        none = keywords.Occurrences(0, (0,) * sum(n_forms))
        own = [found.get(id_, none) for id_ in passage_ids.tolist()]
        of_forms = np.array([one.frequencies for one in own], np.int64).reshape(len(own), sum(n_forms))
        ends = accumulate([0, *n_forms])
        counts = [of_forms[:, start:stop].sum(axis=1) for start, stop in pairwise(ends)]
        return np.array(counts).reshape(len(n_forms), len(own)), np.array([one.length for one in own], np.int64)
