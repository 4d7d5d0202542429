"""Read a mailbox without its attachments, because one of them ended the child. Each is still named."""

from longsearch.indexer.extract.readers.mail import mbox
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    return mbox.read(path, with_attachments=False)
