"""Reads the XMP of a PDF, and the language in its catalogue, with pypdf: pdfium gives no access to them.

No XML entity is expanded, and every failure means no metadata.
"""

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.xml_text import parse_xml
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.values import RawMetadata, RawValue, limited

_XMP = "XMP"
_XMP_FIELDS = (
    ("dc:title", "title"),
    ("dc:creator", "author"),
    ("dc:subject", "tag"),
    ("dc:language", "language"),
    ("dc:publisher", "publisher"),
    ("prism:publicationdate", "date"),
    ("prism:coverdate", "date"),
    ("prism:publicationname", "journal"),
    ("prism:doi", "doi"),
    ("pdfx:doi", "doi"),
    ("dc:identifier", "doi"),
    ("dc:date", "date"),
    ("xmp:createdate", "created"),
)
_MARKS = (b"/XML", b"/Lang")
_MAX_FILE_BYTES = 200_000_000
"""Size of a PDF up to which its XMP is looked for: pypdf keeps the whole file in memory."""
_MAX_XMP_BYTES = 1_000_000
"""Size of an XMP packet; those with a history of edits or a thumbnail have some hundred kilobytes."""


def read_xmp(path: Source) -> RawMetadata:
    """Return what the PDF's XMP and its catalogue say; () if there is none or it cannot be read."""
    if path.stat().st_size > _MAX_FILE_BYTES:
        return ()
    data = path.read_bytes()
    if not any(mark in data for mark in _MARKS):
        return ()  # half of all papers
    try:
        return limited(_values(path))
    except MemoryError:
        raise
    except Exception:
        return ()


def _values(path: Source) -> Iterator[RawValue]:
    import pypdf  # 0.2 s, and half of all papers need it for nothing

    with path.open("rb") as file:
        reader = pypdf.PdfReader(file)
        if reader.is_encrypted and not reader.decrypt(""):
            return
        catalogue = reader.root_object
        stream = catalogue.get("/Metadata")
        packet = stream.get_object().get_data()[:_MAX_XMP_BYTES] if stream is not None else b""
        language = catalogue.get("/Lang")
    yield from parse_xmp(packet)
    if language is not None:
        yield "language", str(language.get_object()), "PDF catalogue"


def parse_xmp(packet: bytes) -> RawMetadata:
    """Return the values of an XMP packet, in the order of trust."""
    try:
        tree = parse_xml(packet) if packet else None
    except ExtractionError:  # binary data
        return ()
    if tree is None:
        return ()
    return limited((field, text, _XMP) for name, field in _XMP_FIELDS for text in _texts(tree, name))


def _texts(tree: LexborHTMLParser, name: str) -> list[str]:
    """The values of a property: the items of its list, its own text, or an attribute of the description."""
    escaped = name.replace(":", "\\:")
    for node in tree.css(escaped):
        items = [item.text() or "" for item in node.css("rdf\\:li")]
        found = [text.strip() for text in items or [node.text() or ""] if text.strip()]
        if found:
            return found[:1] if name == "dc:title" else found
    attributes = (node.attributes.get(name) for node in tree.css("rdf\\:description"))
    return [text for text in attributes if text]
