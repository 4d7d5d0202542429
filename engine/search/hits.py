"""Turns ranked documents into hits: path, title, and passages with their text and place."""

import os
from collections.abc import Iterator, Mapping, Sequence

import apsw

from longsearch.engine.index.index import Index
from longsearch.engine.places import label_of
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.search.ranking import RankedDocument, ids
from longsearch.engine.store import documents, files, metadata, texts
from longsearch.engine.store.excerpts import Nearest
from longsearch.engine.store.records import Outline, PassageRow
from longsearch.engine.types.results import DocumentHit, PassageHit

LEAST_SCORE = 0.005  # a lower score would be shown as 0.00


def to_hits(
    index: Index,
    file_filter: FileFilter,
    ranked: Sequence[RankedDocument],
    nearest: Mapping[int, Nearest],
) -> tuple[DocumentHit, ...]:
    """A hit for each document, best first. `nearest`: for each passage, the excerpt to highlight.

    If several files hold a document, it has the first path that the filter admits.
    """
    index.backend.expect([id_ for document in ranked for id_ in ids(document.passages)])
    db, document_ids = index.db, [one.document_id for one in ranked]
    outlines = documents.outlines(db, document_ids)
    paths = files.paths_of_each(db, document_ids, file_filter.under)
    values = metadata.of_documents(db, document_ids)
    passages = _passages(db, ranked, outlines, nearest)
    return tuple(
        DocumentHit(
            rank=rank,
            document_id=one.document_id,
            path=os.path.join(index.root, next(filter(file_filter.admits, paths[one.document_id]))),  # noqa: PTH118 (Path would normalise a hostile name)
            title=outlines[one.document_id].title,
            score=one.score,
            passages=own,
            root=os.fspath(index.root),
            metadata=values.get(one.document_id, ()),
            language=outlines[one.document_id].language,
            reason=one.reason,
            meaning_alone=one.meaning_alone,
        )
        for rank, (one, own) in enumerate(zip(ranked, passages, strict=True), start=1)
    )


def _passages(
    db: apsw.Connection,
    ranked: Sequence[RankedDocument],
    outlines: Mapping[int, Outline],
    nearest: Mapping[int, Nearest],
) -> Iterator[tuple[PassageHit, ...]]:
    """The passages of each document."""
    rows = documents.passage_rows(db, [passage_id for one in ranked for passage_id in ids(one.passages)])
    from_ocr = texts.ocr_spans(db, [one.document_id for one in ranked])
    labels = documents.page_labels(db, [one.document_id for one in ranked])
    for one in ranked:
        places = [rows[passage_id] for passage_id, _ in one.passages]
        found = texts.spans(db, one.document_id, [(row.start, row.stop) for row in places])
        outline, scanned = outlines[one.document_id], from_ocr.get(one.document_id, ())
        printed = labels.get(one.document_id, ())
        yield tuple(
            PassageHit(
                row.page, outline.heading_at((row.start + row.stop) // 2), row.start, row.stop, text, score,
                _excerpt(text, row.start, nearest.get(passage_id)), _touches(row, scanned),
                label_of(printed, row.page), len(printed),
            )
            for row, text, (passage_id, score) in zip(places, found, one.passages, strict=True)
        )  # fmt: skip


def _touches(row: PassageRow, spans: Sequence[tuple[int, int]]) -> bool:
    return any(row.start < stop and start < row.stop for start, stop in spans)


def _excerpt(text: str, start: int, nearest: Nearest | None) -> tuple[int, int] | None:
    """(start, stop) of a passage's nearest excerpt, as offsets in the document; the passage begins at `start`."""
    if nearest is None:
        return None
    first = start + nearest.start
    return first, first + len(text[nearest.start : nearest.stop].rstrip())
