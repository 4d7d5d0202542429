"""Turns ranked documents into hits: path, title, and passages with their text and place."""

import os
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain, islice

from longsearch.engine.answers.choosing import Asked, Choice, overlapping
from longsearch.engine.index.index import Index
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.search.ranking import RankedDocument
from longsearch.engine.sentences import PAGE_BREAK, Span
from longsearch.engine.store import files, metadata, texts
from longsearch.engine.store.records import Outline
from longsearch.engine.types.results import DocumentHit, PassageHit

_N_CHOSEN = 5
LEAST_SCORE = 0.005  # a lower score would be shown as 0.00


def to_hits(
    index: Index, file_filter: FileFilter, ranked: Sequence[RankedDocument], asked: Asked | None = None
) -> tuple[DocumentHit, ...]:
    """A hit for each document, best first.

    The excerpt of a passage is a whole sentence: the one that answers what is `asked`, else the one that shares most
    with its nearest excerpt by meaning. Page and heading are those of the excerpt. If several files hold a document,
    it has the best of the paths that the filter admits, and the others beside it.
    """
    db, document_ids = index.db, [one.document_id for one in ranked]
    outlines = index.outlines(document_ids)
    paths = files.paths_of_each(db, document_ids, file_filter.under)
    values = metadata.of_documents(db, document_ids)
    passages = _passages(index, ranked, asked)
    best = {id_: next(filter(file_filter.admits, own)) for id_, own in paths.items()}
    join = os.path.join  # Path would normalise a hostile name
    return tuple(
        DocumentHit(
            rank=rank,
            document_id=(id_ := one.document_id),
            path=join(index.root, best[id_]),
            also_at=tuple(join(index.root, path) for path in paths[id_] if path != best[id_]),
            title=outlines[id_].title,
            score=one.score,
            passages=own,
            root=os.fspath(index.root),
            metadata=values.get(id_, ()),
            language=outlines[id_].language,
            reason=one.reason,
            meaning_alone=one.meaning_alone,
        )
        for rank, (one, own) in enumerate(zip(ranked, passages, strict=True), start=1)
    )


def _passages(index: Index, ranked: Sequence[RankedDocument], asked: Asked | None) -> list[tuple[PassageHit, ...]]:
    """The passages of each document.

    A sentence is chosen in each document's first passage and in the five best of all: it takes 2 ms a passage.
    """
    rows = index.passage_rows([passage.id for one in ranked for passage in one.passages])
    outlines = index.outlines([one.document_id for one in ranked])
    shown = [(outlines[one.document_id], passage) for one in ranked for passage in one.passages]
    of_each = {one.document_id: [(rows[own.id].start, rows[own.id].stop) for own in one.passages] for one in ranked}
    spans = list(chain.from_iterable(of_each.values()))
    found = list(chain.from_iterable(texts.spans_of_each(index.db, of_each).values()))
    given = [
        (with_page_breaks(text, start, own.page_starts) if len(own.page_starts) > 1 else text, own.language)
        for (own, _), (start, _), text in zip(shown, spans, found, strict=True)
    ]
    excerpts = [own.excerpt for _, own in shown]
    nearest = [
        excerpt and (excerpt[0], len(text) if excerpt[1] < 0 else excerpt[1])
        for excerpt, (text, _) in zip(excerpts, given, strict=True)
    ]
    choices: dict[int, Choice | None] = {}
    if asked is not None and shown:
        best = sorted(range(len(shown)), key=lambda number: -shown[number][1].score)[:_N_CHOSEN]
        chosen = sorted({*best, *accumulate((len(one.passages) for one in ranked[:-1]), initial=0)})
        parts = [shown[number][0].furniture_in(*spans[number]) for number in chosen]
        texts_of, near = [given[number] for number in chosen], [nearest[number] for number in chosen]
        choices = dict(zip(chosen, asked.choose(texts_of, parts, near), strict=True))
    hits = (
        placed(span, text, own.score, outline, choices.get(number) or _overlapping(*given[number], nearest[number]))
        for number, ((outline, own), span, text) in enumerate(zip(shown, spans, found, strict=True))
    )
    return [tuple(islice(hits, len(one.passages))) for one in ranked]


def with_page_breaks(text: str, start: int, page_starts: Sequence[int]) -> str:
    """The text of a passage, which begins at `start`, with a page break for the line break before each page."""
    for page_start in page_starts[bisect_right(page_starts, start) : bisect_left(page_starts, start + len(text))]:
        at = page_start - start
        if text[at - 1] == "\n":
            text = f"{text[: at - 1]}{PAGE_BREAK}{text[at:]}"
    return text


def placed(span: tuple[int, int], text: str, score: float, outline: Outline, choice: Choice | None) -> PassageHit:
    """The hit of a passage, at the place of its sentence or, without one, of its middle.

    Where a heading or the title stands before the sentence, the hit begins at the sentence.
    """
    start, stop = span
    at = (start + stop) // 2 if choice is None else start + choice.start
    if choice is not None and (line_end := text.find("\n", choice.start, choice.stop)) >= 0:
        is_title = at == 0 and text.startswith("\n\n", line_end)
        if is_title or any(heading.start == at for heading in outline.headings):
            at = start + choice.stop - len(text[line_end : choice.stop].lstrip())
    place = outline.place_at(at)
    return PassageHit(
        place.page,
        place.heading,
        start,
        stop,
        text,
        score,
        None if choice is None else (at, start + choice.stop),
        any(start < last and first < stop for first, last in outline.ocr_spans),
        place.page_label,
        place.n_pages,
        None if choice is None else choice.score,
        furniture=next((part.kind for part in outline.furniture if part.fills(start, stop)), ""),
    )


def _overlapping(text: str, language: str, excerpt: Span | None) -> Choice | None:
    """The sentence of a passage that shares most with its nearest excerpt, as offsets in it; None without excerpts."""
    return Choice(*overlapping(text, language, excerpt), None) if excerpt else None
