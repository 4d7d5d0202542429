"""The language of each document, and which languages an index holds. Knows no text."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store.connection import among, note_change

WORDS_VERSION = 3
"""The rules by which words are indexed. Words of a lower version are made again from the stored text."""


@dataclass(frozen=True, slots=True)
class IndexLanguages:
    """The languages in which a query's words are looked up."""

    codes: tuple[str, ...]
    """ISO 639 codes of all documents, each once; "" stands for documents whose language is unclear."""
    is_settled: bool
    """Whether the words of all documents are indexed by their language and by today's rules."""


def joined(parts: Sequence[IndexLanguages]) -> IndexLanguages:
    """The languages of several indexes that are searched as one."""
    codes = {code for part in parts for code in part.codes}
    return IndexLanguages(tuple(sorted(codes)), all(part.is_settled for part in parts))


def of_document(db: apsw.Connection, document_id: int) -> str | None:
    """The language by which a document's words are indexed; None: they wait to be indexed again."""
    found: str | None = db.execute("SELECT language FROM contents WHERE id = ?", (document_id,)).get
    return found


def next_unsettled(db: apsw.Connection) -> int | None:
    """A document whose words are not indexed by its language and by today's rules yet, or None."""
    found = db.execute("SELECT id FROM contents WHERE language IS NULL LIMIT 1").get
    if found is None:
        found = db.execute("SELECT id FROM contents WHERE words_version < ? LIMIT 1", (WORDS_VERSION,)).get
    return None if found is None else int(found)


def put(db: apsw.Connection, document_id: int, language: str) -> None:
    """Record the language of a document, whose words are indexed by today's rules."""
    sql = "UPDATE contents SET language = ?, words_version = ? WHERE id = ?"
    db.execute(sql, (language, WORDS_VERSION, document_id))
    note_change(db)


def documents_in(db: apsw.Connection, codes: Collection[str]) -> set[int]:
    """Ids of the documents in these languages."""
    sql = "SELECT id FROM contents WHERE language IN (SELECT value FROM json_each(?))"
    return {row[0] for row in db.execute(sql, (json.dumps(sorted(codes)),))}


def counts(db: apsw.Connection, allowed: NDArray[np.int64] | None = None) -> dict[str, int]:
    """The number of documents, or of these, in each language, most first.

    Those whose language is not known yet are left out.
    """
    condition, ids = among("id", allowed)
    sql = f"SELECT language, count(*) FROM contents WHERE language IS NOT NULL{condition} GROUP BY 1 ORDER BY 2 DESC, 1"  # noqa: S608
    return dict(db.execute(sql, ids))
