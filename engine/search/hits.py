"""Turns ranked documents into hits: path, title, and passages with their text and place."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice

import apsw

from longsearch.engine.answers.choosing import Asked, Choice, overlapping
from longsearch.engine.index.index import Index
from longsearch.engine.places import label_of
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.search.ranking import RankedDocument, ids
from longsearch.engine.store import documents, files, metadata, texts
from longsearch.engine.store.excerpts import Nearest
from longsearch.engine.store.records import Outline, PassageRow
from longsearch.engine.types.results import DocumentHit, PassageHit

_N_CHOSEN = 5
LEAST_SCORE = 0.005  # a lower score would be shown as 0.00


def to_hits(
    index: Index,
    file_filter: FileFilter,
    ranked: Sequence[RankedDocument],
    nearest: Mapping[int, Nearest],
    asked: Asked | None = None,
) -> tuple[DocumentHit, ...]:
    """A hit for each document, best first.

    The excerpt of a passage is a whole sentence: the one that answers what is `asked`, else the one that shares most
    with its `nearest` excerpt by meaning. Page and heading are those of the excerpt. If several files hold a document,
    it has the first path that the filter admits.
    """
    index.backend.expect([id_ for document in ranked for id_ in ids(document.passages)])
    db, document_ids = index.db, [one.document_id for one in ranked]
    outlines = documents.outlines(db, document_ids)
    paths = files.paths_of_each(db, document_ids, file_filter.under)
    values = metadata.of_documents(db, document_ids)
    passages = _passages(db, ranked, outlines, nearest, asked)
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
    asked: Asked | None,
) -> Iterator[tuple[PassageHit, ...]]:
    """The passages of each document."""
    rows = documents.passage_rows(db, [passage_id for one in ranked for passage_id in ids(one.passages)])
    from_ocr = texts.ocr_spans(db, [one.document_id for one in ranked])
    labels = documents.page_labels(db, [one.document_id for one in ranked])
    read = [
        (one, passage_id, score, rows[passage_id], text)
        for one in ranked
        for (passage_id, score), text in zip(one.passages, _texts(db, one, rows), strict=True)
    ]
    languages = [outlines[one.document_id].language for one, *_ in read]
    given = list(zip([text for *_, text in read], languages, strict=True))
    choices: list[Choice | None] = [None] * len(read)
    if asked is not None:
        chosen = _chosen(ranked)
        for number, choice in zip(chosen, asked.choose([given[number] for number in chosen]), strict=True):
            choices[number] = choice
    lit = (
        _excerpt(text, language, choice, nearest.get(id_))
        for (_, id_, _, _, text), language, choice in zip(read, languages, choices, strict=True)
    )
    found = zip(read, lit, strict=True)
    for one in ranked:
        outline, printed = outlines[one.document_id], labels.get(one.document_id, ())
        scanned = from_ocr.get(one.document_id, ())
        own = [
            (_passage(row, text, score, outline, printed, scanned), choice)
            for (_, _, score, row, text), choice in islice(found, len(one.passages))
        ]
        yield tuple(hit if choice is None else at_sentence(hit, choice, outline, printed) for hit, choice in own)


def _chosen(ranked: Sequence[RankedDocument]) -> list[int]:
    """The passages, counted over all documents, whose sentence is chosen: each document's first, and the five best.

    To choose takes 2 ms a passage, and a search of ten documents has fifty.
    """
    scores = [score for one in ranked for _, score in one.passages]
    firsts = accumulate([0, *(len(one.passages) for one in ranked)][:-1]) if ranked else ()
    best = sorted(range(len(scores)), key=lambda number: -scores[number])[:_N_CHOSEN]
    return sorted({*firsts, *best})


def _texts(db: apsw.Connection, ranked: RankedDocument, rows: Mapping[int, PassageRow]) -> list[str]:
    places = [rows[passage_id] for passage_id, _ in ranked.passages]
    return texts.spans(db, ranked.document_id, [(row.start, row.stop) for row in places])


def _passage(
    row: PassageRow,
    text: str,
    score: float,
    outline: Outline,
    printed: Sequence[str],
    scanned: Sequence[tuple[int, int]],
) -> PassageHit:
    """A passage at the place of its middle."""
    return PassageHit(
        row.page,
        outline.heading_at((row.start + row.stop) // 2),
        row.start,
        row.stop,
        text,
        score,
        is_ocr=any(row.start < stop and start < row.stop for start, stop in scanned),
        page_label=label_of(printed, row.page),
        n_pages=len(printed),
    )


def at_sentence(hit: PassageHit, choice: Choice, outline: Outline, printed: Sequence[str]) -> PassageHit:
    """The passage with this sentence as its excerpt, at the place of the sentence. `printed`: the labels of pages."""
    start, stop = hit.start + choice.start, hit.start + choice.stop
    page = outline.page_at(start)
    return replace(
        hit,
        page=page,
        page_label=label_of(printed, page),
        heading=outline.heading_at(start),
        excerpt=(start, stop),
        answer=choice.score,
    )


def _excerpt(text: str, language: str, choice: Choice | None, nearest: Nearest | None) -> Choice | None:
    """The sentence of a passage to light, as offsets in it; None if nothing tells it."""
    if choice is not None or nearest is None:
        return choice
    stop = len(text) if nearest.stop is None else nearest.stop
    return Choice(*overlapping(text, language, (nearest.start, stop)), None)
