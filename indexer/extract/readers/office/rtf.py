"""Extract the text of Rich Text Format: headings by their styles, rows, notes, comments, boxes, heads and feet.

striprtf, which did this before, knows no styles, drops or mixes in what lies beside the text, and reads hidden text.
"""

import re

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.decoding import read_bytes
from longsearch.indexer.extract.readers.office.properties import title_in
from longsearch.indexer.extract.readers.office.rtf_characters import with_characters
from longsearch.indexer.extract.readers.office.rtf_content import Content
from longsearch.indexer.extract.readers.office.rtf_lists import lists_in
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawValue, limited

_START = re.compile(rb"\s*\{\s*\\rtf")
_FIELDS = (("title", "title"), ("author", "author"), ("keywords", "tag"), ("subject", "subject"))
_SOURCE = "RTF properties"


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    data = read_bytes(path)
    if _START.match(data) is None:
        raise ExtractionError("not RTF: it does not begin like it", "give it the suffix of its real format")
    builder = TextBuilder()
    source = with_characters(data)
    content = Content(builder, lists_in(source))
    content.read(source)
    found: list[RawValue] = [(field, content.info.get(name, "").strip(), _SOURCE) for name, field in _FIELDS]
    metadata = limited([*found, ("created", content.created, _SOURCE)])
    return builder.file_text(title_in(metadata), metadata)
