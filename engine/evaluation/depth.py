"""The same passages, each read at a chosen depth of a stream: does what was read before make them harder to find?

Other text of `depth` tokens is read once; every document then goes on from the state it left. Knows no metric.
"""

import numpy as np

from engine.errors import LongsearchError
from engine.evaluation.datasets import Dataset
from engine.evaluation.systems import Ranked, Spans, by_vectors
from engine.inference.encoder import Encoder
from engine.inference.tokens import TokenizedText


def passages_at_depth(dataset: Dataset, encoder: Encoder, filler: str, depth: int, instruction: str | None) -> Ranked:
    """Passages ranked by meaning, each document read after `depth` tokens of `filler`, round and round.

    Raises LongsearchError where the filler has no tokens.
    """
    before = _first_tokens(encoder, filler, depth)
    checkpoint = None
    for part in encoder.stream(before, []) if len(before) else ():
        checkpoint = part.checkpoint
    state = checkpoint() if checkpoint else None
    rows, borders, vectors = [], [], []
    for row, document in enumerate(dataset.documents):
        tokens, passages = encoder.split(document.full_text)
        # the filler has no characters: the document's offsets are its own, and its passages begin behind the filler
        whole = TokenizedText(
            np.concatenate((before.ids, tokens.ids)), np.concatenate((np.full(len(before), -1), tokens.starts))
        )
        if len(tokens):
            vectors += [part.vectors for part in encoder.stream(whole, passages, state)]
            rows += [row] * len(passages)
            borders += [(passage.start, passage.stop) for passage in passages]
    spans = Spans(np.array(rows, np.int64), np.array(borders, np.int64).reshape(-1, 2))
    queries = np.stack([encoder.encode_query(query.text, instruction) for query in dataset.queries])
    return by_vectors(spans, np.concatenate(vectors), queries)


def _first_tokens(encoder: Encoder, filler: str, n: int) -> TokenizedText:
    """The first `n` tokens of the filler, repeated as often as needed."""
    ids = encoder.tokenizer.tokenize(filler).ids
    if n and not len(ids):
        raise LongsearchError("the text to be read before the passages is empty", "give a book with --essay")
    repeated = np.resize(ids, n) if n else ids[:0]
    return TokenizedText(repeated, np.zeros(n, np.int64))
