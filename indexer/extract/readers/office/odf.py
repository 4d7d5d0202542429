"""Extract OpenDocument texts and presentations: headings, lists, tables, notes; each slide a page.

Both are zip archives whose text is in one XML file, so the standard library suffices (odfpy builds a tree of Python
objects and has no limits). Spreadsheets are read by `sheets`.
"""

from collections.abc import Mapping
from dataclasses import replace

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.office.odf_content import Content
from longsearch.indexer.extract.readers.office.properties import title_in
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.readers.xml_events import parse
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata, limited

_CONTENT, _META, _MANIFEST = "content.xml", "meta.xml", "META-INF/manifest.xml"
_FIELDS = {
    "title": "title",
    "initial-creator": "author",
    "keyword": "tag",
    "subject": "subject",
    "language": "language",
    "creation-date": "created",
}
_SOURCE = "OpenDocument properties"


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    with Archive(path, "an OpenDocument file") as archive:
        refuse_encrypted(archive)
        data = archive.read(_CONTENT)
        if data is None:
            raise ExtractionError(
                "a zip archive, but not an OpenDocument file", "give it the suffix of its real format"
            )
        metadata = open_document_metadata(archive)
    builder = TextBuilder()
    content = Content(builder)
    problem = parse(data, content)
    content.close()
    return replace(builder.file_text(title_in(metadata), metadata), warning=problem)


def refuse_encrypted(archive: Archive) -> None:
    """Raise `ExtractionError` if the document needs a password."""
    if b"encryption-data" in (archive.read(_MANIFEST) or b""):
        raise ExtractionError("encrypted: needs a password", "save a copy without the password")


def open_document_metadata(archive: Archive) -> RawMetadata:
    """Return the document's properties."""
    meta = _Meta()
    parse(archive.read(_META) or b"", meta)
    found = [(_FIELDS[name], text) for name, text in meta.values if name in _FIELDS]
    if not any(field == "author" for field, _ in found):
        found += [("author", text) for name, text in meta.values if name == "creator"]
    return limited((field, text, _SOURCE) for field, text in found)


class _Meta:
    """Collects (element, text)."""

    def __init__(self) -> None:
        self.values: list[tuple[str, str]] = []
        self._words: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._words = []

    def end(self, name: str) -> None:
        self.values.append((name, "".join(self._words).strip()))
        self._words = []

    def characters(self, text: str) -> None:
        self._words.append(text)
