"""Turns messages into text: subject, people and date, the body, forwarded messages, attachments.

Python's parser of messages is used in its old form (`compat32`), which keeps what it does not understand; the new one
raises errors on hostile headers.
"""

import email
import re
from collections.abc import Iterator
from email.message import Message
from functools import partial
from itertools import islice
from typing import Any

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import clean_block, has_words, one_line
from longsearch.indexer.extract.readers import html
from longsearch.indexer.extract.readers.attachments import Attachments
from longsearch.indexer.extract.readers.decoding import decode_html
from longsearch.indexer.extract.readers.mail.headers import decoded, header, in_charset
from longsearch.indexer.extract.readers.mail.quoting import Said, without_long_quotations
from longsearch.indexer.extract.readers.mail.signed import signed_content
from longsearch.indexer.extract.readers.text_builder import TextBuilder

_SHOWN = ("From", "To", "Cc", "Date")
_MAX_SHOWN_CHARACTERS = 300
_MAX_PARTS = 500
_MAX_DEPTH = 4
"""Messages that are attached to messages that are attached to …"""
_SMIME = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_ENCRYPTED = frozenset({"multipart/encrypted", *_SMIME})
_MESSAGES = frozenset({"message/rfc822", "message/global", "message/news", "message/partial"})
_REPORT_NAMES = """
message/delivery-status message/disposition-notification message/feedback-report message/tracking-status
message/global-delivery-status message/global-disposition-notification message/global-headers text/rfc822-headers
"""
_REPORTS = frozenset(_REPORT_NAMES.split())
_ENCODINGS = frozenset({"base64", "quoted-printable"})
"""Not allowed for messages and reports in messages, and common."""
_ENRICHED = frozenset({"text/enriched", "text/richtext"})
_MARK = re.compile(r"<(?!<)/?[\w-]{1,60}>")
_FOR_OTHER_PROGRAMS = frozenset({"text/x-amp-html", "text/watch-html"})
"""Alternatives that say what the plain text or the HTML says."""
_MAX_REPORT_CHARACTERS = 2_000
_MOST_OF_STUB = 1_000
"""Characters of a plain text that may only say that the program cannot show the message."""
_MORE_SHARE, _LEAST_MORE, _TIMES_LONGER = 0.5, 5, 1.5
_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"<?https?://\S+")
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
        return self.add_message(email.message_from_bytes(data))

    def add_message(self, message: Part) -> Part:
        """Add a message that is parsed, and return it."""
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
            elif part.get_content_type() in _REPORTS:
                self.builder.add(_report(part))
            else:
                others.append(part)
        self._add_others(others, depth)

    def _add_others(self, others: list[Part], depth: int) -> None:
        """Add the parts that are no body. What a message holds twice, as invitations often do, is read once."""
        seen: set[bytes] = set()
        for part in others:
            kind, data = part.get_content_type(), _data(part)
            if kind in _MESSAGES:
                self._add_message(part, depth + 1)
            elif not data or data not in seen:
                seen.add(data)
                self._attachments.add(self.builder, _file_name(part), kind, partial(_data, part), 2 + depth)

    def _add_message(self, part: Part, depth: int) -> None:
        inner = part.get_payload()
        if depth > _MAX_DEPTH or not isinstance(inner, list):
            return
        for message in inner[:_MAX_PARTS]:
            if str(part.get("Content-Transfer-Encoding", "")).strip().lower() in _ENCODINGS:
                # not allowed, and common: the parser takes the encoded message for a message without headers
                message["Content-Transfer-Encoding"] = str(part["Content-Transfer-Encoding"])
                message = email.message_from_bytes(_data(message))
            self._add(message, depth)

    def _add_body(self, part: Part) -> None:
        own, quoted = without_long_quotations(_text(part), self._said)
        self.builder.add(own)
        if quoted:
            self.builder.add(f"Quoted:\n{quoted}")


