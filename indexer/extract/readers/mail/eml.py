"""Read a file that holds one message, as mail programs save it; also Apple Mail's `.emlx`."""

import re
from dataclasses import replace

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.attachments import of_this_file
from longsearch.indexer.extract.readers.decoding import read_bytes
from longsearch.indexer.extract.readers.mail.headers import described, header
from longsearch.indexer.extract.readers.mail.message import MailText
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import limited

_HEADER = re.compile(rb"(?:>?From [^\n]*\n)?[!-9;-~]{1,100}[ \t]*:")
_LENGTH = re.compile(rb"(\d{1,10})[ \t]*\r?\n")
"""The first line of Apple's files: the length of the message. A property list follows it."""


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    data = read_bytes(path).lstrip()
    if length := _LENGTH.match(data):
        data = data[length.end() : length.end() + int(length[1])]
    if _HEADER.match(data) is None:
        raise ExtractionError("not a message: it does not begin with a header", "give it the suffix of its real format")
    mail = MailText(of_this_file())
    message = mail.add(data)
    text = mail.builder.file_text(header(message, "Subject"), limited(described(message)))
    return replace(text, warning=mail.warning)
