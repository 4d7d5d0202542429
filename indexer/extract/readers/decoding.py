"""Decode the bytes of a text file. Guesses no language: text that is not UTF-8, -16 or -32 is Windows-1252."""

import codecs
import re

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.limits import MAX_TEXT_FILE_BYTES

# UTF-32's mark begins with UTF-16's, so the longer one comes first.
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
"""A NUL among the first 8,000 bytes means binary data (git's rule). A later one is removed as a control character."""
_HTML_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE
)


def read_bytes(path: Source) -> bytes:
    """Return the file's bytes. Raises `ExtractionError` if the file is empty or too large."""
    size = path.stat().st_size
    if size == 0:
        raise ExtractionError("empty file")
    if size > MAX_TEXT_FILE_BYTES:
        raise ExtractionError(
            f"too large: {size / 1e6:,.0f} MB of text, the limit is {MAX_TEXT_FILE_BYTES / 1e6:,.0f} MB",
            "split the file, or name it in .longsearchignore",
        )
    return path.read_bytes()


def decode(data: bytes) -> str:
    """Return `data` as text. Raises `ExtractionError` if it is binary."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    n_controls = len(data) - len(data.translate(None, _CONTROLS))
    if b"\0" in data[:_HEAD_BYTES] or n_controls > _MAX_CONTROL_SHARE * len(data):
        raise ExtractionError("not text: binary data", "give it the right suffix, or name it in .longsearchignore")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _broken_utf8(data) or data.decode("cp1252", errors="replace")


def _broken_utf8(data: bytes) -> str:
    """Return `data` as UTF-8 with a few broken bytes replaced, or "" if it is more likely Windows-1252.

    Windows-1252 seldom looks like UTF-8: at most one in a hundred of its non-ASCII bytes begins a valid sequence.
    """
    text = data.decode("utf-8", errors="replace")
    n_broken = text.count("\ufffd")
    n_whole = sum(character > "\x7f" for character in text) - n_broken
    return text if n_whole > n_broken else ""


def decode_html(data: bytes) -> str:
    """Decode `data` by its byte order mark, else by the charset that its head names, else as `decode` does."""
    named = _HTML_CHARSET.search(data[:2048])
    if named is None or data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decode(data)
    try:
        encoding = codecs.lookup(named[1].decode("ascii")).name
        # The head was just read as ASCII, so a page that claims UTF-16 lies.
        return decode(data) if encoding.startswith(("utf-", "ascii")) else data.decode(encoding, errors="replace")
    except (LookupError, UnicodeDecodeError):
        return decode(data)
