"""Ask pdfium where the characters of a page stand.

pypdfium2 has ctypes compare each argument with its declared type, which takes longer than pdfium does. The functions
here are the same ones without declared types, and `map` calls them for all lines of a page: a call takes a third of
the time, and a page needs thousands. Those that write a place return nothing, and a page is passed as a reference: for
a result and for a pointer, ctypes makes an object at each call.
"""

from array import array
from collections.abc import Callable, Sequence
from ctypes import PYFUNCTYPE, byref, c_char, c_double, c_int, c_ushort, c_void_p, cast
from itertools import repeat
from math import hypot
from operator import lt, mul, sub
from typing import Any

import pypdfium2.raw as pdfium_c

from longsearch.indexer.extract.pdf.layout import Line, tuples


def _undeclared(function: Any, returns: Any = c_int) -> Callable[..., Any]:
    """Return a function of pdfium that takes its arguments as they are: pointers, references and C integers."""
    undeclared: Callable[..., Any] = PYFUNCTYPE(returns)(cast(function, c_void_p).value or 0)
    return undeclared


_get_origin = _undeclared(pdfium_c.FPDFText_GetCharOrigin, None)
_get_box = _undeclared(pdfium_c.FPDFText_GetLooseCharBox, None)
_get_matrix = _undeclared(pdfium_c.FPDFText_GetMatrix, None)
_count_boxes = _undeclared(pdfium_c.FPDFText_CountRects)
_get_piece = _undeclared(pdfium_c.FPDFText_GetRect, None)
_index_of = _undeclared(pdfium_c.FPDFText_GetCharIndexFromTextIndex)
_text_index_of = _undeclared(pdfium_c.FPDFText_GetTextIndexFromCharIndex)
_get_size = _undeclared(pdfium_c.FPDFText_GetFontSize, c_double)
_USUAL_ROOM = 512


class _Room:
    """Memory that pdfium writes `n` places into."""

    def __init__(self, n: int) -> None:
        self.x, self.y, self.x_end, self.y_end = (array("d", bytes(8 * n)) for _ in range(4))
        self.box = array("f", bytes(4 * 4 * n))  # left, top, right, bottom
        self.matrix = array("f", bytes(6 * 4 * n))  # a, b, c, d, e, f
        self.to_x, self.to_y, self.to_x_end, self.to_y_end = (
            _references(numbers, 1) for numbers in (self.x, self.y, self.x_end, self.y_end)
        )
        self.to_box, self.to_matrix = _references(self.box, 4), _references(self.matrix, 6)


def _references(numbers: "array[float]", length: int) -> list[Any]:
    """Return a reference to each `length` numbers of an array."""
    memory = (c_char * (len(numbers) * numbers.itemsize)).from_buffer(numbers)
    return [byref(memory, start) for start in range(0, len(memory), length * numbers.itemsize)]


_SHARED = _Room(_USUAL_ROOM)  # used by all calls: pdfium allows only one thread
_TEXT = (c_ushort * 32_768)()  # room for the text of a page: ctypes makes a type for each length of an array
_UNUSED = repeat(byref(c_double()))  # what is not asked for is written here


def _room(n: int) -> _Room:
    return _SHARED if n <= _USUAL_ROOM else _Room(n)


def reference_to(page: Any) -> Any:
    """Return a page as the functions here take it fastest; a pointer will do as well."""
    return byref(page.contents)


def text_of(text_page: Any) -> str:
    """Return the text of a page. Lone surrogates stay: pdfium counts them as characters."""
    first, last = 0, pdfium_c.FPDFText_CountChars(text_page) - 1
    # Asked for characters that its text leaves out, pdfium reads beyond the others: https://crbug.com/pdfium/2079
    while first <= last and _text_index_of(text_page, first) < 0:
        first += 1
    while first <= last and _text_index_of(text_page, last) < 0:
        last -= 1
    if first > last:
        return ""
    n_units = _text_index_of(text_page, last) + 2 - _text_index_of(text_page, first)  # with the end
    buffer = _TEXT if n_units <= len(_TEXT) else (c_ushort * n_units)()
    n_written = pdfium_c.FPDFText_GetText(text_page, first, last - first + 1, buffer)
    return str(memoryview(buffer).cast("B")[: 2 * (n_written - 1)], "utf-16-le", "surrogatepass")


