"""Extract OpenDocument texts, presentations and spreadsheets, in archives or flat: each slide and each sheet a page.

Their text is in one XML file, so the standard library suffices (odfpy builds a tree of Python objects and has no
limits). Numbers of lists are counted, cells are read as they are shown, and what lies beside the text is marked.
"""

import re
from collections.abc import Mapping

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.decoding import read_bytes
from longsearch.indexer.extract.readers.mathml import MathLine
from longsearch.indexer.extract.readers.office.excel.reader import DAMAGED, DAMAGED_HINT
from longsearch.indexer.extract.readers.office.odf_content import Content, Row
from longsearch.indexer.extract.readers.office.odf_lists import Lists
from longsearch.indexer.extract.readers.office.properties import title_in
from longsearch.indexer.extract.readers.office.relations import parse_member
from longsearch.indexer.extract.readers.office.tables import Tables
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.readers.xml_events import parse
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata, limited

_CONTENT, _STYLES, _META, _MANIFEST = "content.xml", "styles.xml", "meta.xml", "META-INF/manifest.xml"
_FLAT = (".fodt", ".fods", ".fodp", ".fodg")
_SHEETS = (".ods", ".ots", ".fods")
_OBJECT = re.compile(r"Object [^/]{1,40}/content\.xml")
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
    with path.open("rb") as file:
        is_flat = not file.read(2).startswith(b"PK")
    if is_flat and path.name.lower().endswith(_FLAT):
        return _flat(path)
    with Archive(path, "an OpenDocument file") as archive:
        refuse_encrypted(archive)
        if not archive.has(_CONTENT):
            raise ExtractionError(
                "a zip archive, but not an OpenDocument file", "give it the suffix of its real format"
            )
        metadata = open_document_metadata(archive)
        lists = Lists()
        document = _Document(lists, path.name)
        # heads and feet, and the styles of headings, stand in a part of their own
        styles = Content(TextBuilder(), lists)
        parse_member(archive, _STYLES, styles)
        problem = parse_member(archive, _CONTENT, document.content)
        for name in archive.names:
            if _OBJECT.fullmatch(name):
                document.add_object(archive, name)
        return document.file_text(metadata, problem, styles.heads)


def _flat(path: Source) -> FileText:
    meta, document = _Meta(), _Document(Lists(), path.name)
    document.content.is_flat = True
    read_bytes(path)  # refuses an empty file and one that is too large
    with path.open("rb") as file:
        problem = parse(file, _Both(meta, document.content))
    return document.file_text(_described(meta), problem, document.content.heads)


class _Both:
    """Sends the events of a flat file to the readers of its properties and of its text."""

    def __init__(self, meta: "_Meta", content: Content) -> None:
        self._meta, self._content = meta, content
        self._in_meta = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._in_meta = self._in_meta or name == "meta"
        (self._meta if self._in_meta else self._content).start(name, attributes)

    def end(self, name: str) -> None:
        (self._meta if self._in_meta else self._content).end(name)
        self._in_meta = self._in_meta and name != "meta"

    def characters(self, text: str) -> None:
        (self._meta if self._in_meta else self._content).characters(text)


class _Document:
    """The text of one file: blocks, or the tables of a spreadsheet."""

    def __init__(self, lists: Lists, name: str) -> None:
        self._tables = Tables() if name.lower().endswith(_SHEETS) else None
        self._builder = self._tables.builder if self._tables else TextBuilder()
        self.content = Content(self._builder, lists, self._add_sheet if self._tables else None)

    def _add_sheet(self, name: str, rows: list[Row], wide: Mapping[int, list[tuple[int, int]]]) -> None:
        assert self._tables is not None  # noqa: S101 - it is called for spreadsheets alone
        self._tables.add_numbered(rows, name, is_page=True, wide=wide)

    def add_object(self, archive: Archive, name: str) -> None:
        """Add the text of a chart or a formula that the document holds."""
        words = _Words()
        parse_member(archive, name, words)
        if words.text:
            self._builder.add(f"{'Chart' if words.is_chart else 'Formula'}: {words.text}")

    def file_text(self, metadata: RawMetadata, problem: str, heads: list[str]) -> FileText:
        """Return the text. `heads`: the heads and feet of its pages."""
        self.content.close()
        for head in heads:
            self._builder.add(head)
        if self._tables is None:
            return self._builder.file_text(title_in(metadata), metadata, problem)
        if problem and not self._builder.length:
            raise ExtractionError(DAMAGED, DAMAGED_HINT)
        return self._tables.file_text(metadata, title_in(metadata), problem)


class _Words:
    """Collects the words of a chart or a formula."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self.is_chart = False
        self._math: MathLine | None = None
        self._n_skipped = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.is_chart = self.is_chart or name == "chart"
        if self._math is not None or name == "math":
            self._math = self._math or MathLine()
            self._math.start(name, attributes)
        elif self._n_skipped or name == "annotation":
            self._n_skipped += 1

    def end(self, name: str) -> None:
        if self._math is not None:
            if self._math.end():
                self._words.append(self._math.text)
                self._math = None
        elif self._n_skipped:
            self._n_skipped -= 1
        elif name in ("p", "table-row"):
            self._words.append("\n" if name == "table-row" else " ")

    def characters(self, text: str) -> None:
        if self._math is not None:
            self._math.characters(text)
        elif not self._n_skipped and not text.isspace():
            self._words.append(text)

    @property
    def text(self) -> str:
        """The words, a line for each row of a chart's data."""
        lines = (" ".join(line.split()) for line in "".join(self._words).split("\n"))
        return "\n".join(filter(None, lines))


def refuse_encrypted(archive: Archive) -> None:
    """Raise `ExtractionError` if the document needs a password."""
    if b"encryption-data" in (archive.read(_MANIFEST) or b""):
        raise ExtractionError("encrypted: needs a password", "save a copy without the password")


def open_document_metadata(archive: Archive) -> RawMetadata:
    """Return the document's properties."""
    meta = _Meta()
    parse(archive.read(_META) or b"", meta)
    return _described(meta)


def _described(meta: "_Meta") -> RawMetadata:
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
