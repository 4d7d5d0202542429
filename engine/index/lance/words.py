"""A query's words in a store, scored as SQLite scores them: by the same code, with postings from LanceDB."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.index import bm25
from longsearch.engine.index.backends import Found
from longsearch.engine.index.bm25 import WordStatistics
from longsearch.engine.index.lance.match import Matcher
from longsearch.engine.index.lance.postings import Held, added
from longsearch.engine.index.lance.snapshot import Snapshot
from longsearch.engine.index.lookup import forms_of
from longsearch.engine.store.segments.allowed import Allowed
from longsearch.engine.store.segments.term_counts import Postings, n_documents_at
from longsearch.engine.store.segments.word_parts import Part
from longsearch.engine.store.segments.word_search import WordSearch


@dataclass(frozen=True, slots=True)
class WordsInLance:
    """`index.backends.QueryWords` by the postings of a store."""

    terms: WordSearch
    """By term: a passage holds a term if it holds one of its forms."""
    forms: WordSearch
    """By form, each once."""
    forms_of_terms: tuple[tuple[int, ...], ...]
    """For each term the numbers of its forms."""
    statistics: WordStatistics
    is_pooled: bool = False

    def pooled_with(self, statistics: WordStatistics) -> "WordsInLance":
        """See `QueryWords`."""
        return replace(self, statistics=statistics, is_pooled=True)

    def best(self, limit: int, allowed: Allowed | None) -> Found:
        """See `QueryWords`. The forms of a term share the weight of all of them, as in `keywords.best_of_forms`."""
        figures, mean = self.statistics, bm25.mean_length(self.statistics)
        if self.is_pooled:
            ranked = self.terms.best(bm25.idfs(figures), mean, limit, allowed)
        else:
            ranked = self.forms.best(self._weights(figures), mean, limit, allowed)
        return list(zip(ranked.ids.tolist(), ranked.scores.tolist(), strict=True))

    def in_documents(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `QueryWords`."""
        return self.terms.in_documents(document_ids)

    def by_term(self, passage_ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `QueryWords`."""
        figures, mean = self.statistics, bm25.mean_length(self.statistics)
        if self.is_pooled:
            return self.terms.by_term(passage_ids, bm25.idfs(figures), mean)
        each = self.forms.by_term(passage_ids, self._weights(figures), mean)
        shares = [each[list(own)].sum(axis=0) for own in self.forms_of_terms]
        return np.array(shares).reshape(len(shares), len(passage_ids))

    def _weights(self, figures: WordStatistics) -> list[float]:
        counts = self.forms.n_passages_with
        weights = [0.0] * len(counts)
        for own in self.forms_of_terms:
            shared = bm25.idf(sum(counts[number] for number in own), figures.n_passages)
            for number in own:
                weights[number] = shared
        return weights


def words_of(snapshot: Snapshot, matcher: Matcher, expressions: Sequence[str], n_documents: int) -> WordsInLance:
    """Look up the terms of a query."""
    by_term = [forms_of(expression) for expression in expressions]
    forms = list(dict.fromkeys(form for own in by_term for form in own))
    matcher.look_up(forms)
    held = {form: matcher.held(form) for form in forms}
    joined = [held[own[0]] if len(own) == 1 else added([held[form] for form in own]) for own in by_term]
    of_terms = search_of(snapshot, joined)
    numbers = {form: number for number, form in enumerate(forms)}
    n_passages, n_words = snapshot.at.n_passages, snapshot.at.n_words
    figures = WordStatistics(n_documents, n_passages, n_words, of_terms.n_passages_with, of_terms.n_documents_with)
    is_simple = all(len(own) == 1 for own in by_term) and len(forms) == len(by_term)
    of_forms = of_terms if is_simple else search_of(snapshot, [held[form] for form in forms])
    return WordsInLance(of_terms, of_forms, tuple(tuple(numbers[form] for form in own) for own in by_term), figures)


def search_of(snapshot: Snapshot, held: Sequence[Held]) -> WordSearch:
    """The search of all passages of a store for these terms."""
    ids, first_of = snapshot.passage_ids, snapshot.first_of
    postings = []
    for one in held:
        places = np.searchsorted(ids, one.ids)
        postings.append(Postings(places, one.counts, n_documents_at(first_of, places)))
    part = Part(ids, snapshot.document_ids, first_of, snapshot.lengths, tuple(postings))
    return WordSearch([part], len(held))