def _leaves(message: Part) -> Iterator[Part]:
    """Yield the parts that hold something, in order. Of alternatives that are texts, only those to read."""
    waiting = [message]
    left_out: set[int] = set()
    n_parts = 0
    while waiting and n_parts < _MAX_PARTS:
        part = waiting.pop()
        n_parts += 1
        inner = part.get_payload()
        if id(part) in left_out:
            continue
        if _is_signed_whole(part) and (signed := signed_content(_data(part))):
            waiting.append(email.message_from_bytes(signed))
            continue
        if not isinstance(inner, list) or part.get_content_maintype() == "message" or _is_encrypted(part):
            yield part
            continue
        if part.get_content_type() == "multipart/alternative":
            left_out |= _left_out(part)
        waiting += reversed(inner)


def _is_signed_whole(part: Part) -> bool:
    """Return whether a part may be a message that is signed as a whole, and not a signed file, such as a.pdf.p7m."""
    return part.get_content_type() in _SMIME and _file_name(part).lower() in ("", "smime.p7m")


def _is_encrypted(part: Part) -> bool:
    return part.get_content_type() in _ENCRYPTED


def _left_out(alternatives: Part) -> set[int]:
    """Return the identities of the texts among alternatives that say what another one says.

    The plain text is read, and the HTML instead if it is empty. Both are read if the HTML says much more: then the
    plain text only says that the program cannot show the message. What else lies there, such as files, stays.
    """
    texts = [part for part in islice(alternatives.walk(), _MAX_PARTS) if _is_body(part)]
    texts += [part for part in alternatives.get_payload() if part.get_content_type() in _FOR_OTHER_PROGRAMS]
    plain = [part for part in texts if part.get_content_type() == "text/plain"]
    rich = [part for part in texts if part.get_content_type() == "text/html"]
    rich = rich or [part for part in texts if part.get_content_type() in _ENRICHED]
    said = "\n".join(map(_text, plain))
    if not has_words(said) and rich:
        read = rich
    elif rich and _says_more(rich, said):
        read = plain + rich
    else:
        read = plain or texts[-1:]
    return {id(part) for part in texts} - {id(part) for part in read}


def _says_more(rich: list[Part], plain: str) -> bool:
    """Return whether the HTML is much longer than the plain text, which is short and lacks most of its words."""
    plain = _ADDRESS.sub("", plain)
    if len(plain) > _MOST_OF_STUB:
        return False
    text = "\n".join(map(_text, rich))
    words = set(_WORD.findall(text.casefold()))
    n_more = len(words - set(_WORD.findall(plain.casefold())))
    return n_more > max(_LEAST_MORE, _MORE_SHARE * len(words)) and len(text) > _TIMES_LONGER * len(plain)


def _report(part: Part) -> str:
    """Return the lines of a report about a message: whether it arrived, or was read, and why not."""
    inner = part.get_payload()
    blocks = inner if isinstance(inner, list) else [part]
    encoding = str(part.get("Content-Transfer-Encoding", ""))
    if blocks is inner and encoding.strip().lower() in _ENCODINGS:  # the parser has not decoded them
        whole = Message()
        whole["Content-Transfer-Encoding"] = encoding
        whole.set_payload("\n".join(block.as_string() for block in blocks[:_MAX_PARTS]))
        return clean_block(in_charset(_data(whole), ""))
    lines = [
        f"{name}: {one_line(decoded(str(value)), _MAX_REPORT_CHARACTERS)}"
        for block in blocks[:_MAX_PARTS]
        for name, value in (block.raw_items() if block is not part else ())
    ]
    return "\n".join((*lines, clean_block(in_charset(_data(blocks[-1]), ""))))


def _is_body(part: Part) -> bool:
    # a message of several parts that are not parted is one text
    is_text = (
        part.get_content_type() in ("text/plain", "text/html", *_ENRICHED) or part.get_content_maintype() == "multipart"
    )
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
    if part.get_content_type() == "text/html":
        try:
            return html.parse(decode_html(_data(part), _charset(part))).text
        except ExtractionError:
            return ""
    text = in_charset(_data(part), _charset(part))
    if part.get_content_type() in _ENRICHED:
        text = _MARK.sub("", text).replace("<<", "<")
    if part.get_param("format") == "flowed":
        space = "" if str(part.get_param("delsp")).lower() == "yes" else " "
        text = text.replace(" \r\n", space).replace(" \n", space)
    return clean_block(text)


def _data(part: Part) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _charset(part: Part) -> str:
    try:
        return part.get_content_charset() or ""
    except Exception:
        return ""
