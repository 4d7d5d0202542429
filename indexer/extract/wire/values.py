"""The values in the fields of a message: checks those that a child sent, which may lie. Knows no message.

Each function raises `TypeError` or `ValueError` for anything else.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from longsearch.indexer.extract.wire.limits import (
    MAX_HEADINGS,
    MAX_MARK_CHARACTERS,
    MAX_MARKS,
    MAX_PIXELS,
    MAX_RAW_CHARACTERS,
    MAX_RAW_VALUES,
    OCR_PAGE_TIMEOUT_S,
)

RawValue = tuple[str, str, str]
"""A value of metadata as a reader finds it: (field, text, source). `indexer.extract.metadata` cleans it."""
RawMetadata = tuple[RawValue, ...]
RawMark = tuple[str, str, str, str, str, str]
"""A person's mark as a reader finds it: (kind, colour as #rrggbb, its words, what precedes them, note, author)."""

MarkApart = tuple[int, str, str, str, str, tuple[tuple[float, float, float, float], ...]]
"""(page from 0, kind, colour, author, note, (left, top, right, bottom) of each line as shares of the shown page)."""


def box(sides: list[Any]) -> tuple[int, int, int, int]:
    """Return (left, top, right, bottom), in pixels."""
    left, top, right, bottom = (number(side, MAX_PIXELS) for side in sides)
    return left, top, right, bottom


def headings(entries: list[list[Any]]) -> tuple[tuple[int, str, int], ...]:
    """Return (level, title, place) of each heading."""
    return tuple((number(level), string(title), number(place)) for level, title, place in entries[:MAX_HEADINGS])


def spans(pairs: list[list[Any]]) -> tuple[tuple[int, int], ...]:
    """Return (start, stop) of each piece of a text."""
    return tuple((number(start), number(stop)) for start, stop in pairs[:MAX_HEADINGS])


def limited(values: Iterable[RawValue]) -> RawMetadata:
    """Return at most `MAX_RAW_VALUES` values, each cut to `MAX_RAW_CHARACTERS`; empty ones are dropped."""
    cut = ((field[:100], text[:MAX_RAW_CHARACTERS], source[:100]) for field, text, source in values if text.strip())
    return tuple(islice(cut, MAX_RAW_VALUES))


def metadata(values: list[list[Any]]) -> RawMetadata:
    """Return values of metadata, within limits."""
    return limited((string(field), string(text), string(source)) for field, text, source in values)


def marks(values: list[list[Any]]) -> tuple[RawMark, ...]:
    """Return a person's marks, within limits."""
    cut = (tuple(string(part)[:MAX_MARK_CHARACTERS] for part in mark) for mark in values[:MAX_MARKS])
    return tuple((kind, color, words, before, note, author) for kind, color, words, before, note, author in cut)


def string(value: object) -> str:
    """Return the string."""
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} instead of a string")
    return value


def seconds(value: object) -> float:
    """Return a time that OCR may take."""
    if not isinstance(value, int | float) or not 0 <= value <= OCR_PAGE_TIMEOUT_S * 2:
        raise ValueError(f"{value!r} instead of seconds")
    return float(value)


def number(value: object, maximum: int = 1 << 40) -> int:
    """Return the integer, from 0 to `maximum`."""
    if type(value) is not int or not 0 <= value <= maximum:
        raise ValueError(f"{value!r} instead of a number up to {maximum}")
    return value
