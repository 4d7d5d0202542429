"""Decides which passages are what the operators of a query say. Knows no ranking.

What has no fields is one expression. Words, phrases and fields of the rest are each looked up once; AND, OR and NOT
are done with the ids. The slow twin is FTS5, which knows the same operators: `expression_of` writes what it is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.index.index import Index
from longsearch.engine.index.lookup import expressions, near
from longsearch.engine.query_language.fields import Filters
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.query_language.operators import All, Either, Near, Node, Not, Where
from longsearch.engine.search import retrieval
from longsearch.engine.store import documents
from longsearch.engine.store.languages import IndexLanguages
from longsearch.engine.store.segments.candidate_filter import CandidateFilter
from longsearch.engine.types.results import Term

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Set:
    """Passages or documents, or all but these."""

    ids: NDArray[np.int64]
    """Ascending."""
    is_rest: bool = False
    """Whether all others are meant."""
    of_documents: bool = False
    """Whether the ids are those of documents."""


def narrowed(
    allowed: CandidateFilter | None, index: Index, joined: Sequence[Node], languages: IndexLanguages
) -> CandidateFilter | None:
    """The allowed passages (None: all) that are what all these nodes say."""
    found = _intersected(index, [_set(index, node, languages) for node in joined])
    allowed = allowed or CandidateFilter()
    for one in found:
        if one.of_documents:
            ids = np.setdiff1d(documents.all_ids(index.db), one.ids) if one.is_rest else one.ids
            known = allowed.documents
            allowed = replace(allowed, documents=ids if known is None else np.intersect1d(known, ids))
        elif one.is_rest:
            known = allowed.excluded
            allowed = replace(allowed, excluded=one.ids if known is None else np.union1d(known, one.ids))
        else:
            known = allowed.holding
            allowed = replace(allowed, holding=one.ids if known is None else np.intersect1d(known, one.ids))
    return allowed


def expression_of(node: Node, languages: IndexLanguages) -> str:
    """The node as an FTS5 expression. It must have no fields, and NOT only beside something that must be there."""
    match node:
        case Term():
            return expressions([node], languages)[0]
        case Near():
            return near(node, languages)
        case Either():
            return f"({' OR '.join(expression_of(part, languages) for part in node.parts)})"
        case All():
            wanted = [expression_of(part, languages) for part in node.parts if not isinstance(part, Not)]
            unwanted = [expression_of(part.part, languages) for part in node.parts if isinstance(part, Not)]
            both = f"({' AND '.join(wanted)})"
            return f"({both} NOT ({' OR '.join(unwanted)}))" if unwanted else both
    raise ValueError(f"FTS5 cannot be asked for {node}")


def _set(index: Index, node: Node, languages: IndexLanguages) -> _Set:
    if _is_of_words(node):
        return _Set(index.backend.matching(expression_of(node, languages)))
    match node:
        case Where():
            return _with_field(index, node)
        case Not():
            found = _set(index, node.part, languages)
            return replace(found, is_rest=not found.is_rest)
        case All():
            return _of_passages(index, _intersected(index, [_set(index, part, languages) for part in node.parts]))
        case Either():  # what is not (neither this nor that)
            parts = [_set(index, part, languages) for part in node.parts]
            neither = _intersected(index, [replace(part, is_rest=not part.is_rest) for part in parts])
            found = _of_passages(index, neither)
            return replace(found, is_rest=not found.is_rest)
    raise ValueError(f"{node} is of words")


def _is_of_words(node: Node) -> bool:
    """Whether one expression says it: without fields, and NOT only beside something that must be there."""
    match node:
        case All():
            wanted = [part for part in node.parts if not isinstance(part, Not)]
            parts = [part.part if isinstance(part, Not) else part for part in node.parts]
            return bool(wanted) and all(map(_is_of_words, parts))
        case Either():
            return all(map(_is_of_words, node.parts))
    return not isinstance(node, Where | Not)


def _with_field(index: Index, where: Where) -> _Set:
    found = Filters()
    found.take(where.name, where.text, is_excluded=False, is_prefix=where.is_prefix)
    ids = retrieval.allowed_documents(index, FileFilter.of(found.of_files), found.conditions)
    return _Set(_NONE, True, True) if ids is None else _Set(ids, of_documents=True)


def _intersected(index: Index, parts: Sequence[_Set]) -> list[_Set]:
    """The sets, of which all must hold an id, as one of passages and one of documents."""
    found = []
    for of_documents in (True, False):
        own = [part for part in parts if part.of_documents is of_documents]
        if own:
            found.append(_intersection(own))
    return found


def _intersection(parts: Sequence[_Set]) -> _Set:
    kept, left_out = None, _NONE
    for part in parts:
        if part.is_rest:
            left_out = np.union1d(left_out, part.ids)
        else:
            kept = part.ids if kept is None else np.intersect1d(kept, part.ids, assume_unique=True)
    if kept is None:
        return _Set(left_out, True, parts[0].of_documents)
    return _Set(np.setdiff1d(kept, left_out, assume_unique=True), False, parts[0].of_documents)


def _of_passages(index: Index, parts: Sequence[_Set]) -> _Set:
    """One set of these: of passages, unless documents alone are asked for."""
    if len(parts) == 1:
        return parts[0]
    return _intersection(
        [
            _Set(documents.passages_of(index.db, part.ids.tolist()), part.is_rest) if part.of_documents else part
            for part in parts
        ]
    )
