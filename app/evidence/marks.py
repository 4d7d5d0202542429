"""Lists what people marked and noted in the documents of folders, as passages that can be cited and exported."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from longsearch.app.search.scope import Scope, opened
from longsearch.engine.citing.evidence import Evidence, evidence_of
from longsearch.engine.color_names import color_name
from longsearch.engine.index.index import Index
from longsearch.engine.store import files, metadata
from longsearch.engine.types.documents import DocumentText, Mark
from longsearch.engine.types.results import DocumentHit, Folder, PassageHit


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark and the passage that it marks."""

    mark: Mark
    evidence: Evidence
    """Its quotation are the marked words, or of a note the line beside which it stands; its note says what it is."""


def marks_in(scope: Scope) -> Iterator[Marked]:
    """Yield the marks of all documents, by path and place. Raises LongsearchError."""
    with opened(scope) as found:
        for folder, index in found.parts:
            paths = files.paths_of_each(index.db, _marked(index), scope.under)
            for id_, (path, *_) in sorted(paths.items(), key=lambda one: one[1]):
                yield from _of_document(index, id_, folder, path)


def marks_of(index: Index, document_id: int, folder: Folder, path: str) -> list[Marked]:
    """Return the marks of one document; `path`: of a file that holds it, relative to the folder."""
    return list(_of_document(index, document_id, folder, path)) if document_id in _marked(index) else []


def _of_document(index: Index, document_id: int, folder: Folder, path: str) -> Iterator[Marked]:
    document = index.text(document_id)
    values = metadata.of_documents(index.db, [document_id]).get(document_id, ())
    whole = os.path.join(folder.root, path)  # noqa: PTH118 - Path would normalise a hostile name
    hit = DocumentHit(0, document_id, whole, document.title, 0.0, (), folder.root, folder.name, values)
    for mark in document.marks:
        place = document.place_at(mark.start)
        passage = PassageHit(
            place.page,
            place.heading,
            mark.start,
            mark.stop,
            words_of(mark, document),
            0.0,
            page_label=place.page_label,
            n_pages=place.n_pages,
        )
        yield Marked(mark, replace(evidence_of(hit, passage), note=said_of(mark)))


def _marked(index: Index) -> list[int]:
    return list(map(int, metadata.with_words(index.db, "marked", metadata.as_words("yes"))))


def words_of(mark: Mark, document: DocumentText) -> str:
    """Return the words that are marked; of a note on none, the line beside which it stands."""
    if mark.stop > mark.start or mark.quote:
        return mark.quote or document.text[mark.start : mark.stop]
    start = document.text.rfind("\n", 0, mark.start) + 1
    stop = document.text.find("\n", mark.start)
    return document.text[start : stop if stop >= 0 else None].strip()


def said_of(mark: Mark) -> str:
    """Return what a mark is and says: "highlight (yellow) by Ann: who owns it?"."""
    color = f" ({color_name(mark.color)})" if mark.color else ""
    by = f" by {mark.author}" if mark.author else ""
    return f"{mark.kind}{color}{by}" + (f": {mark.note}" if mark.note else "")
