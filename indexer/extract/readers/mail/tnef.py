"""Find the properties in a `winmail.dat`, as Outlook sends it to other programs (MS-OXTNEF). Reads up to any damage."""

import struct
from collections.abc import Iterator

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.mail import mapi
from longsearch.indexer.extract.readers.mail.mapi import Item

SIGNATURE = b"\x78\x9f\x3e\x22"
_SUBJECT, _BODY, _MAPI, _CODE_PAGE = 0x8004, 0x800C, 0x9003, 0x9007
_RENDERED, _TITLE, _DATA, _ATTACHED = 0x9002, 0x8010, 0x800F, 0x9005
_SIZES = {0x02: 4, 0x03: 4, 0x04: 4, 0x05: 8, 0x06: 8, 0x07: 8, 0x0A: 4, 0x0B: 4, 0x14: 8, 0x40: 8, 0x48: 16}
"""Type of a property -> bytes of its value; a value of another type says its own length."""
_STRING8, _STRING, _OBJECT, _BINARY, _TIME, _MANY = 0x1E, 0x1F, 0x0D, 0x102, 0x40, 0x1000
_MAX_DEPTH = 5


def parse(data: bytes, depth: int = 0) -> Item:
    """Return the message in `data`. Raises `ExtractionError` if it is no such file."""
    if not data.startswith(SIGNATURE):
        raise ExtractionError("not a winmail.dat: it does not begin like one", "give it the suffix of its real format")
    item, page = Item(), 1252
    for name, value in _attributes(data):
        if name == _CODE_PAGE and len(value) >= 4:
            page = int.from_bytes(value[:4], "little")
        elif name == _SUBJECT:
            item.properties.setdefault(mapi.SUBJECT, mapi.text_of(value, page))
        elif name == _BODY:
            item.properties.setdefault(mapi.BODY, mapi.text_of(value, page))
        elif name == _MAPI:
            _take(item, value, page, depth)
        elif name == _RENDERED:
            item.attachments.append(Item())
        elif name in (_TITLE, _DATA, _ATTACHED) and item.attachments:
            _take_attached(item.attachments[-1], name, value, page, depth)
    return item


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    place = 6
    while place + 9 <= len(data):
        name, n_bytes = struct.unpack_from("<H2xI", data, place + 1)
        yield name, data[place + 9 : place + 9 + n_bytes]
        place += 9 + n_bytes + 2  # a checksum follows


def _take_attached(item: Item, name: int, value: bytes, page: int, depth: int) -> None:
    if name == _TITLE:
        item.properties.setdefault(mapi.FILE_NAME, mapi.text_of(value, page))
    elif name == _DATA:
        item.properties.setdefault(mapi.DATA, value)
    else:
        _take(item, value, page, depth)


def _take(item: Item, data: bytes, page: int, depth: int) -> None:
    """Add the properties in `data` to those of `item`."""
    try:
        for key, kind, value in _properties(data):
            if kind == _OBJECT and key == mapi.DATA and value[16:20] == SIGNATURE:
                item.message = parse(value[16:], depth + 1) if depth < _MAX_DEPTH else None
            elif kind == _STRING8:
                item.properties[key] = mapi.text_of(value, page)
            elif kind == _STRING:
                item.properties[key] = value.decode("utf-16-le", "replace").rstrip("\0")
            elif kind == _TIME:
                item.properties[key] = mapi.moment(int.from_bytes(value, "little"))
            elif kind in (_BINARY, _OBJECT):
                item.properties[key] = value
            else:
                item.properties[key] = int.from_bytes(value[:4], "little")
    except (struct.error, IndexError):
        return  # what came before the damage stays


def _properties(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number, type, value) of each property that has one value and a number that is the same everywhere."""
    (n_properties,) = struct.unpack_from("<I", data)
    place = 4
    for _ in range(min(n_properties, len(data) // 4)):
        kind, key = struct.unpack_from("<HH", data, place)
        place += 4
        if key >= 0x8000:
            (is_named,) = struct.unpack_from("<I", data, place + 16)
            (n_bytes,) = struct.unpack_from("<I", data, place + 20)
            place += 24 + (_padded(n_bytes) if is_named else 0)
        kind, is_many = kind & ~_MANY, bool(kind & _MANY)
        size = _SIZES.get(kind)
        n_values = 1
        if is_many or size is None:
            (n_values,) = struct.unpack_from("<I", data, place)
            place += 4
        for _ in range(min(n_values, len(data))):
            n_bytes = size or 0
            if size is None:
                (n_bytes,) = struct.unpack_from("<I", data, place)
                place += 4
            if place + n_bytes > len(data):
                return
            if not is_many and key < 0x8000:
                yield key, kind, data[place : place + n_bytes]
            place += _padded(n_bytes)


def _padded(n_bytes: int) -> int:
    return (n_bytes + 3) // 4 * 4
