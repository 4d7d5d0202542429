"""Read a file with the command that a person's settings name for its ending."""

from longsearch.indexer.extract.readers import plain
from longsearch.indexer.extract.readers.decoding import decode
from longsearch.indexer.extract.tools import text_from
from longsearch.indexer.extract.wire.protocol import FileText


def read(path: str, command: tuple[str, ...]) -> FileText:
    """Return what `command` prints; form feeds separate pages. Raises `ExtractionError`."""
    return plain.parse(decode(text_from(command, path)))
