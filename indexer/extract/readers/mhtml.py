"""Read a web page that a browser saved with its pictures in one file (`.mhtml`, `.mht`)."""

import email
from typing import Any

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers import html
from longsearch.indexer.extract.readers.decoding import decode_html, read_bytes
from longsearch.indexer.extract.readers.mail.headers import header
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText


def read(path: Source) -> FileText:
    """Return the text of the page at `path`. Raises `ExtractionError`."""
    message: Any = email.message_from_bytes(read_bytes(path))
    pages = [part for part in message.walk() if part.get_content_type() in ("text/html", "application/xhtml+xml")]
    if not pages:
        raise ExtractionError("no page in it", "open it in a browser and save it again")
    data = pages[0].get_payload(decode=True)
    source = decode_html(data if isinstance(data, bytes) else b"", pages[0].get_content_charset() or "")
    return html.parse(source, "" if "<title" in source.lower() else header(message, "Subject"))
