"""Puts marks that a viewer keeps beside a PDF onto its open page, in memory: there they are read like its own."""

from collections.abc import Iterable
from ctypes import POINTER, c_double, c_ushort, cast, create_string_buffer
from typing import Any

import pypdfium2.raw as pdfium_c

_KINDS = {
    "note": pdfium_c.FPDF_ANNOT_TEXT,
    "highlight": pdfium_c.FPDF_ANNOT_HIGHLIGHT,
    "squiggly": pdfium_c.FPDF_ANNOT_SQUIGGLY,
    "underline": pdfium_c.FPDF_ANNOT_UNDERLINE,
    "strikeout": pdfium_c.FPDF_ANNOT_STRIKEOUT,
}
_FINE = 100_000
"""Steps from one side of the page to the other."""


def put_onto(page: Any, marks: Iterable[Any]) -> None:
    """Put marks onto a page; each is a `MarkApart` of `extract.okular`."""
    for _, kind, color, author, note, boxes in marks:
        annotation = pdfium_c.FPDFPage_CreateAnnot(page, _KINDS[kind])
        if not annotation:
            continue
        for key, text in ((b"T", author), (b"Contents", note)):
            if text:
                buffer = create_string_buffer(text.encode("utf-16-le", "replace") + b"\0\0")
                pdfium_c.FPDFAnnot_SetStringValue(annotation, key, cast(buffer, POINTER(c_ushort)))
        if color:
            parts = (int(color[at : at + 2], 16) for at in (1, 3, 5))
            pdfium_c.FPDFAnnot_SetColor(annotation, pdfium_c.FPDFANNOT_COLORTYPE_Color, *parts, 255)
        for box in boxes:
            (left, high), (right, low) = _point(page, *box[:2]), _point(page, *box[2:])
            pdfium_c.FPDFAnnot_SetRect(annotation, pdfium_c.FS_RECTF(left, high, right, low))
            if kind != "note":
                quad = pdfium_c.FS_QUADPOINTSF(left, high, right, high, left, low, right, low)
                pdfium_c.FPDFAnnot_AppendAttachmentPoints(annotation, quad)
        pdfium_c.FPDFPage_CloseAnnot(annotation)


def _point(page: Any, across: float, down: float) -> tuple[float, float]:
    """Return a point of the shown page, which may be turned or cropped, in points of the page."""
    x, y = c_double(), c_double()
    place = (round(min(max(0.0, side), 1.0) * _FINE) for side in (across, down))
    pdfium_c.FPDF_DeviceToPage(page, 0, 0, _FINE, _FINE, 0, *place, x, y)
    return x.value, y.value
