"""Put what was typed into the fields of a page beside the words that name these fields. Pure functions."""

from collections.abc import Callable, Sequence

from longsearch.indexer.extract.pdf.annotations import TICK, Typed
from longsearch.indexer.extract.pdf.layout import Line

_ABOVE = 1.6
"""Heights of a field within which a label stands above it."""


def with_fields(
    lines: Sequence[Line], typed: Sequence[Typed], left_of: Callable[[Typed, Line], str] = lambda _, line: line.text
) -> list[Line]:
    """Return the lines with the values: in the row of their label, or after the line above, with the field's name.

    `left_of` returns the text of a line that stands left of a field: its value follows it.
    """
    in_rows: dict[int, list[Typed]] = {}
    alone: list[Typed] = []
    for value in sorted(typed, key=lambda value: (-value.top, value.left)):
        index = _row_of(lines, value)
        (alone if index is None else in_rows.setdefault(index, [])).append(value)
    placed = [
        _with_values(line, in_rows[index], left_of) if index in in_rows else line for index, line in enumerate(lines)
    ]
    for value in alone:
        placed.insert(_after(placed, value), _line_of(placed, value))
    return placed


def _with_values(row: Line, values: Sequence[Typed], left_of: Callable[[Typed, Line], str]) -> Line:
    """Return a line with the values of its fields, each after the words left of it."""
    text = ""
    rest = row.text
    for value in sorted(values, key=lambda value: value.left):
        before = _beginning(row.text, left_of(value, row)) - (len(row.text) - len(rest))
        head, rest = rest[: max(before, 0)], rest[max(before, 0) :]
        own = value.text
        if own.startswith(TICK) and own.removeprefix(TICK).strip() in row.text:
            own = TICK  # the value of a box is the word beside it
        text += f"{head.strip()} {one_row(own)} " if text or head else f"{one_row(own)} "
    right = max(row.right, *(value.right for value in values))
    return row._replace(text=f"{text.rstrip()} {rest.strip()}".strip(), right=right, ends=True)


def _beginning(text: str, left: str) -> int:
    """Return how many characters of a line stand left of a field; all if `left` is not how the line begins."""
    wanted = "".join(left.split())
    place = n_equal = 0
    while n_equal < len(wanted) and place < len(text):
        if not text[place].isspace():
            if text[place] != wanted[n_equal]:
                return len(text)
            n_equal += 1
        place += 1
    while wanted and place < len(text) and not text[place].isspace():  # the field lies over a word
        place += 1
    return place if wanted else 0


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
