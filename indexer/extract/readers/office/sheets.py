"""Extract the text of spreadsheets: each sheet a page, its rows in blocks under the names of their columns.

Excel's newer files and OpenDocument have readers here. calamine, a library in Rust, reads Excel's older and binary
files; archives are checked for bombs before it unpacks them.
"""

import datetime
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import python_calamine as calamine

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.decoding import read_bytes
from longsearch.indexer.extract.readers.office import converted, odf
from longsearch.indexer.extract.readers.office.excel.number_formats import general
from longsearch.indexer.extract.readers.office.excel.reader import DAMAGED, DAMAGED_HINT, read_workbook
from longsearch.indexer.extract.readers.office.properties import CORE, core_properties, title_in
from longsearch.indexer.extract.readers.office.tables import Tables
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata

_PARTS = (".xml", ".rels", ".bin")
_OLE = b"\xd0\xcf\x11\xe0"
_KIND = "a spreadsheet"
_BY_CALAMINE = ".xlsb"
_OPEN_DOCUMENT = (".ods", ".ots", ".fods")


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    if path.name.lower().endswith(_OPEN_DOCUMENT):
        return odf.read(path)
    with path.open("rb") as file:
        is_old = file.read(4) == _OLE and path.name.lower().endswith(".xls")
    if is_old:
        return _old(path)
    with Archive(path, _KIND) as archive:
        if not path.name.lower().endswith(_BY_CALAMINE):
            return read_workbook(archive)
        archive.check(_PARTS)
        metadata = core_properties(archive.read(CORE) or b"", "Excel properties")
    return _by_calamine(path, metadata)


def _old(path: Source) -> FileText:
    """Read a file of before 2007: by LibreOffice if it is there, which knows formats of cells and comments."""
    if isinstance(path, Path) and converted.is_installed():
        with suppress(ExtractionError):
            return read(converted.converted(path))
    return _by_calamine(path, ())


def _by_calamine(path: Source, metadata: RawMetadata) -> FileText:
    read_bytes(path)  # refuses an empty file and one that is too large
    tables = Tables()
    try:
        with path.open("rb") as file, calamine.load_workbook(file) as book:
            for sheet in book.sheets_metadata:
                is_shown = sheet.typ == _SHEET and sheet.visible == calamine.SheetVisibleEnum.Visible
                tables.add(_rows(book.get_sheet_by_name(sheet.name).iter_rows() if is_shown else ()), sheet.name, True)
    except calamine.PasswordError as error:
        raise ExtractionError("encrypted: needs a password", "save a copy without the password") from error
    except (calamine.CalamineError, OSError) as error:
        raise ExtractionError(DAMAGED, DAMAGED_HINT) from error
    return tables.file_text(metadata, title_in(metadata))


_SHEET = calamine.SheetTypeEnum.WorkSheet


def _rows(rows: Iterable[list[Any]]) -> Iterator[list[str]]:
    for row in rows:
        yield [_shown(cell) for cell in row]


def _shown(cell: object) -> str:
    """Return a cell's value as a person reads it: no seconds in a date, no point in a whole number."""
    match cell:
        case str():
            return cell
        case bool():
            return str(cell).upper()
        case float():
            return general(cell)
        case datetime.datetime():
            return str(cell.date()) if cell.time() == datetime.time() else cell.isoformat(" ", "seconds")
        case _:
            return str(cell)
