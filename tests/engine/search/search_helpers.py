"""Helpers for the tests of search: documents with one passage per sentence and explicit vectors."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store.excerpts import packed
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Heading, Passage
from longsearch.engine.types.results import SearchResults
from tests.engine.store.store_helpers import DIM, ROOT, of_store, search

__all__ = ["add", "kept", "names", "of_store", "search", "toward"]
_EXCERPT_CHARACTERS = 10


def toward(*weights: float) -> NDArray[np.float32]:
    """The unit vector in this direction."""
    vector = np.zeros(DIM, np.float32)
    vector[: len(weights)] = weights
    return vector / np.linalg.norm(vector)


def kept(*weights: float) -> float:
    """The cosine of the vector in this direction with the first axis, as the eight bits of an index keep it."""
    codes = np.rint(127 * np.array(weights) / np.abs(weights).max())
    return float(codes[0] / np.linalg.norm(codes))


def add(
    store: Store,
    path: str,
    sentences: Sequence[str],
    directions: Sequence[NDArray[np.float32]] | None = None,
    title: str = "·",  # a title without words; an untitled document would be named after its file
    whole: NDArray[np.float32] | None = None,
    excerpts: Sequence[Sequence[NDArray[np.float32]]] = (),
) -> int:
    """Add a document whose passages are `sentences`, each on its own page; with directions, embed it.

    The document's vector is `whole`, or that of its first passage. `excerpts`: for each passage the directions of its
    excerpts, which have ten characters each.
    """
    starts = [sum(len(sentence) + 1 for sentence in sentences[:number]) for number in range(len(sentences))]
    passages = [Passage(start, start + len(words), 5) for start, words in zip(starts, sentences, strict=True)]
    text = DocumentText("\n".join(sentences), tuple(starts), title, (Heading(1, f"On {path}", 0),))
    content_hash = hashlib.sha256(repr((sentences, title)).encode()).digest()
    document_id = store.add_document(FileStamp(path, 1, 1, 1), content_hash, text, passages)
    if directions is not None:
        packed_excerpts = [
            packed(_EXCERPT_CHARACTERS * np.arange(len(own)), np.array(own, np.float32).reshape(-1, DIM), of_passage)
            for own, of_passage in zip(excerpts, directions, strict=False)
        ]
        store.add_vectors(document_id, 0, np.stack(directions), 5 * len(sentences), None, packed_excerpts)
        store.finish_embedding(document_id, directions[0] if whole is None else whole, 5 * len(sentences))
    return document_id


def names(results: SearchResults) -> list[str]:
    """The paths of the hits, relative to the root, best first."""
    return [hit.path.removeprefix(f"{ROOT}/") for hit in results.hits]
