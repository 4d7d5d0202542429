"""Finds kept passages again: a document may have changed, moved or gone since. Knows no basket."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import apsw

from longsearch.app.folders.names import names_of
from longsearch.app.paths import index_path
from longsearch.app.search.quoting import as_passage
from longsearch.engine.citing.evidence import Evidence, PlacedEvidence, PlaceState
from longsearch.engine.errors import QueryError, StoreError
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.search.quotations.quotation import MAX_CHARACTERS, find_quotation
from longsearch.engine.store import documents, files, metadata
from longsearch.engine.types.results import DocumentHit, Quotation


def with_content(one: Evidence) -> Evidence:
    """Return a passage with the hash of its document, if the index still knows it."""
    try:
        with open_index(index_path(Path(one.root))) as index:
            return replace(one, content=_content_at(index.db, _path_in(one)))
    except StoreError:
        return one


def placed(passages: Sequence[Evidence]) -> list[PlacedEvidence]:
    """Find passages again, in the order given. Those whose document is the same cost a lookup."""
    indexes: dict[str, Index | None] = {}
    found = []
    with ExitStack() as stack:
        for one in passages:
            if one.root not in indexes:
                try:
                    indexes[one.root] = stack.enter_context(open_index(index_path(Path(one.root))))
                except StoreError:
                    indexes[one.root] = None
            opened = indexes[one.root]
            found.append(_placed(opened, one) if opened else PlacedEvidence(one, PlaceState.UNKNOWN))
    return found


def _placed(index: Index, one: Evidence) -> PlacedEvidence:
    if one.content and _content_at(index.db, _path_in(one)) == one.content:
        return PlacedEvidence(one, PlaceState.SAME)
    renamed = _path_of(index.db, one.content)
    if renamed is not None:
        path = os.path.join(index.root, renamed)  # noqa: PTH118 (Path would normalise a hostile name)
        return PlacedEvidence(replace(one, path=path), PlaceState.MOVED)
    try:
        places = find_quotation(index, one.quote[:MAX_CHARACTERS])
    except QueryError:  # a passage without words
        places = []
    if not places:
        return PlacedEvidence(one, PlaceState.GONE)
    place = next((place for place in places if place.path == one.path), places[0])
    now = replace(
        one,
        path=place.path,
        page=place.page,
        page_label=place.page_label,
        n_pages=place.n_pages,
        heading=place.heading,
        start=place.start,
        stop=place.start + len(one.quote) if len(one.quote) > MAX_CHARACTERS else place.stop,
    )
    is_in_place = (now.path, now.page) == (one.path, one.page)
    if place.similarity < 1:
        return PlacedEvidence(now, PlaceState.REWORDED)
    return PlacedEvidence(now, PlaceState.SAME if is_in_place else PlaceState.MOVED)


def quotation_hit(place: Quotation) -> DocumentHit:
    """Return a place that says a quotation as a hit with its document's metadata. Raises StoreError."""
    root = Path(place.root)
    with open_index(index_path(root)) as index:
        values = metadata.of_documents(index.db, [place.document_id]).get(place.document_id, ())
        language = documents.outline(index.db, place.document_id).language
    passage = as_passage(place)
    folder = names_of([root])[root]
    return DocumentHit(
        1,
        place.document_id,
        place.path,
        place.title,
        place.similarity,
        (passage,),
        place.root,
        folder,
        values,
        language,
    )


def _path_in(one: Evidence) -> str:
    """Return the path of a passage's file in its folder."""
    return one.path.removeprefix(one.root.rstrip(os.sep) + os.sep) if one.root else one.path


def _content_at(db: apsw.Connection, path: str) -> str:
    """Return the hash of the document in a file; "" if the index has none there."""
    document_id = files.document_of(db, path)
    return "" if document_id is None else documents.hashes_of(db, [document_id])[document_id].hex()


def _path_of(db: apsw.Connection, content: str) -> str | None:
    """Return a file, relative to the folder, that holds the document with this hash; None if there is none."""
    try:
        document_id = documents.find(db, bytes.fromhex(content)) if content else None
    except ValueError:
        return None
    return None if document_id is None else next(iter(files.best_paths_of(db, document_id, 1)), None)
