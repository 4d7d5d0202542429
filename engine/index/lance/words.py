"""A query's words in a store, scored as SQLite scores them: by the same code, with postings from LanceDB."""

from collections.abc import Sequence

import numpy as np

from longsearch.engine.index.lance.match import Matcher
from longsearch.engine.index.lance.postings import Held, added
from longsearch.engine.index.lance.snapshot import Snapshot
from longsearch.engine.index.lookup import Lookup, forms_of
from longsearch.engine.index.segment_words import WordsBySegments
from longsearch.engine.store.segments.term_counts import Postings, n_documents_at
from longsearch.engine.store.segments.word_parts import Part


def words_of(snapshot: Snapshot, matcher: Matcher, asked: Lookup, n_documents: int) -> WordsBySegments:
    """Look up the terms of a query. A passage holds a term if it holds one of its forms."""
    by_term = [forms_of(expression) for expression in asked.terms]
    matcher.look_up(dict.fromkeys(form for own in by_term for form in own))
    held = [[matcher.held(form) for form in own] for own in by_term]
    united = [own[0] if len(own) == 1 else added(own) for own in held]
    return words_held(snapshot, united, asked.weights, n_documents)


def words_held(
    snapshot: Snapshot, held: Sequence[Held], weights: tuple[float, ...] = (), n_documents: int = 0
) -> WordsBySegments:
    """The words of all passages of a store, of which `held` says who holds them."""
    ids, first_of = snapshot.passage_ids, snapshot.first_of
    postings = []
    for one in held:
        places = np.searchsorted(ids, one.ids)
        postings.append(Postings(places, one.counts, n_documents_at(first_of, places)))
    part = Part(ids, snapshot.document_ids, first_of, snapshot.lengths, tuple(postings))
    return WordsBySegments.of([part], weights, n_documents, snapshot.at.n_passages, snapshot.at.n_words)
