"""Find the properties in an Outlook message (`.msg`, MS-OXMSG): a container of OLE with a stream for each property."""

import io
import struct
from typing import Any

import olefile

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.mail import mapi
from longsearch.indexer.extract.readers.mail.mapi import Item

_STREAM = "__substg1.0_"
_ATTACHMENT = "__attach_version1.0_"
_FIXED = "__properties_version1.0"
_STRING8, _STRING, _BINARY, _OBJECT = 0x1E, 0x1F, 0x102, 0x0D
_LONG, _TIME = 0x03, 0x40
_HEADER_BYTES = {"message": 32, "inner": 24, "attachment": 8}
"""Bytes before the first property of fixed size."""
_MAX_DEPTH = 5


def parse(data: bytes) -> Item:
    """Return the message in `data`. Raises `ExtractionError` if there is no message in it."""
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            entries = ole.listdir(streams=True, storages=True)
            if [_FIXED] not in entries:
                raise ExtractionError("not a message of Outlook: it has no properties", "open it in its program")
            return _Container(ole, entries).item((), "message")
    except (MemoryError, ExtractionError, RecursionError):
        raise
    except Exception as error:  # olefile raises errors of several classes for damaged files
        raise ExtractionError("damaged: its parts cannot be found", "open it in Outlook and save it again") from error


class _Container:
    def __init__(self, ole: Any, entries: list[list[str]]) -> None:
        self._ole = ole
        self._below: dict[tuple[str, ...], list[str]] = {}
        for entry in entries:
            self._below.setdefault(tuple(entry[:-1]), []).append(entry[-1])

    def item(self, path: tuple[str, ...], kind: str, depth: int = 0) -> Item:
        """Return the message or the attachment in the storage at `path`."""
        item = Item(self._fixed((*path, _FIXED), _HEADER_BYTES[kind]))
        page = next((item.properties[key] for key in (mapi.CODE_PAGE, mapi.INTERNET_PAGE) if key in item.properties), 0)
        for name in self._below.get(path, ()):
            inner = (*path, name)
            if name.startswith(_ATTACHMENT) and depth < _MAX_DEPTH:
                item.attachments.append(self.item(inner, "attachment", depth + 1))
            elif name.startswith(_STREAM):
                self._take(item, inner, page, depth)
        return item

    def _take(self, item: Item, path: tuple[str, ...], page: int, depth: int) -> None:
        try:
            key, kind = int(path[-1][len(_STREAM) :][:4], 16), int(path[-1][len(_STREAM) + 4 :][:4], 16)
        except ValueError:
            return
        if kind == _OBJECT:
            if key == mapi.DATA and depth < _MAX_DEPTH and (*path, _FIXED)[:-1] in self._below:
                item.message = self.item(path, "inner", depth + 1)
            return
        if kind not in (_STRING8, _STRING, _BINARY) or "-" in path[-1]:  # the latter: one of several values
            return
        data = self._bytes(path)
        if kind == _STRING8:
            item.properties[key] = mapi.text_of(data, page)
        else:
            item.properties[key] = data.decode("utf-16-le", "replace").rstrip("\0") if kind == _STRING else data

    def _fixed(self, path: tuple[str, ...], n_header_bytes: int) -> mapi.Properties:
        """Return the properties of fixed size that matter: numbers and times."""
        data = self._bytes(path) if path[-1] in self._below.get(path[:-1], ()) else b""
        found: mapi.Properties = {}
        for place in range(n_header_bytes, len(data) - 15, 16):
            kind, key, number = struct.unpack_from("<HH4xi", data, place)
            if kind == _LONG:
                found[key] = number
            elif kind == _TIME:
                found[key] = mapi.moment(int.from_bytes(data[place + 8 : place + 16], "little"))
        return found

    def _bytes(self, path: tuple[str, ...]) -> bytes:
        with self._ole.openstream(list(path)) as stream:
            return bytes(stream.read())
