"""Bytes of a text file -> str. Guesses no language: not UTF-8 or UTF-16 means Windows-1252."""

import codecs
import re
from pathlib import Path

from engine.errors import ExtractionError
from indexer.extract.limits import MAX_TEXT_FILE_BYTES

# UTF-32's mark begins with UTF-16's: longest first.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_MAX_CONTROL_SHARE = 0.1
_HEAD_BYTES = 8_000
"""A NUL among the first 8,000 bytes means binary: git's rule. A stray one further on is cleaned away."""
_HTML_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE
)


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises `ExtractionError` for an empty file and for one that is too large."""
    size = path.stat().st_size
    if size == 0:
        raise ExtractionError("empty file")
    if size > MAX_TEXT_FILE_BYTES:
        raise ExtractionError(
            f"a text of {size / 1e6:,.0f} MB: more than {MAX_TEXT_FILE_BYTES / 1e6:,.0f} MB is not read",
            "split it, or name it in .longsearchignore",
        )
    return path.read_bytes()


def decode(data: bytes) -> str:
    """`data` as text. Raises `ExtractionError` where it is binary."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    n_controls = len(data) - len(data.translate(None, _CONTROLS))
    if b"\0" in data[:_HEAD_BYTES] or n_controls > _MAX_CONTROL_SHARE * len(data):
        raise ExtractionError("not text: binary data", "its name says text; name it in .longsearchignore")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _broken_utf8(data) or data.decode("cp1252", errors="replace")


def _broken_utf8(data: bytes) -> str:
    """`data` as UTF-8 with a few broken places, or "" where it is rather not UTF-8.

    Windows-1252 that happens to hold a valid two-byte sequence is rare: one per hundred of its odd bytes at most.
    """
    text = data.decode("utf-8", errors="replace")
    n_broken = text.count("\ufffd")
    n_whole = sum(character > "\x7f" for character in text) - n_broken
    return text if n_whole > n_broken else ""


def decode_html(data: bytes) -> str:
    """`data` as text by its byte order mark, else by the charset its head names, else as `decode`."""
    named = _HTML_CHARSET.search(data[:2048])
    if named is None or data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decode(data)
    try:
        encoding = codecs.lookup(named[1].decode("ascii")).name
        # The head was just read as ASCII, so a page that calls itself UTF-16 is not.
        return decode(data) if encoding.startswith(("utf-", "ascii")) else data.decode(encoding, errors="replace")
    except (LookupError, UnicodeDecodeError):
        return decode(data)
