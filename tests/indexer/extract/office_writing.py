"""Write small office files by hand, so that a test knows every part of its archive."""

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence

from tests.indexer.extract.book_writing import OFFICE, RELATIONS

_SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="' + OFFICE + '"'
)
_ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "draw", "presentation", "meta", "manifest")
)
_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title><dc:creator>{}</dc:creator>'
    "</cp:coreProperties>"
)
Cell = str | float
Parts = Mapping[str, str | bytes]


def zipped(parts: Parts, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive of `parts`."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


def relations(*targets: tuple[str, str]) -> str:
    """Return the relations r1, r2, … to parts, each (kind, name)."""
    entries = (
        f'<Relationship Id="r{n}" Type="{OFFICE}/{kind}" Target="{name}"/>'
        for n, (kind, name) in enumerate(targets, start=1)
    )
    return f"<Relationships {RELATIONS}>{''.join(entries)}</Relationships>"


def xlsx_parts(sheets: Mapping[str, Sequence[Sequence[Cell]]], title: str = "") -> dict[str, str | bytes]:
    """Return the members of a workbook. A cell is a text or a number."""
    names = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, start=1))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook {_SHEET} xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(*(("worksheet", f"s{n}.xml") for n in range(1, len(sheets) + 1))),
        "xl/styles.xml": f'<styleSheet {_SHEET}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        "docProps/core.xml": _CORE.format(title, "Ann Author"),
    }
    for n, rows in enumerate(sheets.values(), start=1):
        body = "".join(
            f'<row r="{r}">{"".join(_cell(r, c, cell) for c, cell in enumerate(row))}</row>'
            for r, row in enumerate(rows, start=1)
        )
        parts[f"xl/s{n}.xml"] = f"<worksheet {_SHEET}><sheetData>{body}</sheetData></worksheet>"
    return parts


def _cell(row: int, column: int, value: Cell) -> str:
    place = f"{chr(65 + column)}{row}"
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>' if value else ""
    return f'<c r="{place}"><v>{value}</v></c>'


def far_xlsb() -> bytes:
    """Return a binary workbook with cells in opposite corners, which needs more than a gigabyte to be read."""

    def record(kind: int, data: bytes = b"") -> bytes:
        name = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
        return name + bytes([len(data)]) + data

    def wide(text: str) -> bytes:
        return struct.pack("<I", len(text)) + text.encode("utf-16-le")

    def cell(row: int, column: int) -> bytes:
        begin = record(0, struct.pack("<IIHHBI", row, 0, 300, 0, 0, 0))
        return begin + record(5, struct.pack("<IId", column, 0, 7.0))

    corners = cell(0, 0) + cell(1048575, 16383)
    size = record(148, struct.pack("<4I", 0, 1048575, 0, 16383))
    sheet = record(156, struct.pack("<II", 0, 1) + wide("r1") + wide("A"))
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.bin": record(131) + record(143) + sheet + record(144) + record(132),
            "_rels/.rels": relations(("officeDocument", "xl/workbook.bin")),
            "xl/_rels/workbook.bin.rels": relations(("worksheet", "worksheets/s1.bin")),
            "xl/worksheets/s1.bin": record(129) + size + record(145) + corners + record(146) + record(130),
        }
    )


def date_cell(place: str, days: int) -> str:
    """Return the XML of a cell that holds a date, in days since 1899-12-30."""
    return f'<c r="{place}" s="1"><v>{days}</v></c>'


def shape(*paragraphs: str, kind: str = "") -> str:
    """Return a shape of a slide. `kind` of its placeholder: "title", "sldNum", …"""
    placeholder = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>' if kind else ""
    body = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in paragraphs)
    return f"<p:sp>{placeholder}<p:txBody>{body}</p:txBody></p:sp>"


def slide_table(*rows: tuple[str, ...]) -> str:
    """Return a table on a slide."""
    cells = [
        "".join(f"<a:tc><a:txBody><a:p><a:r><a:t>{c}</a:t></a:r></a:p></a:txBody></a:tc>" for c in r) for r in rows
    ]
    return f"<p:graphicFrame><a:tbl>{''.join(f'<a:tr>{row}</a:tr>' for row in cells)}</a:tbl></p:graphicFrame>"


def pptx_parts(
    slides: Sequence[str], notes: Mapping[int, str] | None = None, title: str = ""
) -> dict[str, str | bytes]:
    """Return the members of a presentation; `notes` by the slide's number. The parts are stored in reverse order."""
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "ppt/presentation.xml": f"<p:presentation {_SLIDE}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *(("slide", f"slides/slide{len(slides) - n}.xml") for n in range(len(slides)))
        ),
        "docProps/core.xml": _CORE.format(title, "Ann Author"),
    }
    for n, body in enumerate(slides):
        name = f"slide{len(slides) - n}.xml"
        parts[f"ppt/slides/{name}"] = f"<p:sld {_SLIDE}><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:sld>"
        if note := (notes or {}).get(n + 1):
            parts[f"ppt/slides/_rels/{name}.rels"] = relations(("notesSlide", f"../notes/{name}"))
            body = shape(note, kind="body") + shape(str(n + 1), kind="sldNum")
            parts[f"ppt/notes/{name}"] = f"<p:notes {_SLIDE}>{body}</p:notes>"
    return parts


def odf_parts(kind: str, body: str, title: str = "") -> dict[str, str | bytes]:
    """Return the members of an OpenDocument file of a `kind`: "text", "presentation" or "spreadsheet"."""
    content = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    return {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "META-INF/manifest.xml": f"<manifest:manifest {_ODF}/>",
        "content.xml": f"<office:document-content {_ODF}>{content}</office:document-content>",
        "meta.xml": (
            f'<office:document-meta {_ODF} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
            f"<dc:title>{title}</dc:title><meta:initial-creator>Ann Author</meta:initial-creator>"
            "<dc:creator>Last Editor</dc:creator><meta:keyword>heat</meta:keyword></office:meta></office:document-meta>"
        ),
    }


def odf_rows(*rows: Sequence[str]) -> str:
    """Return the rows of an OpenDocument table."""
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    lines = ("".join(cell.format(value) if value else "<table:table-cell/>" for value in row) for row in rows)
    return "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
