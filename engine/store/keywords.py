"""The word index: FTS5 over passages, ranked by BM25. Takes match expressions as `engine.search.query` builds them.

The title is indexed with a document's first passage only, at twice the weight of text: nDCG@10 is that of a title on
every passage (.842 and .846, .945 and .949, .800 and .801 on three sets), yet a title word does not fill the
candidates with all 1,000 passages of one book.
"""

from collections.abc import Iterable, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from engine.store.documents import bindable, storable
from engine.types import DocumentText, Passage

TITLE_WEIGHT = 2.0


def add(db: apsw.Connection, ids: Sequence[int], document: DocumentText, passages: Sequence[Passage]) -> None:
    """Index a document's passages under their ids, the title with the first."""
    titles = (document.title if ordinal == 0 else "" for ordinal in range(len(ids)))
    db.executemany(
        "INSERT INTO words (rowid, text, title) VALUES (?, ?, ?)",
        (
            (passage_id, storable(document.text[passage.start : passage.stop]), storable(title))
            for passage_id, passage, title in zip(ids, passages, titles, strict=True)
        ),
    )


def retitle(db: apsw.Connection, passage_id: int, text: str, title: str) -> None:
    """Index a document's first passage with another title; `text` is the passage's own."""
    remove(db, [passage_id])  # of a contentless table a column cannot be changed
    db.execute("INSERT INTO words (rowid, text, title) VALUES (?, ?, ?)", (passage_id, storable(text), storable(title)))


def remove(db: apsw.Connection, passage_ids: Iterable[int]) -> None:
    """Forget passages."""
    db.executemany("DELETE FROM words WHERE rowid = ?", ((passage_id,) for passage_id in passage_ids))


def best(
    db: apsw.Connection, match: str, limit: int, allowed: NDArray[np.int64] | None = None
) -> list[tuple[int, float]]:
    """The `limit` passages that match best, as (id, BM25), highest first; only `allowed` ids where given."""
    if allowed is not None and not len(allowed):
        return []
    # "+rowid": else SQLite runs the match anew for every allowed id (17 times slower at 100 ids of 100k). Ordering
    # by the function, not by "rank", leaves the sorting to SQLite after the filter: 31 ms, not 46, for 51k matches.
    condition, bindings = ("", ()) if allowed is None else (" AND +rowid IN carray(?)", (bindable(allowed),))
    sql = (
        f"SELECT rowid, -bm25(words, 1.0, {TITLE_WEIGHT}) AS score FROM words WHERE words MATCH ?{condition}"  # noqa: S608
        " ORDER BY score DESC, rowid LIMIT ?"
    )
    return list(db.execute(sql, (match, *bindings, limit)))


def matching(db: apsw.Connection, match: str) -> NDArray[np.int64]:
    """Ids of all passages that match, ascending."""
    rows = db.execute("SELECT rowid FROM words WHERE words MATCH ?", (match,))
    return np.fromiter((row[0] for row in rows), dtype=np.int64)


def n_matching_by_content(db: apsw.Connection, match: str) -> dict[int, int]:
    """How many passages of each content match; contents without any are left out.

    By MATCH, since the vocabulary table knows neither phrases nor prefixes nor how a term is tokenized.
    """
    sql = (
        "SELECT content_id, count(*) FROM words JOIN passages ON passages.id = words.rowid"
        " WHERE words MATCH ? GROUP BY content_id"
    )
    return dict(db.execute(sql, (match,)))
