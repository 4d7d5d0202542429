"""Turns messages into text: subject, people and date, the body, forwarded messages, attachments.

Python's parser of messages is used in its old form (`compat32`), which keeps what it does not understand; the new one
raises errors on hostile headers.
"""

import email
from collections.abc import Iterator
from functools import partial
from typing import Any

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import clean_block, has_words, one_line
from longsearch.indexer.extract.readers import html
from longsearch.indexer.extract.readers.mail.attachments import Attachments
from longsearch.indexer.extract.readers.mail.headers import decoded, header, in_charset
from longsearch.indexer.extract.readers.mail.quoting import Said, without_long_quotations
from longsearch.indexer.extract.readers.text_builder import TextBuilder

_SHOWN = ("From", "To", "Cc", "Date")
_MAX_SHOWN_CHARACTERS = 300
_MAX_PARTS = 500
_MAX_DEPTH = 4
"""Messages that are attached to messages that are attached to …"""
_ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_NO_SUBJECT = "(no subject)"

Part = Any
"""A part of a message. The parser's types promise strings where hostile messages have other things, and vice versa."""


class MailText:
    """The text of one or several messages."""

    def __init__(self, attachments: Attachments) -> None:
        self.builder = TextBuilder()
        self._attachments = attachments
        self._said = Said()
        self._n_encrypted = 0

    def add(self, data: bytes) -> Part:
        """Add the message in `data` and return it. Python's parser raises errors of any class on damaged ones."""
        message = email.message_from_bytes(data)
        self._add(message, 0)
        return message

    @property
    def warning(self) -> str:
        """The parts that were not read, and the reason; "" if all were."""
        encrypted = f"{self._n_encrypted} encrypted" if self._n_encrypted else ""
        return "; ".join(filter(None, (self._attachments.warning, encrypted)))

    def _add(self, message: Part, depth: int) -> None:
        subject = header(message, "Subject") or _NO_SUBJECT
        self.builder.add_heading(1 + depth, f"Attached message: {subject}" if depth else subject)
        for name in _SHOWN:
            if value := header(message, name):
                self.builder.add(f"{name}: {one_line(value, _MAX_SHOWN_CHARACTERS)}", tight=True)
        others: list[Part] = []
        for part in _leaves(message):
            if part.get_content_type() in _ENCRYPTED and part.get_param("smime-type") != "signed-data":
                self._n_encrypted += 1
            elif _is_body(part):
                self._add_body(part)
            else:
                others.append(part)
        for part in others:
            kind = part.get_content_type()
            if kind == "message/rfc822":
                self._add_message(part, depth + 1)
            else:
                self._attachments.add(self.builder, _file_name(part), kind, partial(_data, part), 2 + depth)

    def _add_message(self, part: Part, depth: int) -> None:
        inner = part.get_payload()
        if depth <= _MAX_DEPTH and isinstance(inner, list):
            for message in inner[:_MAX_PARTS]:
                self._add(message, depth)

    def _add_body(self, part: Part) -> None:
        own, quoted = without_long_quotations(_text(part), self._said)
        self.builder.add(own)
        if quoted:
            self.builder.add(f"Quoted:\n{quoted}")


def _leaves(message: Part) -> Iterator[Part]:
    """Yield the parts that hold something, in order. Of alternatives, only the one to read."""
    waiting = [message]
    n_parts = 0
    while waiting and n_parts < _MAX_PARTS:
        part = waiting.pop()
        n_parts += 1
        inner = part.get_payload()
        if not isinstance(inner, list) or part.get_content_type() == "message/rfc822" or _is_encrypted(part):
            yield part
        elif part.get_content_type() == "multipart/alternative":
            waiting += _best(inner)
        else:
            waiting += reversed(inner)


def _is_encrypted(part: Part) -> bool:
    return part.get_content_type() in _ENCRYPTED


def _best(alternatives: list[Part]) -> list[Part]:
    """Return the plain text, unless it is empty; else the last alternative, which is the richest."""
    for part in alternatives:
        if part.get_content_type() == "text/plain" and has_words(_text(part)):
            return [part]
    return alternatives[-1:]


def _is_body(part: Part) -> bool:
    is_text = part.get_content_type() in ("text/plain", "text/html")
    return (
        is_text and not part.is_multipart() and part.get_content_disposition() != "attachment" and not _file_name(part)
    )


def _file_name(part: Part) -> str:
    try:
        return decoded(part.get_filename() or "")
    except Exception:  # its parser is not written for hostile parameters
        return ""


def _text(part: Part) -> str:
    """Return the text of a part, as it is shown."""
    text = in_charset(_data(part), _charset(part))
    if part.get_content_type() == "text/html":
        try:
            return html.parse(text).text
        except ExtractionError:
            return ""
    if part.get_param("format") == "flowed":
        text = text.replace(" \r\n", " ").replace(" \n", " ")
    return clean_block(text)


def _data(part: Part) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _charset(part: Part) -> str:
    try:
        return part.get_content_charset() or ""
    except Exception:
        return ""
