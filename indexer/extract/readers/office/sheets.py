"""Extract the text of spreadsheets: each sheet a page, its rows in blocks under the names of their columns.

calamine, a library in Rust, reads Excel's formats of all ages and OpenDocument; openpyxl reads one of them, ten times
slower. Archives are checked for bombs before calamine unpacks them.
"""

import datetime
from collections.abc import Iterable, Iterator
from typing import Any

import python_calamine as calamine

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.decoding import read_bytes
from longsearch.indexer.extract.readers.office.odf import open_document_metadata, refuse_encrypted
from longsearch.indexer.extract.readers.office.properties import CORE, core_properties, title_in
from longsearch.indexer.extract.readers.office.tables import Tables
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata

_PARTS = (".xml", ".rels", ".bin")
_OLE = b"\xd0\xcf\x11\xe0"
_KIND = "a spreadsheet"
_DAMAGED_HINT = "open it in its program and save a copy"


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    with path.open("rb") as file:
        is_old = file.read(4) == _OLE and path.name.lower().endswith(".xls")
    metadata = () if is_old else _checked(path)
    read_bytes(path)  # refuses an empty file and one that is too large
    tables = Tables()
    try:
        with path.open("rb") as file, calamine.load_workbook(file) as book:
            for sheet in book.sheets_metadata:
                rows = book.get_sheet_by_name(sheet.name).iter_rows() if sheet.typ == _SHEET else ()
                tables.add(_rows(rows), sheet.name, is_page=True)
    except calamine.PasswordError as error:
        raise ExtractionError("encrypted: needs a password", "save a copy without the password") from error
    except (calamine.CalamineError, OSError) as error:
        raise ExtractionError(f"damaged, or not {_KIND}: no table can be found in it", _DAMAGED_HINT) from error
    return tables.file_text(metadata, title_in(metadata))


_SHEET = calamine.SheetTypeEnum.WorkSheet


def _checked(path: Source) -> RawMetadata:
    """Return the properties of a workbook that is an archive. Raises `ExtractionError` if it may not be unpacked."""
    with Archive(path, _KIND) as archive:
        archive.check(_PARTS)
        refuse_encrypted(archive)
        core = archive.read(CORE)
        return open_document_metadata(archive) if core is None else core_properties(core, "Excel properties")


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
            return f"{cell:.12g}"
        case datetime.datetime():
            return str(cell.date()) if cell.time() == datetime.time() else cell.isoformat(" ", "seconds")
        case _:
            return str(cell)
