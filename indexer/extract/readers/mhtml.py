"""Read a web page that a browser saved with its pictures and frames in one file (`.mhtml`, `.mht`)."""

import email
import re
from html import escape, unescape
from typing import Any
from urllib.parse import urljoin

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers import html
from longsearch.indexer.extract.readers.decoding import decode_html, read_bytes
from longsearch.indexer.extract.readers.mail.headers import header
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText

_FRAME = re.compile(r"""(<iframe\b[^>]*?)\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)


def read(path: Source) -> FileText:
    """Return the text of the page at `path`, each frame in its place. Raises `ExtractionError`."""
    message: Any = email.message_from_bytes(read_bytes(path))
    pages = [part for part in message.walk() if part.get_content_type() in ("text/html", "application/xhtml+xml")]
    if not pages:
        raise ExtractionError("no page in it", "open it in a browser and save it again")
    frames = {name: part for part in pages[1:] for name in _names(part)}
    source = _with_frames(_source(pages[0]), str(pages[0]["Content-Location"] or ""), frames, html.MAX_FRAMES)
    return html.parse(source, "" if "<title" in source.lower() else header(message, "Subject"))


def _source(page: Any) -> str:
    data = page.get_payload(decode=True)
    return decode_html(data if isinstance(data, bytes) else b"", page.get_content_charset() or "")


def _names(part: Any) -> list[str]:
    """Return the addresses by which a frame may name a part."""
    names = [str(part["Content-Location"] or "").strip(), f"cid:{str(part['Content-ID'] or '').strip(' <>')}"]
    return [name for name in names if name not in ("", "cid:")]


def _with_frames(source: str, location: str, frames: dict[str, Any], depth: int) -> str:
    """Return a page with the pages of its frames in it, as `srcdoc`. Each is shown once: they may name each other."""

    def shown(frame: re.Match[str]) -> str:
        name = urljoin(location, unescape(frame[2] or frame[3] or frame[4] or ""))
        if not depth or (part := frames.pop(name, None)) is None:
            return frame[0]
        return f'{frame[1]} srcdoc="{escape(_with_frames(_source(part), name, frames, depth - 1))}"'

    return _FRAME.sub(shown, source)
