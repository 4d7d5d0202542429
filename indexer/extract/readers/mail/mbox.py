"""Read mailboxes message by message, each as a page. Memory holds one message, and the text so far.

The standard library's `mailbox` opens files for writing, and takes any line that begins with "From " for the start of
a message.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import IO

from longsearch.engine.amounts import counted
from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.attachments import MAILBOX_ATTACHMENTS_S, of_this_file
from longsearch.indexer.extract.readers.mail.headers import people
from longsearch.indexer.extract.readers.mail.message import MailText
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.limits import MAX_HEADINGS, MAX_MAIL_CHARACTERS, MAX_MESSAGE_BYTES
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import limited

_START = re.compile(rb"From \S.{0,300}\d\d:\d\d.{0,100}\r?\n")
"""The line before a message: `From ann@example.org Mon May 17 12:00:00 2021`."""
_ESCAPED = re.compile(rb">+From ")
_MAX_LINE_BYTES = 1_000_000
_MAX_SENDERS = 10_000
_MAX_AUTHORS = 50
_EXPUNGED = 0x0008
"""Bit of Thunderbird's header `X-Mozilla-Status`: deleted, but still in the file."""


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    mail = MailText(of_this_file(MAILBOX_ATTACHMENTS_S))
    senders: Counter[str] = Counter()
    n_messages = n_damaged = 0
    warnings: list[str] = []
    with path.open("rb") as file:
        for data in messages_in(file):
            if _is_deleted(data):
                continue
            if mail.builder.length > MAX_MAIL_CHARACTERS or n_messages >= MAX_HEADINGS:
                warnings.append(f"only the first {counted(n_messages, 'message')} were read: the mailbox is too large")
                break
            n_messages += 1
            mail.builder.begin_page()
            try:
                message = mail.add(data)
            except (MemoryError, OSError):
                raise
            except Exception:
                n_damaged += 1
                continue
            for name, address in people(message, "From") if len(senders) < _MAX_SENDERS else ():
                senders[name or address] += 1
    if n_damaged:
        warnings.append(f"{counted(n_damaged, 'damaged message')}")
    metadata = limited(("author", sender, "mail headers") for sender, _ in senders.most_common(_MAX_AUTHORS))
    warning = "; ".join(filter(None, (*warnings, mail.warning)))
    return replace(mail.builder.file_text(), title="", metadata=metadata, warning=warning, untitled=True)


def messages_in(file: IO[bytes]) -> Iterator[bytes]:
    """Yield each message, cut to `MAX_MESSAGE_BYTES`. Raises `ExtractionError` if the file is no mailbox."""
    lines: list[bytes] = []
    n_bytes = 0
    is_first = was_empty = True
    while line := file.readline(_MAX_LINE_BYTES):
        if was_empty and _START.match(line):
            if lines:
                yield b"".join(lines)
            lines, n_bytes, is_first, was_empty = [], 0, False, False
            continue
        if is_first and line.strip():
            raise ExtractionError('not a mailbox: it does not begin with a line "From …"', "give it its real suffix")
        was_empty = not line.strip()
        n_bytes += len(line)
        if n_bytes <= MAX_MESSAGE_BYTES:
            lines.append(line[1:] if line.startswith(b">") and _ESCAPED.match(line) else line)
    if lines:
        yield b"".join(lines)


def _is_deleted(data: bytes) -> bool:
    status = re.search(rb"^X-Mozilla-Status: ([0-9a-fA-F]{4})", data[:4000], re.MULTILINE)
    return status is not None and bool(int(status[1], 16) & _EXPUNGED)
