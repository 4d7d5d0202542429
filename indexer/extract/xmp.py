"""Reads the XMP of a PDF, and the language in its catalogue: pdfium gives no access to them.

In most files that have them they stand plainly in the bytes, the catalogue at times in a compressed stream of objects;
in the others pypdf, which takes long, looks for them.

No XML entity is expanded, and every failure means no metadata.
"""

import re
from itertools import pairwise

from selectolax.lexbor import LexborHTMLParser

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.pdf.layers import outside_and_objects, unpacked
from longsearch.indexer.extract.readers.xml_text import parse_xml
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.values import RawMetadata, limited

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
_ROOT, _METADATA = re.compile(rb"/Root\s+(\d+)\s+(\d+)\s+R\b"), re.compile(rb"/Metadata\s+(\d+)\s+(\d+)\s+R\b")
_LANGUAGE = re.compile(rb"/Lang\s*\(([A-Za-z-]{2,20})\)")
_FIRST = re.compile(rb"/First\s+(\d{1,9})\b")
_TRAILER_BYTES = 2_000
_MAX_ENTRIES_BYTES = 400
"""Bytes before a stream in which its entries stand."""
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
        packet, language = plain_xmp(data) or xmp_by_pypdf(path)
        said = (("language", language, "PDF catalogue"),) if language is not None else ()
        return limited((*parse_xmp(packet[:_MAX_XMP_BYTES]), *said))
    except MemoryError:
        raise
    except Exception:
        return ()


def plain_xmp(data: bytes) -> tuple[bytes, str | None] | None:
    """Return (packet, language) of a PDF whose catalogue and XMP are found without a parser; None if they are not."""
    trailer = data[data.rfind(b"trailer") :] if b"trailer" in data[-_TRAILER_BYTES:] else b""
    roots = set(_ROOT.findall(trailer))
    if len(roots) > 1 or b"/Encrypt" in trailer or b"/XRefStm" in trailer:
        return None
    catalogue = _last_object(data, *roots.pop()) if roots else _only_catalogue(data)
    streams, languages = _METADATA.findall(catalogue), _LANGUAGE.findall(catalogue)
    n_named = catalogue.count(b"/Metadata"), catalogue.count(b"/Lang")
    if not catalogue or n_named != (len(streams), len(languages)) or max(n_named) > 1:
        return None
    language = languages[0].decode("ascii") if languages else None
    if not streams:
        return b"", language
    entries, _, content = _last_object(data, *streams[0]).partition(b"stream")
    packet, end, _ = content.rpartition(b"endstream")
    return (packet, language) if end and b"/Filter" not in entries else None


def _only_catalogue(data: bytes) -> bytes:
    """Return the catalogue of a PDF whose end does not name it, from a stream of objects too; b"" if it may be another.

    If it stands both plainly and in a stream, nothing here says which of the two is newer.
    """
    outside, objects = outside_and_objects(data)
    roots = set(_ROOT.findall(outside))
    if len(roots) != 1 or b"/Encrypt" in outside:
        return b""
    number, generation = roots.pop()
    plain = _last_object(data, number, generation)
    found = [plain] if plain else []
    for (at, _), (text, is_whole) in zip(objects, unpacked(data, objects), strict=True):
        if not is_whole:
            return b""
        found += _packed(number, text, data[max(0, at - _MAX_ENTRIES_BYTES) : at])
    return found[0] if len(found) == 1 else b""


def _packed(number: bytes, text: bytes, entries: bytes) -> list[bytes]:
    """Return the objects of a number in a stream of objects, whose head has each one's number and place."""
    first = _FIRST.findall(entries)
    head = text[: int(first[-1])].split() if first else []
    if number not in head[::2] or not all(map(bytes.isdigit, head)):
        return []
    places = [int(place) + int(first[-1]) for place in head[1::2]]
    ends = dict(pairwise(sorted(set(places))))
    own = (place for known, place in zip(head[::2], places, strict=False) if known == number)
    return [text[place : ends.get(place, len(text))] for place in own]


def _last_object(data: bytes, number: bytes, generation: bytes) -> bytes:
    """Return the newest object of a number in a PDF, which stands last; b"" if it is not written plainly."""
    head, at = b"%s %s obj" % (number, generation), len(data)
    while (at := data.rfind(head, 0, at)) >= 0:
        if not data[max(0, at - 1) : at].isdigit():
            return data[at + len(head) : max(0, data.find(b"endobj", at))]
    return b""


def xmp_by_pypdf(path: Source) -> tuple[bytes, str | None]:
    """Return the same as `plain_xmp`, of any PDF: its slow twin."""
    import pypdf  # 0.2 s

    with path.open("rb") as file:
        reader = pypdf.PdfReader(file)
        if reader.is_encrypted and not reader.decrypt(""):
            return b"", None
        catalogue = reader.root_object
        stream = catalogue.get("/Metadata")
        packet = stream.get_object().get_data() if stream is not None else b""
        language = catalogue.get("/Lang")
        return packet, str(language.get_object()) if language is not None else None


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