def character_indices(text_page: Any, text_indices: Sequence[int]) -> list[int]:
    """Return the index of the page's character for each character of its text; -1 if there is none."""
    return list(map(_index_of, repeat(text_page), text_indices))


def origin(text_page: Any, index: int) -> tuple[float, float]:
    """Return where a character stands on its baseline, in points."""
    _get_origin(text_page, index, _SHARED.to_x[0], _SHARED.to_y[0])
    return _SHARED.x[0], _SHARED.y[0]


def origins(text_page: Any, indices: Sequence[int]) -> "tuple[array[float], array[float]]":
    """Return (lefts, baselines) of characters: where they stand, in points."""
    n, room = len(indices), _room(len(indices))
    list(map(_get_origin, repeat(text_page), indices, room.to_x, room.to_y))
    return room.x[:n], room.y[:n]


def rights(text_page: Any, indices: Sequence[int]) -> "array[float]":
    """Return where characters end."""
    room = _room(len(indices))
    list(map(_get_box, repeat(text_page), indices, room.to_box))
    return room.box[2 : 4 * len(indices) : 4]


def font_sizes(text_page: Any, indices: Sequence[int]) -> list[float]:
    """Return the sizes of characters' fonts."""
    return list(map(_get_size, repeat(text_page), indices))


def gap_between(text_page: Any, index: int, following: int) -> float:
    """Return how far a character begins behind the end of another one."""
    _get_box(text_page, index, _SHARED.to_box[0])
    _get_origin(text_page, following, _SHARED.to_x[0], _SHARED.to_y[0])
    return _SHARED.x[0] - _SHARED.box[2]


def placed(text_page: Any, texts: Sequence[str], starts: Sequence[int], ends: Sequence[int]) -> list[Line]:
    """Return the lines `texts`, each of which spans the page's characters from a start to an end.

    A line of which a character is unknown (-1) has no position.
    """
    n, room, page = len(texts), _room(len(texts)), repeat(text_page)
    list(map(_get_origin, page, starts, room.to_x, room.to_y))
    list(map(_get_origin, page, ends, room.to_x_end, room.to_y_end))
    list(map(_get_box, page, ends, room.to_box))
    list(map(_get_matrix, page, starts, room.to_matrix))
    scales = map(hypot, room.matrix[2 : 6 * n : 6], room.matrix[3 : 6 * n : 6])
    sizes = map(mul, map(_get_size, page, starts), scales)
    places = room.x[:n], room.box[2 : 4 * n : 4], room.y[:n], room.y_end[:n], sizes
    lines = tuples(Line, zip(texts, *places, *map(repeat, Line("")[len(places) + 1 :]), strict=False))
    if min((*starts, *ends), default=0) >= 0:
        return lines
    return [line if min(ends) >= 0 else Line(line.text) for line, *ends in zip(lines, starts, ends, strict=True)]


def stand_apart(text_page: Any, first: int, length: int, distance: float) -> bool:
    """Return whether two neighbouring pieces of a line, each drawn alone, have more than `distance` between them."""
    n = _count_boxes(text_page, first, length)
    if n < 2:
        return False
    room = _room(n)
    list(map(_get_piece, repeat(text_page), range(n), room.to_x, _UNUSED, room.to_x_end, _UNUSED))
    lefts: Sequence[float] = room.x[:n]
    ends: Sequence[float] = room.x_end[:n]
    if not all(map(lt, lefts, lefts[1:])):
        lefts, ends = zip(*sorted(zip(lefts, ends, strict=True)), strict=True)
    return bool(max(map(sub, lefts[1:], ends)) > distance)
