"""What FTS5's BM25 leaves out: the highest score a query can reach, and the score of a whole document. Pure arithmetic.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, equation 3.15, with FTS5's k1
and b. Of a document the words are counted by the passages that hold them: a report names its company on each tenth
page, and the page with the figure asked for does not.
"""

import math
from collections.abc import Mapping, Sequence

_K1, _B = 1.2, 0.75  # FTS5's, not to be changed
_IDF_LEAST = 1e-6  # FTS5's idf of a word that more than half of the passages hold


def highest(n_matching: Sequence[int], n_passages: int) -> float:
    """What a passage's BM25 for an OR of terms stays below: sum of idf * (k1 + 1). `n_matching`: passages of each term.

    A term's part of BM25 is idf * f (k1 + 1) / (f + k1 (...)) with f its weighted count, so it nears idf * (k1 + 1)
    whatever the weights of the columns; idf as FTS5 computes it. A term no passage holds counts too: every answer
    lacks it.
    """
    idfs = (math.log((n_passages - n + 0.5) / (n + 0.5)) for n in n_matching)
    return sum(idf if idf > 0 else _IDF_LEAST for idf in idfs) * (_K1 + 1)


def of_documents(
    holding: Sequence[Mapping[int, int]], lengths: Mapping[int, int], n_documents: int, mean_length: float
) -> dict[int, float]:
    """The BM25 of whole documents, from 0 to 1, as a share of the highest; of those in `lengths` alone.

    holding: for each term, how many passages of each document hold it, of all documents that do. lengths: how many
    passages a document has; `mean_length` is that of all `n_documents`.
    """
    # never 0, as FTS5's nearly is: of two documents, one holding a word is told from the other by it
    idfs = [math.log(1 + (n_documents - len(counts) + 0.5) / (len(counts) + 0.5)) for counts in holding]
    total = sum(idfs) or 1.0  # of a query without words
    shares = {}
    for document, length in lengths.items():
        half = _K1 * (1 - _B + _B * length / mean_length)  # at so many passages a term has half of its weight
        found = (
            idf * n / (n + half) for idf, counts in zip(idfs, holding, strict=True) if (n := counts.get(document, 0))
        )
        shares[document] = sum(found) / total
    return shares
