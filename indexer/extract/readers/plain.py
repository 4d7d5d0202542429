"""Read plain text, and light markup as plain text. Form feeds separate pages. Finds no headings."""

import re

from longsearch.indexer.extract.clean import clean_block
from longsearch.indexer.extract.pdf.pages import join_pages
from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata

_TITLE = re.compile(r"^#\+title:[ \t]*(.+)$|\\title\{([^{}]+)\}", re.IGNORECASE | re.MULTILINE)
"""A title in Org or TeX."""
_TITLE_WITHIN = 20_000


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    return parse(decode(read_bytes(path)))


def parse(raw: str) -> FileText:
    """Return the text of `raw`."""
    named = _TITLE.search(raw, 0, _TITLE_WITHIN)
    title = (named[1] or named[2]) if named else ""
    metadata: RawMetadata = (("title", title, "markup"),) if title else ()
    if "\f" not in raw:
        return FileText(clean_block(raw), (), title, (), metadata=metadata)
    pages = [clean_block(page) for page in raw.removesuffix("\f").split("\f")]
    text, page_starts = join_pages(pages)
    return FileText(text, page_starts, title, (), metadata=metadata)
