"""The text of documents, compressed in parts. Knows no passage."""

import codecs
import json
import zlib
from collections.abc import Sequence

import apsw

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


def spans(db: apsw.Connection, document_id: int, borders: Sequence[tuple[int, int]]) -> list[str]:
    """The text of each (start, stop). Unpacks the parts that hold these spans, each once and as far as it is needed."""
    ends: dict[int, int] = {}  # of each part, how much of it is needed
    for start, stop in borders:
        for ordinal in _ordinals(start, stop):
            ends[ordinal] = max(ends.get(ordinal, 0), min(stop - ordinal * PART_CHARS, PART_CHARS))
    unpacked = {ordinal: _beginning(db, document_id, ordinal, end) for ordinal, end in ends.items()}
    texts = []
    for start, stop in borders:
        ordinals = _ordinals(start, stop)
        offset = ordinals.start * PART_CHARS
        joined = "".join(unpacked[ordinal] for ordinal in ordinals)
        texts.append(joined[start - offset : stop - offset])
    return texts


def ocr_spans(db: apsw.Connection, document_ids: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """(start, stop) of each page whose text is from OCR; documents without such pages are missing."""
    sql = (
        "SELECT id, ocr_pages, page_starts, n_chars FROM contents"
        " WHERE id IN (SELECT value FROM json_each(?)) AND ocr_pages <> '[]'"
    )
    found = {}
    for id_, packed, starts, n_chars in db.execute(sql, (json.dumps(list(document_ids)),)):
        borders = [*json.loads(starts), n_chars]
        found[id_] = [(borders[page - 1], borders[page]) for page in json.loads(packed)]
    return found


def _ordinals(start: int, stop: int) -> range:
    """The parts that hold a span."""
    return range(start // PART_CHARS, max(start, stop - 1) // PART_CHARS + 1)


def _beginning(db: apsw.Connection, document_id: int, ordinal: int, n: int) -> str:
    """At least the first `n` characters of a part, or all of it: to unpack whole parts took 2 ms of a search."""
    sql = "SELECT body FROM text_parts WHERE content_id = ? AND ordinal = ?"
    packed = db.execute(sql, (document_id, ordinal)).get or b""
    unpacker, decoder, text = zlib.decompressobj(), codecs.getincrementaldecoder("utf-8")("surrogatepass"), ""
    while packed and len(text) < n:
        text += decoder.decode(unpacker.decompress(packed, n - len(text)))  # a character has a byte at least
        packed = unpacker.unconsumed_tail
    return text if len(text) >= n else text + decoder.decode(unpacker.flush())


def _part(db: apsw.Connection, document_id: int, ordinal: int) -> str:
    sql = "SELECT body FROM text_parts WHERE content_id = ? AND ordinal = ?"
    body = db.execute(sql, (document_id, ordinal)).get
    return "" if body is None else _unpack(body)


def _pack(part: str) -> bytes:
    return zlib.compress(part.encode("utf-8", "surrogatepass"), _ZLIB_LEVEL)


def _unpack(body: bytes) -> str:
    return zlib.decompress(body).decode("utf-8", "surrogatepass")
