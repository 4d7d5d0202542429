"""Which parts of a document only point elsewhere: lists of references, contents, indexes. See `engine.furniture`.

They are looked for when a document is stored, so that a search, which weighs such passages down, reads no text for it.
"""

import json
from collections.abc import Sequence

import apsw

from longsearch.engine.furniture import furniture_in, kind_of
from longsearch.engine.store.documents import passage_ids
from longsearch.engine.store.records import FurniturePart
from longsearch.engine.types.documents import Passage

_GAP = 5  # characters between two passages: a blank line and a bullet


def put(db: apsw.Connection, document_id: int, text: str, passages: Sequence[Passage]) -> None:
    """Look for such parts in a document, and record them."""
    parts: list[FurniturePart] = []
    for id_, passage in zip(passage_ids(db, document_id), passages, strict=True):
        for part in _in_passage(text[passage.start : passage.stop], passage.start, id_):
            before = parts[-1] if parts else None
            if before and before.kind == part.kind and part.start - before.stop <= _GAP:
                parts[-1] = _joined(before, part)
            else:
                parts.append(part)
    db.execute("UPDATE contents SET furniture = ? WHERE id = ?", (json.dumps(parts), document_id))


def _in_passage(text: str, start: int, id_: int) -> list[FurniturePart]:
    found = furniture_in(text)
    if (kind := kind_of(text, found)) is not None:
        found = found or [((0, len(text)), kind)]
    if kind is not None:
        return [FurniturePart(start + first, start + last, own.value, id_, id_) for (first, last), own in found]
    return [
        FurniturePart(start + first, start + last, own.value, shared=((id_, first, last),))
        for (first, last), own in found
    ]


def _joined(before: FurniturePart, after: FurniturePart) -> FurniturePart:
    """Two parts that follow each other as one; a passage between two that they fill is filled too."""
    ids = [part for part in (before, after) if part.first <= part.last]
    first, last = (ids[0].first, ids[-1].last) if ids else (0, -1)
    shared = tuple(one for one in (*before.shared, *after.shared) if not first <= one[0] <= last)
    return FurniturePart(before.start, after.stop, before.kind, first, last, shared)


def next_unknown(db: apsw.Connection) -> int | None:
    """A document in which an older longsearch looked for no such parts, or None."""
    sql = "SELECT id FROM contents WHERE furniture IS NULL AND furniture IS NOT '[]' LIMIT 1"
    found = db.execute(sql).get
    return None if found is None else int(found)
