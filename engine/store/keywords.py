"""The word index: FTS5 over passages, ranked by BM25. Takes the match expressions of `engine.index.lookup`.

Only a document's first passage is indexed with the title, at twice the weight of text. nDCG@10 is nearly the same as
with the title on every passage (.842 and .846, .945 and .949, .800 and .801 on three sets), and a title word does not
fill the candidates with all 1,000 passages of one book.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.languages.document_words import indexed, indexed_names
from longsearch.engine.store import documents, languages, texts
from longsearch.engine.store.documents import bindable, storable
from longsearch.engine.store.manifest import Kind, note_added, note_removed
from longsearch.engine.store.records import Outline
from longsearch.engine.types.documents import Passage

TITLE_WEIGHT = 2
TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2")
"""The tokenizer of the table `words`, as `schema` has it. To ask FTS5 took a millisecond of each search."""
_WEIGHTS = (1, TITLE_WEIGHT)  # of the columns text and title
_PAGES_AT_ONCE = 1_000  # of words are written anew: 4 MB


class Occurrences(NamedTuple):
    """How often a passage holds each phrase of a match expression."""

    length: int
    """The passage's words, title included."""
    frequencies: tuple[int, ...]
    """For each phrase, a word of the title counted with its weight."""


def add(db: apsw.Connection, document_id: int, text: str, passages: Sequence[Passage]) -> None:
    """Index the passages of a stored document, and its title and names with the first passage."""
    language, ids = languages.of_document(db, document_id), documents.passage_ids(db, document_id)
    titles = (_title(db, document_id, language) if ordinal == 0 else "" for ordinal in range(len(ids)))
    db.executemany(
        "INSERT INTO words (rowid, text, title) VALUES (?, ?, ?)",
        (
            (passage_id, _words(text[passage.start : passage.stop], language), title)
            for passage_id, passage, title in zip(ids, passages, titles, strict=True)
        ),
    )
    note_added(db, Kind.WORDS, ids)


def retitle(db: apsw.Connection, document_id: int, passage_id: int, text: str) -> None:
    """Index a document's first passage, whose text this is, with the title and the names that the document has now."""
    remove(db, [passage_id])  # FTS5 cannot update one column of a contentless table
    language = languages.of_document(db, document_id)
    made = passage_id, _words(text, language), _title(db, document_id, language)
    db.execute("INSERT INTO words (rowid, text, title) VALUES (?, ?, ?)", made)
    # the passages of a document stay in one segment, so that documents can be counted segment by segment
    of_document = "SELECT id FROM passages WHERE content_id = (SELECT content_id FROM passages WHERE id = ?)"
    ids = [row[0] for row in db.execute(of_document, (passage_id,))]
    note_removed(db, Kind.WORDS, ids)
    note_added(db, Kind.WORDS, ids)


def remove(db: apsw.Connection, passage_ids: Iterable[int]) -> None:
    """Delete passages."""
    ids = list(passage_ids)
    db.executemany("DELETE FROM words WHERE rowid = ?", ((passage_id,) for passage_id in ids))
    note_removed(db, Kind.WORDS, ids)


def best(
    db: apsw.Connection, match: str, limit: int, allowed: NDArray[np.int64] | None = None
) -> list[tuple[int, float]]:
    """The `limit` best matching passages as (id, BM25), highest first; if `allowed` is given, only these ids."""
    if allowed is not None and not len(allowed):
        return []
    # ordered by the function, not by "rank": then SQLite sorts after the filter, in 31 ms and not 46 for 51k matches
    condition, bindings = _among(allowed)
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
    condition, bindings = _among(allowed)
    sql = f"SELECT rowid FROM words WHERE words MATCH ?{condition} ORDER BY rowid LIMIT ?"  # noqa: S608
    return [row[0] for row in db.execute(sql, (match, *bindings, limit))]


def scores_of_forms(
    db: apsw.Connection,
    terms: Sequence[Sequence[str]],
    weights: Sequence[float],
    idf: Callable[[int], float],
    allowed: NDArray[np.int64] | None = None,
) -> tuple[dict[int, float], set[int]]:
    """(BM25 of each passage that matches, those that hold several forms of one term, whose score is too high).

    `terms`: the forms of each, one for each language of the index; `weights`: of each term; `idf`: that of a count.

    FTS5 gives each form an idf of its own, and so ranks the few documents of a rare language first: a name is rarer in
    their form than in the others' (nDCG@10 of an Italian set, 5 % of whose paragraphs are taken for another language:
    74.1, and 83.2 so). Here the forms of a term share its weight.
    """
    condition, bindings = _among(allowed)
    one = f"SELECT rowid, -bm25(words, 1.0, {TITLE_WEIGHT}) * ? FROM words WHERE words MATCH ?{condition}"  # noqa: S608
    found: dict[int, float] = {}
    several: set[int] = set()
    for forms, weight in zip(terms, weights, strict=True):
        seen: set[int] = set()
        for form in forms:
            n = int(db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (form,)).get)
            for rowid, part in db.execute(one, (weight / idf(n), form, *bindings)) if n else ():
                found[rowid] = found.get(rowid, 0.0) + part
                (several if rowid in seen else seen).add(rowid)
    return found, several


