"""Extract the text of Excel workbooks: each sheet a page, its rows as Excel shows them, what lies beside the cells.

calamine is faster, but knows no formats of cells (a per cent, a postcode, a barcode), no comments and no boxes, and
makes a grid of all cells to the last one. openpyxl knows no formats either, and needs five times the memory.
"""

import posixpath
from collections.abc import Iterator

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.attachments import of_this_file
from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.office.excel.beside import Captions, Comments, Shapes
from longsearch.indexer.extract.readers.office.excel.sheet import Row, Sheet, merged_cells, place_of
from longsearch.indexer.extract.readers.office.excel.workbook import Persons, SheetName, Strings, Styles, Workbook
from longsearch.indexer.extract.readers.office.ole_objects import embedded_file
from longsearch.indexer.extract.readers.office.pictures import text_of_drawing
from longsearch.indexer.extract.readers.office.properties import CORE, core_properties, title_in
from longsearch.indexer.extract.readers.office.relations import main_part, parse_member, relations_of
from longsearch.indexer.extract.readers.office.tables import Tables
from longsearch.indexer.extract.readers.xml_events import Handler, pieces_of
from longsearch.indexer.extract.wire.protocol import FileText

_MAIN = "xl/workbook.xml"
_SHEETS = frozenset({"worksheet", "chartsheet", "dialogsheet"})
_PIECE_BYTES = 1 << 18
DAMAGED = "damaged, or not a spreadsheet: no table can be found in it"
DAMAGED_HINT = "open it in its program and save a copy"


def read_workbook(archive: Archive) -> FileText:
    """Return the text of a workbook. Raises `ExtractionError`."""
    book = _Book(archive)
    if not book.names:
        raise ExtractionError(DAMAGED, DAMAGED_HINT)
    for sheet in book.names:
        book.add(sheet)
    attachments = of_this_file()
    attachments.add_embedded(book.tables.builder, book.embedded)
    if book.problems and not book.tables.builder.length:
        raise ExtractionError(DAMAGED, DAMAGED_HINT)
    metadata = core_properties(archive.read(CORE) or b"", "Excel properties")
    warnings = [f"damaged sheets: {', '.join(book.problems[:5])}"] if book.problems else []
    warnings += filter(None, (attachments.warning,))
    return book.tables.file_text(metadata, title_in(metadata), "; ".join(warnings))


class _Book:
    """Reads the sheets of one workbook into tables."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        main = main_part(archive, _MAIN)
        self._relations = relations_of(archive, main)
        workbook, strings, styles = Workbook(), Strings(), Styles()
        parse_member(archive, main, workbook)
        persons = Persons()
        handlers: dict[str, Handler] = {"sharedStrings": strings, "styles": styles, "person": persons}
        parts = dict(self._relations.values())
        for kind, handler in handlers.items():
            parse_member(archive, parts.get(kind, posixpath.join(posixpath.dirname(main), f"{kind}.xml")), handler)
        self._strings, self._codes, self._is_1904 = strings.strings, styles.codes, workbook.is_1904
        self._persons = persons.names
        self.names = [sheet for sheet in workbook.sheets if not sheet.is_hidden]
        self.tables = Tables()
        self._descriptions = Descriptions()
        self.embedded: list[tuple[str, bytes]] = []
        self.problems: list[str] = []

    def add(self, sheet: SheetName) -> None:
        """Read one sheet, and what lies beside its cells."""
        kind, part = self._relations.get(sheet.relation, ("", ""))
        if kind not in _SHEETS or not self._archive.has(part):
            self.tables.add((), sheet.name, is_page=True)
            return
        relations = relations_of(self._archive, part)
        notes = self._notes(relations)
        with self._archive.open(part) as file:
            pieces = iter(lambda: file.read(_PIECE_BYTES), b"") if file is not None else iter(())
            merged, across = merged_cells(pieces)
        reader = Sheet(self._strings, self._codes, self._is_1904, merged)
        self.tables.add_numbered(self._rows(part, reader, sheet.name), sheet.name, True, notes, across)
        for line in (*reader.heads, *self._drawn(relations)):
            self.tables.builder.add(line)
        for kind, name in relations.values():
            if kind in ("oleObject", "package"):
                self.embedded.append(embedded_file(self._archive, name))

    def _rows(self, part: str, reader: Sheet, name: str) -> Iterator[Row]:
        with self._archive.open(part) as file:
            if file is not None:
                problem = yield from pieces_of(file, reader)
                self.problems += [name] if problem else []

    def _notes(self, relations: dict[str, tuple[str, str]]) -> dict[int, list[str]]:
        """Return the comments of a sheet, by row. Threaded ones replace the old ones of their cells."""
        threaded, old = Comments(self._persons), Comments(self._persons)
        for kind, part in relations.values():
            if kind == "threadedComment":
                parse_member(self._archive, part, threaded)
            elif kind == "comments":
                parse_member(self._archive, part, old)
        known = {cell for cell, _ in threaded.lines}
        notes: dict[int, list[str]] = {}
        for cell, line in (*(line for line in old.lines if line[0] not in known), *threaded.lines):
            notes.setdefault(place_of(cell)[0], []).append(line)
        return notes

    def _drawn(self, relations: dict[str, tuple[str, str]]) -> Iterator[str]:
        """Yield the text of boxes, charts, diagrams and controls of a sheet, and what is written of its pictures."""
        for kind, part in relations.values():
            if kind == "drawing":
                shapes = Shapes(self._descriptions)
                parse_member(self._archive, part, shapes)
                yield from (*shapes.lines, *shapes.pictures)
                linked = relations_of(self._archive, part)
                for identity in shapes.linked:
                    yield from text_of_drawing(self._archive, *linked.get(identity, ("", "")))
            elif kind == "vmlDrawing":
                captions = Captions()
                parse_member(self._archive, part, captions)
                yield from captions.lines
