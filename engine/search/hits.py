"""Turns ranked documents into hits: path, title, and passages with their text and place."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw

from longsearch.engine.search.query_language.file_filter import FileFilter
from longsearch.engine.search.ranking import RankedDocument
from longsearch.engine.search.retrieval import ids
from longsearch.engine.store import documents, files, metadata, texts
from longsearch.engine.store.excerpts import Nearest
from longsearch.engine.store.records import Outline, PassageRow
from longsearch.engine.types import DocumentHit, PassageHit

LEAST_SCORE = 0.005  # a lower score would be shown as 0.00


def to_hits(
    db: apsw.Connection,
    root: Path,
    file_filter: FileFilter,
    ranked: Sequence[RankedDocument],
    nearest: Mapping[int, Nearest],
) -> tuple[DocumentHit, ...]:
    """A hit for each document, best first. `nearest`: for each passage, the excerpt to highlight."""
    return tuple(
        to_hit(db, root, file_filter, rank, document, nearest) for rank, document in enumerate(ranked, start=1)
    )


def to_hit(
    db: apsw.Connection,
    root: Path,
    file_filter: FileFilter,
    rank: int,
    document: RankedDocument,
    nearest: Mapping[int, Nearest],
) -> DocumentHit:
    """One hit. If several files hold the document, it has the first path that the filter admits."""
    outline = documents.outline(db, document.document_id)
    path = next(filter(file_filter.admits, files.paths_of(db, document.document_id, file_filter.under)))
    return DocumentHit(
        rank=rank,
        document_id=document.document_id,
        path=os.path.join(root, path),  # noqa: PTH118 (Path would normalise a hostile name)
        title=outline.title,
        score=document.score,
        passages=_passages(db, document, outline, nearest),
        root=os.fspath(root),
        metadata=metadata.of_documents(db, [document.document_id]).get(document.document_id, ()),
        language=outline.language,
        reason=document.reason,
    )


def _passages(
    db: apsw.Connection, document: RankedDocument, outline: Outline, nearest: Mapping[int, Nearest]
) -> tuple[PassageHit, ...]:
    rows = documents.passage_rows(db, ids(document.passages))
    places = [rows[passage_id] for passage_id, _ in document.passages]
    from_ocr = texts.ocr_spans(db, document.document_id)
    found = texts.spans(db, document.document_id, [(row.start, row.stop) for row in places])
    return tuple(
        PassageHit(
            row.page, outline.heading_at((row.start + row.stop) // 2), row.start, row.stop, text, score,
            _excerpt(text, row.start, nearest.get(passage_id)), _touches(row, from_ocr),
        )
        for row, text, (passage_id, score) in zip(places, found, document.passages, strict=True)
    )  # fmt: skip


def _touches(row: PassageRow, spans: Sequence[tuple[int, int]]) -> bool:
    return any(row.start < stop and start < row.stop for start, stop in spans)


def _excerpt(text: str, start: int, nearest: Nearest | None) -> tuple[int, int] | None:
    """(start, stop) of a passage's nearest excerpt, as offsets in the document; the passage begins at `start`."""
    if nearest is None:
        return None
    first = start + nearest.start
    return first, first + len(text[nearest.start : nearest.stop].rstrip())
