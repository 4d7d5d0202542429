"""Ask pdfium where the characters of a page stand.

pypdfium2 has ctypes compare each argument with its declared type, which takes longer than pdfium does. The functions
here are the same ones without declared types: a call takes 0.3 µs in place of 0.7, and a page needs thousands.
"""

from collections.abc import Callable
from ctypes import CFUNCTYPE, byref, c_double, c_int, c_void_p, cast
from math import hypot
from operator import lt, sub
from typing import Any

import pypdfium2.raw as pdfium_c

from longsearch.indexer.extract.pdf.layout import Line


def _undeclared(function: Any, returns: Any = c_int) -> Callable[..., Any]:
    """Return a function of pdfium that takes its arguments as they are: pointers, references and C integers."""
    undeclared: Callable[..., Any] = CFUNCTYPE(returns)(cast(function, c_void_p).value or 0)
    return undeclared


_get_origin = _undeclared(pdfium_c.FPDFText_GetCharOrigin)
_get_box = _undeclared(pdfium_c.FPDFText_GetLooseCharBox)
_get_matrix = _undeclared(pdfium_c.FPDFText_GetMatrix)
_count_boxes = _undeclared(pdfium_c.FPDFText_CountRects)
_get_piece = _undeclared(pdfium_c.FPDFText_GetRect)
font_size = _undeclared(pdfium_c.FPDFText_GetFontSize, c_double)

# Buffers that pdfium writes positions into, shared by all calls: pdfium allows only one thread.
_X, _Y, _X_END, _Y_END = (c_double() for _ in range(4))
_BOX, _MATRIX = pdfium_c.FS_RECTF(), pdfium_c.FS_MATRIX()
_TO_X, _TO_Y, _TO_X_END, _TO_Y_END, _TO_BOX, _TO_MATRIX = map(byref, (_X, _Y, _X_END, _Y_END, _BOX, _MATRIX))


def origin(text_page: Any, index: int) -> tuple[float, float]:
    """Return where a character stands on its baseline, in points."""
    _get_origin(text_page, index, _TO_X, _TO_Y)
    return _X.value, _Y.value


def right_edge(text_page: Any, index: int) -> float:
    """Return where a character ends."""
    _get_box(text_page, index, _TO_BOX)
    return float(_BOX.right)


def gap_between(text_page: Any, index: int, following: int) -> tuple[float, float]:
    """Return where a character ends, and where one that follows it begins."""
    _get_box(text_page, index, _TO_BOX)
    _get_origin(text_page, following, _TO_X, _TO_Y)
    return _BOX.right, _X.value


def placed(text_page: Any, text: str, start: int, end: int) -> Line:
    """Return the line `text`, which spans the page's characters `start` to `end`, with its position if known."""
    known = (
        _get_origin(text_page, start, _TO_X, _TO_Y)
        and _get_origin(text_page, end, _TO_X_END, _TO_Y_END)
        and _get_box(text_page, end, _TO_BOX)
        and _get_matrix(text_page, start, _TO_MATRIX)
    )
    if not known:
        return Line(text)
    size = font_size(text_page, start) * hypot(_MATRIX.c, _MATRIX.d)
    return Line(text, _X.value, _BOX.right, _Y.value, _Y_END.value, size)


def stand_apart(text_page: Any, first: int, length: int, distance: float) -> bool:
    """Return whether two neighbouring pieces of a line, each drawn alone, have more than `distance` between them."""
    n_pieces = _count_boxes(text_page, first, length)
    if n_pieces < 2:
        return False
    lefts, rights = [], []
    for number in range(n_pieces):
        _get_piece(text_page, number, _TO_X, _TO_Y, _TO_X_END, _TO_Y_END)
        lefts.append(_X.value)
        rights.append(_X_END.value)
    if not all(map(lt, lefts, lefts[1:])):
        lefts, rights = map(list, zip(*sorted(zip(lefts, rights, strict=True)), strict=True))
    return bool(max(map(sub, lefts[1:], rights)) > distance)
