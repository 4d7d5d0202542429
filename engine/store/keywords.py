"""The word index: FTS5 over passages, ranked by BM25. Takes the match expressions of `engine.search.query`.

Only a document's first passage is indexed with the title, at twice the weight of text. nDCG@10 is nearly the same as
with the title on every passage (.842 and .846, .945 and .949, .800 and .801 on three sets), and a title word does not
fill the candidates with all 1,000 passages of one book.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store.documents import bindable, storable
from longsearch.engine.types import DocumentText, Passage

TITLE_WEIGHT = 2.0
_WEIGHTS = (1.0, TITLE_WEIGHT)  # of the columns text and title


class Occurrences(NamedTuple):
    """How often a passage holds each phrase of a match expression."""

    length: int
    """The passage's words, title included."""
    frequencies: tuple[float, ...]
    """For each phrase, a word of the title counted with its weight."""


def add(db: apsw.Connection, ids: Sequence[int], document: DocumentText, passages: Sequence[Passage]) -> None:
    """Index a document's passages under their ids, and its title with the first passage."""
    titles = (document.title if ordinal == 0 else "" for ordinal in range(len(ids)))
    db.executemany(
        "INSERT INTO words (rowid, text, title) VALUES (?, ?, ?)",
        (
            (passage_id, storable(document.text[passage.start : passage.stop]), storable(title))
            for passage_id, passage, title in zip(ids, passages, titles, strict=True)
        ),
    )


def retitle(db: apsw.Connection, passage_id: int, text: str, title: str) -> None:
    """Index a document's first passage with another title; `text` is the passage's text."""
    remove(db, [passage_id])  # FTS5 cannot update one column of a contentless table
    db.execute("INSERT INTO words (rowid, text, title) VALUES (?, ?, ?)", (passage_id, storable(text), storable(title)))


def remove(db: apsw.Connection, passage_ids: Iterable[int]) -> None:
    """Delete passages."""
    db.executemany("DELETE FROM words WHERE rowid = ?", ((passage_id,) for passage_id in passage_ids))


def best(
    db: apsw.Connection, match: str, limit: int, allowed: NDArray[np.int64] | None = None
) -> list[tuple[int, float]]:
    """The `limit` best matching passages as (id, BM25), highest first; if `allowed` is given, only these ids."""
    if allowed is not None and not len(allowed):
        return []
    # "+rowid": otherwise SQLite runs the match again for every allowed id (17 times slower at 100 ids of 100k). Order
    # by the function, not by "rank": then SQLite sorts after the filter, in 31 ms and not 46 for 51k matches.
    condition, bindings = ("", ()) if allowed is None else (" AND +rowid IN carray(?)", (bindable(allowed),))
    sql = (
        f"SELECT rowid, -bm25(words, 1.0, {TITLE_WEIGHT}) AS score FROM words WHERE words MATCH ?{condition}"  # noqa: S608
        " ORDER BY score DESC, rowid LIMIT ?"
    )
    return list(db.execute(sql, (match, *bindings, limit)))


def first_matching(db: apsw.Connection, match: str, limit: int, allowed: NDArray[np.int64] | None = None) -> list[int]:
    """The first `limit` ids that match, ascending; if `allowed` is given, only these.

    Much faster than `best` for a phrase: bm25() reads all that each word matches, and a phrase need not.
    """
    if allowed is not None and not len(allowed):
        return []
    condition, bindings = ("", ()) if allowed is None else (" AND +rowid IN carray(?)", (bindable(allowed),))
    sql = f"SELECT rowid FROM words WHERE words MATCH ?{condition} ORDER BY rowid LIMIT ?"  # noqa: S608
    return [row[0] for row in db.execute(sql, (match, *bindings, limit))]


def matching(db: apsw.Connection, match: str) -> NDArray[np.int64]:
    """Ids of all passages that match, ascending."""
    rows = db.execute("SELECT rowid FROM words WHERE words MATCH ?", (match,))
    return np.fromiter((row[0] for row in rows), dtype=np.int64)


def n_matching_by_document(db: apsw.Connection, match: str) -> dict[int, int]:
    """The number of matching passages of each document; documents without any are left out.

    Uses MATCH because FTS5's vocabulary table knows no phrases, no prefixes and no tokenizer.
    """
    sql = (
        "SELECT content_id, count(*) FROM words JOIN passages ON passages.id = words.rowid"
        " WHERE words MATCH ? GROUP BY content_id"
    )
    return dict(db.execute(sql, (match,)))


def n_words(db: apsw.Connection) -> int:
    """The number of words in all passages, titles included."""
    db.register_fts5_function("n_words", _total_size)
    found = db.execute("SELECT n_words(words) FROM words LIMIT 1").get
    return 0 if found is None else int(found)


def occurrences(db: apsw.Connection, match: str, ids: Sequence[int]) -> dict[int, Occurrences]:
    """How often each of these passages holds the phrases of `match`; passages that do not match are missing.

    FTS5's bm25() tells only its result, for the figures of its own index. The function in Python is called for these
    passages alone.
    """
    db.register_fts5_function("occurrences", _occurrences)
    sql = "SELECT rowid, occurrences(words) FROM words WHERE words MATCH ? AND +rowid IN carray(?)"
    rows = db.execute(sql, (match, bindable(np.array(ids, np.int64)))) if len(ids) else ()
    counted = ((rowid, json.loads(found)) for rowid, found in rows)
    return {rowid: Occurrences(length, tuple(frequencies)) for rowid, (length, frequencies) in counted}


def _total_size(fts: apsw.FTS5ExtensionApi, *_: object) -> int:
    return int(fts.column_total_size())


def _occurrences(fts: apsw.FTS5ExtensionApi, *_: object) -> str:
    frequencies = [
        sum(weight * len(fts.phrase_column_offsets(phrase, column)) for column, weight in enumerate(_WEIGHTS))
        for phrase in range(fts.phrase_count)
    ]
    return json.dumps([fts.column_size(), frequencies])
