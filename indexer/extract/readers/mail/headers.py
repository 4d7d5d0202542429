"""Decode the headers of a message. Damaged ones lose what is damaged, and raise nothing."""

from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime

from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.readers.decoding import decode_part
from longsearch.indexer.extract.wire.limits import MAX_RAW_CHARACTERS
from longsearch.indexer.extract.wire.values import RawValue

_SOURCE = "mail header"
_MAX_ADDRESSES = 50


def header(message: Message, name: str) -> str:
    """Return a header on one line, decoded and cut; "" if it is missing."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), None)
    return one_line(decoded(str(raw)[: 4 * MAX_RAW_CHARACTERS]), MAX_RAW_CHARACTERS) if raw is not None else ""


def decoded(raw: str) -> str:
    """Return the text of encoded words such as `=?utf-8?q?caf=C3=A9?=`, and of bytes that stand there as they are."""
    if not raw.isascii():  # the parser keeps a byte beyond ASCII as a lone surrogate
        raw = in_charset(raw.encode("utf-8", "surrogateescape"), "")
    try:
        parts = [(text, charset) for text, charset in decode_header(raw)]
    except Exception:  # a broken encoded word raises errors of several classes
        return raw
    return "".join(text if isinstance(text, str) else in_charset(text, charset or "") for text, charset in parts)


def in_charset(data: bytes, charset: str) -> str:
    """Return `data` as text: as UTF-8 if it is, in `charset`, or as what it seems to be."""
    return decode_part(data, charset)


def people(message: Message, name: str) -> list[tuple[str, str]]:
    """Return (name, address) of each person in a header."""
    raw = header(message, name)
    try:
        found = getaddresses([raw])
    except Exception:  # the parser of addresses is not written for hostile ones
        return []
    return [(person.strip(), address) for person, address in found[:_MAX_ADDRESSES] if person or address]


def day(message: Message) -> str:
    """Return the day on which a message was sent, as its sender saw it, in ISO form; "" if that is unclear."""
    try:
        return parsedate_to_datetime(header(message, "Date")).date().isoformat()
    except Exception:
        return ""


def described(message: Message) -> list[RawValue]:
    """Return what the headers say: title, author, date, and the keys `to` and `cc`."""
    found: list[RawValue] = [("title", header(message, "Subject"), _SOURCE)]
    found += [("author", name or address, _SOURCE) for name, address in people(message, "From")]
    found += [("date", day(message), _SOURCE), ("tag", header(message, "Keywords"), _SOURCE)]
    found += [(field, name or address, _SOURCE) for field in ("to", "cc") for name, address in people(message, field)]
    return found
