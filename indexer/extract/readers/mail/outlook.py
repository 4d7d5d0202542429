"""Read messages of Outlook: `.msg`, and `winmail.dat`, in which it hides a message's text and attachments."""

from collections.abc import Callable
from dataclasses import replace

from longsearch.indexer.extract.readers.attachments import of_this_file
from longsearch.indexer.extract.readers.decoding import read_bytes
from longsearch.indexer.extract.readers.mail import mapi, tnef
from longsearch.indexer.extract.readers.mail.headers import described, header
from longsearch.indexer.extract.readers.mail.message import MailText
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import limited


def read_tnef(path: Source) -> FileText:
    """Return the text of the `winmail.dat` at `path`. Raises `ExtractionError`."""
    return _read(path, tnef.parse)


def read_msg(path: Source) -> FileText:
    """Return the text of the `.msg` at `path`. Raises `ExtractionError`."""
    from longsearch.indexer.extract.readers.mail import msg

    return _read(path, msg.parse)


def _read(path: Source, parse: Callable[[bytes], mapi.Item]) -> FileText:
    mail = MailText(of_this_file())
    message = mapi.as_message(parse(read_bytes(path)))
    mail.add_message(message)
    text = mail.builder.file_text(header(message, "Subject"), limited(described(message)))
    return replace(text, warning=mail.warning)
