"""Put what was typed into the fields of a page beside the words that name these fields. Pure functions."""

from collections.abc import Sequence
from dataclasses import replace

from longsearch.indexer.extract.pdf.annotations import TICK, Typed
from longsearch.indexer.extract.pdf.layout import Line

_ABOVE = 1.6
"""Heights of a field within which a label stands above it."""


def with_fields(lines: Sequence[Line], typed: Sequence[Typed]) -> list[Line]:
    """Return the lines with the values: in the row of their label, or after the line above, with the field's name."""
    placed = list(lines)
    for value in sorted(typed, key=lambda value: (-value.top, value.left)):
        index = _row_of(placed, value)
        if index is not None:
            row = placed[index]
            own = value.text
            if own.removeprefix(TICK).strip() in row.text and own.startswith(TICK):
                own = TICK  # the value of a box is the word beside it
            placed[index] = replace(
                row, text=f"{row.text} {one_row(own)}", right=max(row.right, value.right), ends=True
            )
        else:
            placed.insert(_after(placed, value), _line_of(placed, value))
    return placed


def one_row(text: str) -> str:
    """Return a value of several lines on one line."""
    return " ".join(text.split())


def named(value: Typed) -> str:
    """Return a value after its field's name."""
    return f"{value.name}: {value.text}" if value.name else value.text


def _row_of(lines: Sequence[Line], value: Typed) -> int | None:
    """Return the index of the line that stands in the row of a field, the nearest one; None if there is none."""
    if not value.name:
        return None  # typed onto the page: a line of its own
    middle = (value.bottom + value.top) / 2
    rows = [
        (abs(value.left - line.right), index)
        for index, line in enumerate(lines)
        if line.right > line.left and line.baseline - 0.3 * line.size <= middle <= line.baseline + 1.1 * line.size
    ]
    return min(rows)[1] if rows else None


def _after(lines: Sequence[Line], value: Typed) -> int:
    """Return where the line of a value belongs: after the last line that stands above it."""
    above = [index for index, line in enumerate(lines) if line.baseline >= value.top - 0.2 * (value.top - value.bottom)]
    return max(above, default=-1) + 1


def _line_of(lines: Sequence[Line], value: Typed) -> Line:
    height = value.top - value.bottom
    is_labelled = any(
        value.top - 2 <= line.baseline <= value.top + _ABOVE * max(height, line.size)
        and line.left < value.right
        and line.right > value.left
        for line in lines
    )
    text = value.text if is_labelled else named(value)
    return Line(one_row(text))
