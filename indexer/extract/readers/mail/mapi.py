"""A message of Outlook as its properties say it, turned into a message of the Internet, which the reader of mail reads.

The numbers of properties are those of MS-OXPROPS. `tnef` and `msg` find the properties in their files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime, formataddr
from typing import Any

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.decoding import decode_html, decode_part
from longsearch.indexer.extract.readers.encodings import codec_named

SUBJECT, SENT, RECEIVED, BODY, RTF, HTML, HEADERS = 0x0037, 0x0039, 0x0E06, 0x1000, 0x1009, 0x1013, 0x007D
SENDER_NAME, SENDER_ADDRESS, SENDER_SMTP, SHOWN_TO, SHOWN_CC = 0x0C1A, 0x0C1F, 0x5D01, 0x0E04, 0x0E03
DATA, FILE_NAME, LONG_NAME, MIME_TYPE, SHOWN_NAME = 0x3701, 0x3704, 0x3707, 0x370E, 0x3001
CODE_PAGE, INTERNET_PAGE = 0x3FFD, 0x3FDE
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
Properties = dict[int, Any]
"""Number of a property -> str, bytes, int or datetime."""


@dataclass(slots=True)
class Item:
    """A message or an attachment."""

    properties: Properties = field(default_factory=dict)
    attachments: list["Item"] = field(default_factory=list)
    message: "Item | None" = None
    """The message that is attached."""


def text_of(data: bytes, code_page: int) -> str:
    """Return the text of an 8-bit string."""
    return decode_part(data.rstrip(b"\0"), f"cp{code_page}" if codec_named(f"cp{code_page}") else "")


def moment(ticks: int) -> datetime:
    """Return the moment of a FILETIME: tenths of microseconds since 1601."""
    try:
        return _EPOCH + timedelta(microseconds=ticks // 10)
    except OverflowError:
        return _EPOCH


def as_message(item: Item) -> Message:
    """Return the message with its bodies and attachments."""
    message = Message()
    for name, value in _headers(item.properties):
        if value:
            message[name] = value
    parts: list[Message | str] = [_part(kind, text) for kind, text in _bodies(item.properties)]
    if len(parts) > 1:
        alternatives = Message()
        alternatives["Content-Type"] = "multipart/alternative"
        alternatives.set_payload(parts)
        parts = [alternatives]
    message["Content-Type"] = "multipart/mixed"
    message.set_payload([*parts, *map(_attached, item.attachments)])
    return message


def _headers(known: Mapping[int, Any]) -> list[tuple[str, str]]:
    address = _string(known, SENDER_SMTP) or _string(known, SENDER_ADDRESS)
    address = address if "@" in address else ""
    name = _one_line(_string(known, SENDER_NAME))
    sender = formataddr((name, _one_line(address))) if address else _quoted(name)
    sent = next((known[key] for key in (SENT, RECEIVED) if isinstance(known.get(key), datetime)), None)
    found = [("From", sender), ("Subject", _one_line(_string(known, SUBJECT)))]
    found += [("To", _people(_string(known, SHOWN_TO))), ("Cc", _people(_string(known, SHOWN_CC)))]
    return [*found, ("Date", format_datetime(sent) if sent and sent > _EPOCH else "")]


def _people(shown: str) -> str:
    """Return the names of people, which Outlook parts by semicolons, as a header."""
    return ", ".join(_quoted(name) for name in map(_one_line, shown.split(";")) if name)


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name and '"' not in name else name


def _bodies(known: Mapping[int, Any]) -> list[tuple[str, str]]:
    found = []
    if plain := _string(known, BODY).strip():
        found.append(("text/plain", plain))
    page = known.get(HTML)
    if page:
        label = f"cp{known.get(INTERNET_PAGE, 0)}"
        found.append(("text/html", page if isinstance(page, str) else decode_html(page, label)))
    if not found and isinstance(known.get(RTF), bytes):
        found.append(("text/plain", _text_of_rtf(known[RTF])))
    return found


def _text_of_rtf(packed: bytes) -> str:
    from compressed_rtf import decompress

    from longsearch.indexer.extract.readers.office import rtf
    from longsearch.indexer.extract.sources import Held

    try:
        return rtf.read(Held("body.rtf", decompress(packed))).text
    except (MemoryError, RecursionError):
        raise
    except (ExtractionError, Exception):  # it raises errors of several classes for damaged data
        return ""


def _part(kind: str, text: str) -> Message:
    part = Message()
    part["Content-Type"] = f"{kind}; charset=utf-8"
    part["Content-Transfer-Encoding"] = "8bit"
    part.set_payload(text.encode("utf-8", "replace").decode("ascii", "surrogateescape"))
    return part


def _attached(item: Item) -> Message:
    part = Message()
    if item.message is not None:
        part["Content-Type"] = "message/rfc822"
        part.set_payload([as_message(item.message)])
        return part
    name = next((found for key in (LONG_NAME, FILE_NAME, SHOWN_NAME) if (found := _string(item.properties, key))), "")
    part["Content-Type"] = _one_line(_string(item.properties, MIME_TYPE)) or "application/octet-stream"
    part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", _one_line(name)))
    data = item.properties.get(DATA)
    part["Content-Transfer-Encoding"] = "8bit"
    part.set_payload((data if isinstance(data, bytes) else b"").decode("ascii", "surrogateescape"))
    return part


def _string(known: Mapping[int, Any], key: int) -> str:
    value = known.get(key, "")
    return value.rstrip("\0") if isinstance(value, str) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
