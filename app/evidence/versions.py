"""Compares two documents, and finds the documents of folders that are copies or versions of one another."""

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from longsearch.app.search.scope import Scope, opened
from longsearch.engine.citing.comparing import Change, Kind, compared
from longsearch.engine.index.index import Index
from longsearch.engine.search.versions import IndexOf, Whole, newest_first, wholes
from longsearch.engine.store import documents, files
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.results import DocumentHit

_SKETCH = 16
"""Groups of words by which a document's likes are found: nearly equal texts share one of the least."""
_MOST_ALIKE = 200
"""Documents with one group of words in common that are compared with one another."""


@dataclass(frozen=True, slots=True)
class Version:
    """A document of a group."""

    hit: DocumentHit
    """`also_at` has the other files with the same bytes."""
    n_alone: int
    """Sentences that it has and the first one of its group has not; of the first one, those that no other has."""


def difference(first: DocumentText, second: DocumentText) -> tuple[list[Change], int]:
    """Return what differs between two documents, and how many sentences are the same."""
    return compared(first.text, second.text)


def groups(scope: Scope) -> Iterator[list[Version]]:
    """Yield documents that are copies or versions of one another, the newest first. Raises LongsearchError."""
    with opened(scope) as found:
        indexes = {folder.root: index for folder, index in found.parts}
        hits = [hit for folder, index in found.parts for hit in _hits(index, folder.root, folder.name, scope.under)]
        hits = [replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1)]
        for group in _alike(hits, lambda hit: indexes[hit.root]):
            ordered = newest_first(group, lambda hit: indexes[hit.root])
            n_alone = _n_alone([indexes[hit.root].text(hit.document_id) for hit in ordered])
            yield [Version(hit, n) for hit, n in zip(ordered, n_alone, strict=True)]


def _hits(index: Index, root: str, name: str, under: str) -> list[DocumentHit]:
    """Return each document as a hit."""
    paths = files.paths_of_each(index.db, documents.all_ids(index.db).tolist(), under)
    outlines = index.outlines(list(paths))
    hits = []
    for id_, named in sorted(paths.items(), key=lambda one: one[1]):
        first, *others = (os.path.join(root, path) for path in named)  # noqa: PTH118 - Path would normalise a hostile name
        title = outlines[id_].title if id_ in outlines else ""
        hits.append(DocumentHit(0, id_, first, title, 0.0, (), root, name, also_at=tuple(others)))
    return hits


def _alike(hits: list[DocumentHit], index_of: IndexOf) -> Iterator[list[DocumentHit]]:
    """Yield groups of documents that say nearly the same, and documents that lie in several files."""
    known = wholes(hits, index_of)
    near: dict[int, list[Whole]] = defaultdict(list)
    for one in known:
        for word in one.beginning()[:_SKETCH].tolist():
            near[word].append(one)
    done: set[int] = set()  # by rank
    for one in known:
        if one.hit.rank in done:
            continue
        likely = {
            other.hit.rank: other
            for word in one.beginning()[:_SKETCH].tolist()
            for other in near[word][:_MOST_ALIKE]
            if other.hit.rank not in done
        }
        group = [other.hit for other in likely.values() if other is one or other.is_version_of(one)]
        done |= {hit.rank for hit in group}
        if len(group) > 1 or one.hit.also_at:
            yield group or [one.hit]


def _n_alone(texts: list[DocumentText]) -> list[int]:
    """Return the sentences that each one has beyond the first; of the first, those that are in none of the others."""
    changes = [difference(texts[0], text)[0] for text in texts[1:]]
    alone = [sum(one.kind in (Kind.NEW, Kind.CHANGED) for one in own) for own in changes]
    only = [{one.first for one in own if one.first and one.kind is not Kind.MOVED} for own in changes]
    return [len(set.intersection(*only)) if only else 0, *alone]
