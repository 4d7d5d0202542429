"""A small library for the tests of search: documents of one passage a sentence, with vectors that are said outright."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from store_helpers import DIM, ROOT

from engine.search import searcher
from engine.search.query import parse
from engine.store.excerpts import packed
from engine.store.records import FileStamp
from engine.store.store import Store
from engine.types import DocumentText, Heading, Passage, SearchMode, SearchResults

_EXCERPT_CHARACTERS = 10


def toward(*weights: float) -> NDArray[np.float32]:
    """The unit vector in this direction."""
    vector = np.zeros(DIM, np.float32)
    vector[: len(weights)] = weights
    return vector / np.linalg.norm(vector)


def add(
    store: Store,
    path: str,
    sentences: Sequence[str],
    directions: Sequence[NDArray[np.float32]] | None = None,
    title: str = "·",  # no word to be found by; without one it would be called after its file
    whole: NDArray[np.float32] | None = None,
    excerpts: Sequence[Sequence[NDArray[np.float32]]] = (),
) -> int:
    """A document whose passages are `sentences`, each on a page of its own; embedded where directions are given.

    As a whole it is like its first passage, or like `whole`. `excerpts`: the directions of each passage's, of ten
    characters each.
    """
    starts = [sum(len(sentence) + 1 for sentence in sentences[:number]) for number in range(len(sentences))]
    passages = [Passage(start, start + len(words), 5) for start, words in zip(starts, sentences, strict=True)]
    text = DocumentText("\n".join(sentences), tuple(starts), title, (Heading(1, f"On {path}", 0),))
    content_hash = hashlib.sha256(repr((sentences, title)).encode()).digest()
    document_id = store.add_document(FileStamp(path, 1, 1, 1), content_hash, text, passages)
    if directions is not None:
        of_excerpts = [
            packed(_EXCERPT_CHARACTERS * np.arange(len(own)), np.array(own, np.float32).reshape(-1, DIM))
            for own in excerpts
        ]
        store.add_vectors(document_id, 0, np.stack(directions), 5 * len(sentences), None, of_excerpts)
        store.finish_embedding(document_id, directions[0] if whole is None else whole, 5 * len(sentences))
    return document_id


def search(
    store: Store,
    text: str,
    mode: SearchMode,
    query_vector: NDArray[np.float32] | None = None,
    prefix_last: bool = False,
    **options: Any,
) -> SearchResults:
    """Search for a query as it is typed."""
    return searcher.search(store, parse(text, prefix_last), mode, query_vector, **options)


def names(results: SearchResults) -> list[str]:
    """The files found, relative to the root, best first."""
    return [hit.path.removeprefix(f"{ROOT}/") for hit in results.hits]
