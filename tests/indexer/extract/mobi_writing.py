"""Write a small MOBI 6 book by hand: a Palm database of a header record, uncompressed text and an end record."""

import struct

_NONE = 0xFFFFFFFF
_HEADER_BYTES = 232
_TEXT_BYTES = 4096


def mobi(html: bytes, title: bytes, author: bytes = b"Ann Author") -> bytes:
    """Return a MOBI of `html`, which is in UTF-8."""
    texts = [html[start : start + _TEXT_BYTES] for start in range(0, len(html), _TEXT_BYTES)]
    values = b"".join(struct.pack(">II", kind, len(value) + 8) + value for kind, value in ((100, author), (503, title)))
    exth = b"EXTH" + struct.pack(">II", 12 + len(values), 2) + values
    exth += bytes(-len(exth) % 4)
    palmdoc = struct.pack(">HHIHHHH", 1, 0, len(html), len(texts), _TEXT_BYTES, 0, 0)
    first = palmdoc + _header(1 + len(texts), 16 + _HEADER_BYTES + len(exth), len(title)) + exth + title + bytes(8)
    return _database([first, *texts, b"\xe9\x8e\r\n"])


def _header(first_other_record: int, title_offset: int, n_title_bytes: int) -> bytes:
    header = bytearray(_HEADER_BYTES)
    header[:4] = b"MOBI"
    fields = {
        4: _HEADER_BYTES, 8: 2, 12: 65001, 16: 1, 20: 6, **dict.fromkeys(range(24, 64, 4), _NONE),
        64: first_other_record, 68: title_offset, 72: n_title_bytes, 76: 9, 88: 6, 92: first_other_record,
        112: 0x40, 152: _NONE, 176: _NONE, 228: _NONE,
    }  # fmt: skip
    for offset, value in fields.items():
        struct.pack_into(">I", header, offset, value)
    return bytes(header)


def _database(records: list[bytes]) -> bytes:
    head = b"Book".ljust(32, b"\0") + bytes(28) + b"BOOKMOBI" + struct.pack(">IIH", 0, 0, len(records))
    offset = len(head) + 8 * len(records) + 2
    table = b""
    for index, record in enumerate(records):
        table += struct.pack(">II", offset, index)
        offset += len(record)
    return head + table + bytes(2) + b"".join(records)
