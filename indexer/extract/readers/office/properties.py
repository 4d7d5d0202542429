"""Read the properties of an Office Open XML document: title, author, keywords. Knows nothing of its text."""

from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.readers.xml_text import parse_xml
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.values import RawMetadata, limited

CORE = "docProps/core.xml"
"""The member of the archive that holds them."""
_FIELDS = (
    ("dc:title", "title"),
    ("dc:creator", "author"),
    ("cp:keywords", "tag"),
    ("cp:category", "tag"),
    ("dc:subject", "subject"),
    ("dc:language", "language"),
    ("dcterms:created", "created"),
)


def core_properties(core: bytes, source: str) -> RawMetadata:
    """Return the document's properties. The time at which the file was created is no date of the text: `created`."""
    tree = parse_xml(core)
    if tree is None:
        return ()
    nodes = ((field, tree.css_first(name.replace(":", "\\:"))) for name, field in _FIELDS)
    return limited((field, (node.text() or "").strip(), source) for field, node in nodes if node is not None)


def title_in(metadata: RawMetadata) -> str:
    """Return the first title, in one line without control characters, or ""."""
    return next((one_line(text, MAX_TITLE_CHARACTERS) for field, text, _ in metadata if field == "title"), "")
