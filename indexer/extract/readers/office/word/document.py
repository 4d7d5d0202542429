"""Extract the text of Word documents: what Word shows, part by part, in the order of the document.

Weighed before this reader was written: mammoth leaves out every element that it does not know and holds the whole
tree (12 MB of markup took 674 MiB); python-docx and docx2python build trees with lxml, and neither counts the numbers
of lists with overrides, styles and restarts; lxml's iterparse gives what expat of the standard library gives already.
"""

import posixpath
import re
from collections.abc import Iterable

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.formats import format_of
from longsearch.indexer.extract.readers import draft
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.attachments import of_this_file
from longsearch.indexer.extract.readers.office.ole_objects import embedded_file
from longsearch.indexer.extract.readers.office.pictures import text_of_drawing
from longsearch.indexer.extract.readers.office.properties import CORE, core_properties, title_in
from longsearch.indexer.extract.readers.office.relations import addresses_of, main_part, parse_member, relations_of
from longsearch.indexer.extract.readers.office.word.body import Body
from longsearch.indexer.extract.readers.office.word.definitions import Definitions
from longsearch.indexer.extract.readers.office.word.flows import Block, Flow, marked
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMark

_KIND = "a Word document"
_MAIN = "word/document.xml"
_SOURCE = "Word properties"
_DAMAGED_HINT = "open it in a word processor and save a copy"
_CHUNK_SUFFIXES = {".htm": ".html", ".xht": ".html", ".mht": ".mhtml", ".dat": ".html", "": ".html"}
_ONLY_A_NUMBER = re.compile(
    r"\W*(?:(?:page|seite|pagina|página|pag|pg|p|s|str|sida|side|sivu|strona|стр)\.?\s*)?\d+"
    r"(?:\W+(?:(?:of|von|de|di|sur|av|af|van|z|из)\s+)?\d+)?\W*",
    re.IGNORECASE,
)
"""A head or foot that says nothing but the page: "Page 1 of 3"."""


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    with Archive(path, _KIND) as archive:
        main = main_part(archive, _MAIN)
        if not archive.has(main):
            raise ExtractionError("a zip archive, but not a Word document", "give it the suffix of its real format")
        metadata = core_properties(archive.read(CORE) or b"", _SOURCE)
        document = _Document(archive, main)
        document.read()
    if not document.builder.length and document.problem:
        raise ExtractionError("damaged, or not a Word document: no text can be found in it", _DAMAGED_HINT)
    return document.builder.file_text(title_in(metadata), metadata, document.problem, tuple(document.marks))


class _Document:
    """Reads the parts of one document into a builder."""

    def __init__(self, archive: Archive, main: str) -> None:
        self.builder = TextBuilder()
        self.problem = ""
        self.marks: list[RawMark] = []
        self._archive = archive
        self._main = main
        self._relations = {main: relations_of(archive, main)}
        self._definitions = Definitions()
        self._embedded: list[tuple[str, bytes]] = []
        self._attachments = of_this_file()
        self._heads: set[str] = set()
        self._flow = Flow(self.builder)

    def read(self) -> None:
        """Read all parts, those first to which the text refers."""
        definitions = self._definitions
        for kind, handler in (("styles", definitions.styles), ("numbering", definitions.numbering)):
            for part in self._parts(kind):
                parse_member(self._archive, part, handler)
        for kind in ("comments", "footnotes", "endnotes"):
            for part in self._parts(kind):
                self._read_part(part, Flow())
        self.problem = self._read_part(self._main, self._flow)
        self._flow.add(definitions.not_named())
        self._attachments.add_embedded(self.builder, self._embedded)
        self.problem = self.problem or self._attachments.warning

    def _parts(self, kind: str) -> Iterable[str]:
        return [name for found, name in self._relations[self._main].values() if found == kind]

    def _read_part(self, part: str, flow: Flow) -> str:
        """Read a part into `flow`; return what is wrong with it, or ""."""
        relations = self._relations.setdefault(part, relations_of(self._archive, part))

        def linked(element: str, identity: str) -> Iterable[Block]:
            kind, name = relations.get(identity, ("", ""))
            return self._linked(element, kind, name) if name else ()

        addresses = addresses_of(self._archive, part) if draft.is_read else {}
        body = Body(self._definitions, flow, linked, addresses)
        problem = parse_member(self._archive, part, body)
        body.close()
        self.marks += body.marks.close()
        return problem

    def _linked(self, element: str, kind: str, name: str) -> Iterable[Block]:
        """Return the text of the part `name`, to which an element refers."""
        if kind in ("header", "footer"):
            return self._head(kind, name)
        if element == "altChunk":
            return self._chunk(name)
        if element == "OLEObject":
            self._embedded.append(embedded_file(self._archive, name))
            return (Block(f"Embedded document: {self._embedded[-1][0]}", is_apart=True),)
        return tuple(Block(text, is_apart=True) for text in text_of_drawing(self._archive, kind, name))

    def _head(self, kind: str, name: str) -> Iterable[Block]:
        """Return a head or foot of pages that differs from all before it."""
        flow = Flow()
        self._read_part(name, flow)
        blocks = marked(kind.capitalize(), flow.blocks)
        text = " ".join(block.text for block in flow.blocks)
        if not blocks or blocks[0].text in self._heads or _ONLY_A_NUMBER.fullmatch(text):
            return ()
        self._heads.add(blocks[0].text)
        return blocks

    def _chunk(self, name: str) -> Iterable[Block]:
        """Return the text of a document that stands at a place of this one."""
        stem, suffix = posixpath.splitext(posixpath.basename(name))
        file_name = stem + _CHUNK_SUFFIXES.get(suffix.lower(), suffix)
        found = self._attachments.document(file_name, format_of(file_name), self._archive.read(name) or b"")
        if found is None:
            return ()
        levels = {heading.title: heading.level for heading in found.headings}
        return tuple(Block(block, levels.get(block, 0)) for block in found.text.split("\n\n"))
