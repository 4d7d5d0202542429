"""The text of documents, compressed in parts. Knows no passage."""

import codecs
import json
import zlib
from collections.abc import Mapping, Sequence

import apsw

Span = tuple[int, int]
"""(start, stop) in characters."""
PART_CHARS = 65_536
_ZLIB_LEVEL = 6


def insert(db: apsw.Connection, document_id: int, text: str) -> None:
    """Add the text of a document."""
    parts = (text[start : start + PART_CHARS] for start in range(0, len(text), PART_CHARS))
    db.executemany(
        "INSERT INTO text_parts VALUES (?, ?, ?)",
        ((document_id, ordinal, _pack(part)) for ordinal, part in enumerate(parts)),
    )


def remove(db: apsw.Connection, document_id: int) -> None:
    """Delete the text of a document."""
    db.execute("DELETE FROM text_parts WHERE content_id = ?", (document_id,))


def whole(db: apsw.Connection, document_id: int) -> str:
    """The whole text of a document."""
    parts = db.execute("SELECT body FROM text_parts WHERE content_id = ? ORDER BY ordinal", (document_id,))
    return "".join(_unpack(row[0]) for row in parts)


def n_characters(db: apsw.Connection, document_id: int) -> int:
    """The length of a document's text; 0 if the document is unknown. Unpacks its last part alone."""
    last = db.execute("SELECT max(ordinal) FROM text_parts WHERE content_id = ?", (document_id,)).get
    return 0 if last is None else last * PART_CHARS + len(_part(db, document_id, last))


def spans(db: apsw.Connection, document_id: int, borders: Sequence[Span]) -> list[str]:
    """The text of each (start, stop) of a document."""
    return spans_of_each(db, {document_id: borders})[document_id]


def spans_of_each(db: apsw.Connection, wanted: Mapping[int, Sequence[Span]]) -> dict[int, list[str]]:
    """The texts of spans of each document. Unpacks the parts that hold them, each once and as far as it is needed."""
    ends: dict[tuple[int, int], int] = {}  # of each part of a document, how much of it is needed
    parts_of = {
        span: range(span[0] // PART_CHARS, max(span[0], span[1] - 1) // PART_CHARS + 1)
        for borders in wanted.values()
        for span in borders
    }
    for document_id, borders in wanted.items():
        for span in borders:
            for ordinal in parts_of[span]:
                needed = min(span[1] - ordinal * PART_CHARS, PART_CHARS)
                ends[document_id, ordinal] = max(ends.get((document_id, ordinal), 0), needed)
    sql = (
        "SELECT content_id, ordinal, body FROM json_each(?) AS part JOIN text_parts"
        " ON content_id = part.value ->> 0 AND ordinal = part.value ->> 1"
    )
    rows = db.execute(sql, (json.dumps(list(ends)),))
    unpacked = {(id_, ordinal): _beginning(body, ends[id_, ordinal]) for id_, ordinal, body in rows}
    found: dict[int, list[str]] = {}
    for document_id, borders in wanted.items():
        own = found[document_id] = []
        for start, stop in borders:
            ordinals = parts_of[start, stop]
            joined = "".join(unpacked.get((document_id, ordinal), "") for ordinal in ordinals)
            own.append(joined[start - ordinals.start * PART_CHARS : stop - ordinals.start * PART_CHARS])
    return found


def _beginning(packed: bytes, n: int) -> str:
    """At least the first `n` characters of a part, or all of it: to unpack whole parts took 2 ms of a search."""
    unpacker, decoder, text = zlib.decompressobj(), codecs.getincrementaldecoder("utf-8")("surrogatepass"), ""
    try:
        while packed and len(text) < n:
            text += decoder.decode(unpacker.decompress(packed, n - len(text)))  # a character has a byte at least
            packed = unpacker.unconsumed_tail
        return text if len(text) >= n else text + decoder.decode(unpacker.flush())
    except (zlib.error, UnicodeDecodeError) as error:
        raise apsw.CorruptError("a stored text cannot be unpacked") from error


def _part(db: apsw.Connection, document_id: int, ordinal: int) -> str:
    sql = "SELECT body FROM text_parts WHERE content_id = ? AND ordinal = ?"
    body = db.execute(sql, (document_id, ordinal)).get
    return "" if body is None else _unpack(body)


def _pack(part: str) -> bytes:
    return zlib.compress(part.encode("utf-8", "surrogatepass"), _ZLIB_LEVEL)


def _unpack(body: bytes) -> str:
    try:
        return zlib.decompress(body).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise apsw.CorruptError("a stored text cannot be unpacked") from error