def matching(db: apsw.Connection, match: str, among: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Ids of all passages that match, ascending; of these alone (some, ascending) if `among` is given."""
    condition, bindings = _among(among)
    if among is not None:  # FTS5 skips what lies outside
        condition, bindings = " AND rowid BETWEEN ? AND ?" + condition, (int(among[0]), int(among[-1]), *bindings)
    rows = db.execute(f"SELECT rowid FROM words WHERE words MATCH ?{condition}", (match, *bindings))  # noqa: S608
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


def _occurrences(fts: apsw.FTS5ExtensionApi, *_: object) -> str:
    return json.dumps([fts.column_size(), [_count(fts, phrase) for phrase in range(fts.phrase_count)]])


def _count(fts: apsw.FTS5ExtensionApi, phrase: int) -> int:
    """How often the passage holds a phrase, a word of the title counted with its weight."""
    return sum(weight * len(fts.phrase_column_offsets(phrase, column)) for column, weight in enumerate(_WEIGHTS))


def tokenizer(db: apsw.Connection) -> Callable[[bytes], list[str]]:
    """The function by which the word index cuts a text, in UTF-8, into words, as it stems and folds them."""
    name, *arguments = TOKENIZER
    cut: Any = db.fts5_tokenizer(name, arguments)
    how = {"flags": apsw.FTS5_TOKENIZE_DOCUMENT, "locale": None, "include_offsets": False, "include_colocated": False}
    return partial(cut, **how)


def indexed_texts(db: apsw.Connection, ids: NDArray[np.int64]) -> Iterator[tuple[int, str, str]]:
    """(document id, text, title) of each of these passages (ascending) as `add` and `retitle` index them."""
    sql = "SELECT content_id, ordinal, start, stop FROM passages WHERE id IN carray(?) ORDER BY id"
    rows: list[tuple[int, int, int, int]] = list(db.execute(sql, (bindable(ids),)))
    for document_id, own in groupby(rows, key=lambda row: row[0]):
        places = list(own)
        language = languages.of_document(db, document_id)
        found = texts.spans(db, document_id, [(start, stop) for _, _, start, stop in places])
        for (_, ordinal, _, _), text in zip(places, found, strict=True):
            yield document_id, _words(text, language), _title(db, document_id, language) if ordinal == 0 else ""


def are_old(db: apsw.Connection) -> bool:
    """Whether an older index has words to which `write_anew` did not come yet."""
    return db.execute("SELECT 1 FROM meta WHERE key = 'old_words'").get is not None


def write_anew(db: apsw.Connection) -> bool:
    """Write some more pages of an older index's words as they are written today; return False once all are.

    FTS5 merges all its segments, so many pages a call. It leaves a single one as it is.
    """
    before = db.total_changes()
    db.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (-_PAGES_AT_ONCE,))
    is_any = db.total_changes() - before > 1  # FTS5's documentation: with fewer changes nothing was left
    if not is_any:
        db.execute("DELETE FROM meta WHERE key = 'old_words'")
    return is_any


def title_words(outline: Outline) -> str:
    """A document's title and names as the index takes them, from what a search knows of it."""
    return indexed_names(outline.title, *outline.names, outline.language)


def forget_words() -> None:
    """Give back the memory of the words that were made for segments."""
    _words.cache_clear()


def totals(db: apsw.Connection) -> tuple[int, int]:
    """The numbers of passages and of their words, titles included, by which FTS5's bm25() computes.

    FTS5 keeps them in the first record of its data, as integers of variable length: rows, then tokens of each column.
    """
    record = db.execute("SELECT block FROM words_data WHERE id = 1").get or b""
    numbers, value = [], 0
    for byte in record:  # seven bits a byte, the highest first; the eighth bit says that more follow
        value = value << 7 | byte & 127
        if byte < 128:
            numbers.append(value)
            value = 0
    return (numbers[0], sum(numbers[1:])) if numbers else (0, 0)


def frequencies(db: apsw.Connection, match: str, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """(ids, counts, lengths) of those of these passages (ascending) that match, a phrase or word in quotes.

    A count is how often the passage holds the phrase; one in the title counts `TITLE_WEIGHT` times. A length is the
    number of the passage's words, title included. FTS5 calls a function in Python for these passages alone.
    """
    if not len(ids):
        empty = np.empty(0, np.int64)
        return empty, empty, empty
    db.register_fts5_function("frequency", _frequency)
    sql = (
        "SELECT rowid, frequency(words) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        " AND +rowid IN carray(?) ORDER BY rowid"
    )
    rows = db.execute(sql, (match, int(ids[0]), int(ids[-1]), bindable(ids))).fetchall()
    found = np.array(rows, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1] >> 32, found[:, 1] & 0xFFFFFFFF


def _frequency(fts: apsw.FTS5ExtensionApi, *_: object) -> int:
    """Count and length in one integer."""
    return _count(fts, 0) << 32 | fts.column_size()


def _among(allowed: NDArray[np.int64] | None) -> tuple[str, tuple[Any, ...]]:
    """The condition that a rowid is one of these, and what to bind; nothing for None.

    "+rowid": otherwise SQLite runs the match again for every allowed id (17 times slower at 100 ids of 100k).
    """
    return ("", ()) if allowed is None else (" AND +rowid IN carray(?)", (bindable(allowed),))


def _title(db: apsw.Connection, document_id: int, language: str | None) -> str:
    """A document's title and names as the index takes them."""
    ((title, names),) = db.execute("SELECT title, names FROM contents WHERE id = ?", (document_id,))
    paths, identifiers = json.loads(names)
    return storable(title) if language is None else indexed_names(title, paths, identifiers, language)


@lru_cache(maxsize=1 << 13)
def _words(text: str, language: str | None) -> str:
    """The text as the index takes it. None: the document waits to be indexed again.

    FTS5 takes it first, and soon after it the segment that these passages come into.
    """
    return storable(text) if language is None else indexed(storable(text), language)
