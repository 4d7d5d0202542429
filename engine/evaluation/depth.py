"""Ranks passages that are read at a chosen depth of a stream, to show whether earlier text makes them harder to find.

Filler of `depth` tokens is read once; then each document starts from the state after it.
"""

import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.our_vectors import OurVectors, passage_scores, whole_excerpts
from longsearch.engine.evaluation.ranked_spans import Ranked, by_scores
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.tokens import TokenizedText


def passages_at_depth(ours: OurVectors, filler: str, depth: int, cache: VectorCache) -> Ranked:
    """Rank passages by meaning, each document read after `depth` tokens of repeated `filler`.

    Raises LongsearchError if the filler has no tokens.
    """
    texts = [document.full_text for document in ours.dataset.documents]
    depends_on = [*ours.cache_key, str(depth), filler if depth else "", *texts]
    vectors = cache.vectors("ours-deep", depends_on, lambda: _read_deep(ours.encoder, texts, filler, depth))
    passages, excerpts = np.split(vectors, [len(ours.passages.documents)])
    scores = passage_scores(ours.queries, passages, excerpts, ours.n_excerpts, ours.encoder.excerpt_weight)
    return by_scores(ours.passages, scores)


def _read_deep(encoder: Encoder, texts: list[str], filler: str, depth: int) -> Vectors:
    """Return the vectors of all passages, then of all excerpts: (n_passages + n_excerpts, dim)."""
    before = _first_tokens(encoder, filler, depth)
    saved_state = None
    for part in encoder.stream(before, []) if len(before) else ():
        saved_state = part.saved_state
    state = saved_state() if saved_state else None
    vectors, excerpts = [], []
    for text in texts:
        tokens, passages = encoder.split(text)
        # the filler has no characters: offsets are the document's, and its passages begin after the filler
        whole = TokenizedText(
            np.concatenate((before.ids, tokens.ids)),
            np.concatenate((np.full(len(before), -1), tokens.starts)),
            tokens.text,
        )
        # a readout that looks ahead (contextual) reads a short filler again with each document
        known = state if state and encoder.can_resume(whole, passages, state) else None
        if len(tokens):
            for part in encoder.stream(whole, passages, known):
                vectors.append(part.vectors)
                excerpts.append(whole_excerpts(part.vectors, part.excerpts))
    return np.concatenate((*vectors, *excerpts))


def _first_tokens(encoder: Encoder, filler: str, n: int) -> TokenizedText:
    """Return the first `n` tokens of the filler, repeated as often as needed."""
    ids = encoder.tokenizer.tokenize(filler).ids
    if n and not len(ids):
        raise LongsearchError("the filler to read before the passages is empty", "give a book with --filler")
    repeated = np.resize(ids, n) if n else ids[:0]
    return TokenizedText(repeated, np.zeros(n, np.int64), "")
