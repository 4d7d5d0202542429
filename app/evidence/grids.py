"""Writes a grid of texts as CSV, Markdown, HTML or an Excel workbook, and reads it back after a person has edited it.

No cell is a formula: a document may begin with "=" on purpose. In CSV such a cell begins with an apostrophe; an Excel
cell is of the kind that holds text alone.
"""

import csv
import html
import io
import re
import zipfile
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from xml.sax.saxutils import escape

from longsearch.engine.citing.table import as_text
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable

Grid = Sequence[Sequence[str]]
_BREAK = re.compile(r"<br\s*/?>")
_APOSTROPHE = re.compile(r"^'(?='*[=+\-@\t\r])")
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_MAX_XLSX_CHARACTERS = 32_767


def _clean(text: str) -> str:
    return printable(text, keep="\n").strip()


def _to_csv(rows: Grid) -> bytes:
    def cell(text: str) -> str:
        return f"'{text}" if _APOSTROPHE.match(text) else as_text(text)  # one that began so keeps its own apostrophe

    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([cell(_clean(text)) for text in row] for row in rows)
    return file.getvalue().encode("utf-8", "replace")


def _from_csv(data: bytes) -> list[list[str]]:
    text = data.decode("utf-8-sig", "replace")
    separator = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return [[_APOSTROPHE.sub("", cell) for cell in row] for row in rows]


def _to_markdown(rows: Grid) -> bytes:
    def cell(text: str) -> str:
        inner = html.escape(_clean(text), quote=False).replace("\\", "\\\\").replace("|", "\\|")
        return inner.replace("\n", "<br>") or " "

    lines = ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _from_markdown(data: bytes) -> list[list[str]]:
    def cell(text: str) -> str:
        return html.unescape(re.sub(r"\\([\\|])", r"\1", _BREAK.sub("\n", text.strip())))

    lines = [line.strip() for line in data.decode("utf-8", "replace").split("\n") if line.strip().startswith("|")]
    rows = [re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1] for line in lines]
    return [list(map(cell, row)) for row in rows if not all(re.fullmatch(r"\s*:?-+:?\s*", own) for own in row)]


def _to_html(rows: Grid) -> bytes:
    def line(row: Sequence[str], tag: str) -> str:
        cells = (html.escape(_clean(cell)).replace("\n", "<br>") for cell in row)
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    body = "\n".join([line(rows[0], "th"), *(line(row, "td") for row in rows[1:])])
    style = "table{border-collapse:collapse}th,td{border:1px solid #999;padding:.3em;vertical-align:top}"
    head = f"<!doctype html>\n<meta charset=utf-8>\n<title>Evidence</title>\n<style>{style}</style>"
    return f"{head}\n<table>\n{body}\n</table>\n".encode("utf-8", "replace")


class _Cells(HTMLParser):
    """Collects the cells of the first table."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._is_in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self._is_in_cell = True
        elif tag == "br" and self._is_in_cell:
            self.rows[-1][-1] += "\n"

    def handle_endtag(self, tag: str) -> None:
        self._is_in_cell = self._is_in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._is_in_cell:
            self.rows[-1][-1] += data


def _from_html(data: bytes) -> list[list[str]]:
    cells = _Cells()
    cells.feed(data.decode("utf-8", "replace"))
    return [[cell.strip() for cell in row] for row in cells.rows]


def _to_xlsx(rows: Grid) -> bytes:
    """Return a workbook of one sheet. Every cell holds text; no library is needed for that."""
    lines = []
    for row in rows:
        cells = (escape(_clean(cell)[:_MAX_XLSX_CHARACTERS]) for cell in row)
        lines.append("<row>" + "".join(f'<c t="inlineStr"><is><t xml:space="preserve">{c}</t></is></c>' for c in cells))
        lines[-1] += "</row>"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="Evidence" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEET}"><sheetData>{"".join(lines)}</sheetData></worksheet>',
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' + text)
    return file.getvalue()


def _from_xlsx(data: bytes) -> list[list[str]]:
    import python_calamine as calamine

    try:
        sheet = calamine.load_workbook(io.BytesIO(data)).get_sheet_by_index(0)
    except (calamine.CalamineError, ValueError) as error:
        raise LongsearchError(f"no Excel workbook: {error}", "give another file to write to") from error
    return [[str(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]


FORMATS: dict[str, tuple[Callable[[Grid], bytes], Callable[[bytes], list[list[str]]]]] = {
    "csv": (_to_csv, _from_csv),
    "md": (_to_markdown, _from_markdown),
    "xlsx": (_to_xlsx, _from_xlsx),
    "html": (_to_html, _from_html),
}
"""How each format is written, and read back."""
