"""Finds the file in an OLE object of an office document: the `.bin` in which it keeps what was dropped into it."""

import io
import posixpath
import struct
from typing import Any

import olefile

from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.decoding import decode_part

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PACKED_FILE = "\x01Ole10Native"
"""The stream of a file of any kind: its name, where it lay, its bytes."""
_WHOLE_FILES = ("Package", "CONTENTS", "EmbeddedOdf")
"""Streams that are a file: of Office, of Acrobat, of LibreOffice."""
_SUFFIX_OF_STREAM = {"WordDocument": ".doc", "Workbook": ".xls", "Book": ".xls", "PowerPoint Document": ".ppt"}
"""A stream that only the files of one program of before 2007 have."""
_SUFFIX_OF_PART = ((b"word/", ".docx"), (b"xl/", ".xlsx"), (b"ppt/", ".pptx"), (b"opendocument.text", ".odt"))


def embedded_file(archive: Archive, part: str) -> tuple[str, bytes]:
    """Return the name and the bytes of the file in a part of an office document; those of the part if it holds none."""
    name, data = posixpath.basename(part), archive.read(part) or b""
    if not data.startswith(_OLE):
        return name, data
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            return _file_in(name, data, ole)
    except (MemoryError, RecursionError):
        raise
    except Exception:  # olefile raises errors of several classes for damaged files
        return name, data


def _file_in(name: str, data: bytes, ole: Any) -> tuple[str, bytes]:
    if ole.exists(_PACKED_FILE):
        return _packed(name, ole.openstream(_PACKED_FILE).read())
    stem = name.rpartition(".")[0] or name
    for stream in _WHOLE_FILES:
        if ole.exists(stream):
            inner = ole.openstream(stream).read()
            suffix = next((suffix for part, suffix in _SUFFIX_OF_PART if part in inner), "")
            return stem + (".pdf" if inner.startswith(b"%PDF-") else suffix), inner
    return stem + next((suffix for stream, suffix in _SUFFIX_OF_STREAM.items() if ole.exists(stream)), ""), data


def _packed(name: str, stream: bytes) -> tuple[str, bytes]:
    """Return the file in a stream of the old packager: lengths, a label, two paths, and then its bytes."""
    label, place = _until_zero(stream, 6)
    _, place = _until_zero(stream, place)
    (n_path,) = struct.unpack_from("<I", stream, place + 4)
    place += 8 + n_path
    (n_bytes,) = struct.unpack_from("<I", stream, place)
    return decode_part(label, "").rpartition("\\")[2] or name, stream[place + 4 : place + 4 + n_bytes]


def _until_zero(stream: bytes, place: int) -> tuple[bytes, int]:
    end = stream.index(b"\0", place)
    return stream[place:end], end + 1
