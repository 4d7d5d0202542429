"""Draws a page of a PDF with pdfium, which may crash or hang: use it in the child."""

import base64
import zlib
from collections.abc import Sequence
from ctypes import c_double
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from longsearch.engine.errors import ExtractionError
from longsearch.engine.page_image import Box, Highlight, TextToHighlight
from longsearch.indexer.extract.printed.letters import find_texts
from longsearch.indexer.extract.sources import Source, for_library
from longsearch.indexer.extract.wire.limits import MAX_BOXES, MAX_PIXELS
from longsearch.indexer.extract.wire.protocol import Drawn, DrawRequest

_MAX_SCALE = 20.0
"""Pixels for a point. A page of the size of a stamp is not blown up without end."""
_ABOVE = 0.15
"""How far a box reaches beyond its line above and below, as a share of the line's height."""


def draw(file: Source, request: DrawRequest) -> Drawn:
    """Return the picture of a page. Raises `ExtractionError`."""
    try:
        document = pdfium.PdfDocument(for_library(file))
        document.init_forms()  # without this, filled-in forms are drawn empty
        n_pages = len(document)
        if not 1 <= request.page <= n_pages:
            raise ExtractionError(f"there is no page {request.page}: the file now has {n_pages}")
        page = document[request.page - 1]
        bitmap = page.render(scale=_scale(page, request), rev_byteorder=True)
    except (pdfium.PdfiumError, ValueError, AssertionError) as error:
        raise ExtractionError("this page cannot be drawn", "o opens it in your viewer") from error
    wanted = [TextToHighlight(text, share, Highlight(light)) for text, share, light in request.texts]
    boxes = _boxes(page, bitmap, wanted)
    packed = base64.b64encode(zlib.compress(_rgb(bitmap), 1)).decode("ascii")
    return Drawn(bitmap.width, bitmap.height, packed, n_pages, boxes)


def _scale(page: Any, request: DrawRequest) -> float:
    """Return the pixels for a point with which the page fits into width and height, and has at most `MAX_PIXELS`."""
    width, height = max(page.get_width(), 1.0), max(page.get_height(), 1.0)
    scales = [request.width / width, (0.98 * MAX_PIXELS / (width * height)) ** 0.5, _MAX_SCALE]
    if request.height is not None:
        scales.append(request.height / height)
    return float(max(min(scales) - 1e-6, 1e-6))  # pdfium rounds up


def _rgb(bitmap: Any) -> bytes:
    rows = memoryview(bitmap.buffer).cast("B")
    n_bytes, stride = bitmap.width * 3, bitmap.stride
    return b"".join(rows[row * stride : row * stride + n_bytes] for row in range(bitmap.height))


def _boxes(page: Any, bitmap: Any, wanted: Sequence[TextToHighlight]) -> tuple[tuple[Box, ...], ...]:
    """Return the boxes of each wanted text, in pixels."""
    if not wanted:
        return ()
    try:
        text_page = page.get_textpage()
        raw = text_page.get_text_range(errors="surrogatepass")
    except (pdfium.PdfiumError, AssertionError):
        return tuple(() for _ in wanted)
    to_pixels = bitmap.get_posconv(page).to_bitmap
    found = find_texts(raw, wanted)
    size = (bitmap.width, bitmap.height)
    return tuple(_boxes_of(text_page, raw, span, to_pixels, size) if span else () for span in found)


def _boxes_of(
    text_page: Any, raw: str, span: tuple[int, int], to_pixels: Any, size: tuple[int, int]
) -> tuple[Box, ...]:
    first, last = (_character(text_page, raw, place) for place in (span[0], span[1] - 1))
    if first < 0 or last < first:
        return ()
    n_boxes = pdfium_c.FPDFText_CountRects(text_page, first, last - first + 1)
    sides = [c_double() for _ in range(4)]
    lines: list[list[float]] = []
    for index in range(min(n_boxes, 10 * MAX_BOXES)):
        if pdfium_c.FPDFText_GetRect(text_page, index, *sides):
            left, top, right, bottom = (side.value for side in sides)
            _add(lines, [left, bottom, right, top])
    return tuple(_in_pixels(line, to_pixels, size) for line in lines[:MAX_BOXES])


def _character(text_page: Any, raw: str, place: int) -> int:
    """Return pdfium's index of the page's character at `place` of its text; -1 if there is none."""
    n_units = len(raw[:place].encode("utf-16-le", "surrogatepass")) // 2
    return int(pdfium_c.FPDFText_GetCharIndexFromTextIndex(text_page, n_units))


def _add(lines: list[list[float]], box: list[float]) -> None:
    """Add a box (left, bottom, right, top): make the last line longer if it stands on that line, else begin another."""
    if lines:
        last = lines[-1]
        low, high = max(last[1], box[1]), min(last[3], box[3])
        height = max(last[3] - last[1], box[3] - box[1])
        if high - low > 0.5 * min(last[3] - last[1], box[3] - box[1]) and -height < box[0] - last[2] < 2 * height:
            lines[-1] = [min(last[0], box[0]), min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3])]
            return
    lines.append(box)


def _in_pixels(line: Sequence[float], to_pixels: Any, size: tuple[int, int]) -> Box:
    left, bottom, right, top = line
    beyond = _ABOVE * (top - bottom)
    corners = [to_pixels(left, bottom - beyond), to_pixels(right, top + beyond)]  # a turned page turns its boxes too
    (x_first, x_last), (y_first, y_last) = (sorted(side) for side in zip(*corners, strict=True))
    width, height = size
    x_first, x_last = min(max(x_first, 0), width), min(max(x_last + 1, 0), width)
    y_first, y_last = min(max(y_first, 0), height), min(max(y_last + 1, 0), height)
    return x_first, y_first, x_last, y_last
