"""Bring the lines of a page into the order in which a person reads them: tables row by row, columns one after another.

Programs draw tables by rows or by columns, and columns of text one after another or across. Pure functions. A *block*
is a run of lines whose parts stand below one another. Its parts are prose if they are wide and go on in the next line;
else the block is a table, and each of its rows becomes a line. The line numbers of a transcript are left out.
"""

from collections.abc import Sequence
from itertools import compress, pairwise, repeat
from operator import add, gt, mul
from statistics import median

from longsearch.indexer.extract.pdf.layout import Cell, Line
from longsearch.indexer.extract.pdf.pages import SENTENCE_END
from longsearch.indexer.extract.table_head import TableHead, surely_begins_with_names

_BETWEEN_CELLS = "  "
_SAME_ROW = 0.35
"""Font sizes by which the baselines of one row differ at most."""
_SAME_EDGE = 0.5
"""Font sizes by which the edges of cells in one column differ at most."""
_SHARED_ROWS = 0.6
_PROSE_WORDS = 3.5
"""Words of a line of text in a column, on average. Cells of tables have one to three."""
_FILLED = 0.7
"""Share of its column's width that a line of prose fills, on average."""
_TIGHT = 1.4
"""Font sizes between two lines of one cell."""
_BLOCK_CHARACTERS = 500
"""After so much of a table its names are said again: a passage holds no more numbers than that."""
_MIN_NUMBERED_LINES = 8
_LOOK_BACK = 200


def arranged(lines: Sequence[Line]) -> list[Line]:
    """Return the lines in the order of reading; a row of a table is one line that `ends`."""
    if len(lines) < 2:
        return list(lines)
    gathered = _rows_of_columns(lines)
    found: list[Line] = []
    stop = 0
    for start in [number for number, line in enumerate(gathered) if line.cells]:
        if start >= stop:
            found += gathered[stop:start]
            stop = _end_of_block(gathered, start)
            found += _arranged_block(gathered[start:stop])
    return [*found, *gathered[stop:]]


def _plain(line: Line) -> Line:
    return line._replace(cells=()) if line.cells else line


# ---- tables that are drawn column by column


def _rows_of_columns(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with each run of columns that share their baselines, and are no prose, as rows of cells."""
    runs = _runs(lines)
    found: list[Line] = []
    index = 0
    while index < len(runs):
        columns = [runs[index]]
        while index + len(columns) < len(runs) and _stands_beside(columns, runs[index + len(columns)]):
            columns.append(runs[index + len(columns)])
        if len(columns) > 1 and not any(line.cells for column in columns for line in column):
            head, rows = _merged(columns)
            found += [*head, *rows]
        else:
            found += [line for column in columns for line in column]
        index += len(columns)
    return found


def _runs(lines: Sequence[Line]) -> list[list[Line]]:
    """Split the lines where the next one stands higher: there another column begins."""
    _, _, _, baselines, end_baselines, sizes, *_ = zip(*lines, strict=True)
    highest = map(add, end_baselines, map(mul, repeat(0.5), sizes))
    starts = compress(range(1, len(lines)), map(gt, baselines[1:], highest))
    return [list(lines[start:stop]) for start, stop in pairwise((0, *starts, len(lines)))]


def _stands_beside(columns: Sequence[Sequence[Line]], other: Sequence[Line]) -> bool:
    """Return whether the lines of `other` stand in the rows of the columns before, to their right, and are short."""
    first = columns[0]
    if _words(other) >= _PROSE_WORDS or any(line.right <= line.left for line in other):
        return False
    highest = max([line.baseline for line in other]) + 1
    last = [line.right for line in columns[-1] if line.baseline <= highest or columns[-1] is not first]
    if min([line.left for line in other]) <= max(last, default=0.0):  # most columns of text end here
        return False
    rows = [_row_of(first, line) for line in other]
    shared = [first[row] for row in rows if row is not None]
    return len(shared) >= max(2, _SHARED_ROWS * len(other)) and _words(shared) < _PROSE_WORDS


def _row_of(lines: Sequence[Line], line: Line) -> int | None:
    for index, other in enumerate(lines):
        if abs(other.baseline - line.baseline) <= _SAME_ROW * max(line.size, other.size):
            return index
    return None


def _merged(columns: Sequence[Sequence[Line]]) -> tuple[list[Line], list[Line]]:
    """Return (the lines of the first column above the others, the rows)."""
    top = max(line.baseline + _SAME_ROW * line.size for column in columns[1:] for line in column)
    head = [line for line in columns[0] if line.baseline > top]
    rows: list[list[Line]] = []
    for line in sorted((line for column in columns for line in column if line not in head), key=_from_top):
        if rows and abs(rows[-1][0].baseline - line.baseline) <= _SAME_ROW * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return head, [_row(sorted(row, key=lambda line: line.left)) for row in rows]


def _from_top(line: Line) -> tuple[float, float]:
    return -line.baseline, line.left


def _row(lines: Sequence[Line]) -> Line:
    cells = tuple(Cell(line.text, line.left, line.right) for line in lines)
    text = " ".join(cell.text for cell in cells)
    return lines[0]._replace(text=text, right=cells[-1].right, end_baseline=lines[0].baseline, cells=cells)


def _words(lines: Sequence[Line]) -> float:
    return (" ".join([line.text for line in lines]).count(" ") + 1) / len(lines)


# ---- blocks of lines whose parts stand below one another


def _end_of_block(lines: Sequence[Line], start: int) -> int:
    """Return where the block ends that begins with a line that has cells."""
    stop = start + 1
    while stop < len(lines) and _continues(lines[max(start, stop - _LOOK_BACK) : stop], lines[stop]):
        stop += 1
    return stop


def _continues(block: Sequence[Line], line: Line) -> bool:
    """Return whether the parts of `line` stand below those of the block."""
    above = block[-1]
    drop = above.baseline - line.baseline
    if not 0 < drop < 4 * max(line.size, above.size):
        return False
    last = next((row.cells for row in reversed(block) if row.cells), ())
    if line.cells:
        aligned = sum(_aligned(line.cells, number, last, line.size) for number in range(1, len(line.cells)))
        return bool(last) and 2 * aligned >= len(line.cells) - 1
    # a line with one part belongs to a block if it stands in one of its columns, below the first one
    return any(_is_in_column(line, number, last) for number in range(len(last)) if number or drop < _TIGHT * line.size)


def _aligned(cells: Sequence[Cell], number: int, others: Sequence[Cell], size: float) -> bool:
    """Return whether a cell begins, has its middle, or ends after a gap where one of the others does.

    Lines that are set to the full width have wide gaps too, in no order, and a common right edge.
    """
    slack, cell, gap = _SAME_EDGE * size, cells[number], cells[number - 1].right
    return any(
        abs(cell.left - other.left) < slack
        or abs(cell.left + cell.right - other.left - other.right) < slack
        or (abs(cell.right - other.right) < slack and min(cell.left, other.left) - max(gap, before.right) > 2 * slack)
        for before, other in pairwise(others)
    )


def _is_in_column(line: Line, number: int, cells: Sequence[Cell]) -> bool:
    right = cells[number + 1].left if number + 1 < len(cells) else float("inf")
    return abs(line.left - cells[number].left) < _SAME_EDGE * line.size and line.right < right


def _arranged_block(block: Sequence[Line]) -> list[Line]:
    rows = [line for line in block if line.cells]
    if len(rows) < 2:
        return [_plain(line) for line in block]
    if _is_numbered(rows):
        return [_without_number(line) for line in block]
    if _is_prose(block, rows):
        return _by_columns(block, rows)
    return _table(block)


# ---- numbered lines, as of a transcript


def _is_numbered(rows: Sequence[Line]) -> bool:
    """Return whether the first cells count upwards, and the others are sentences."""
    numbers = [int(row.cells[0].text) for row in rows if row.cells[0].text.isascii() and row.cells[0].text.isdigit()]
    if len(numbers) < _MIN_NUMBERED_LINES or len(numbers) < 0.9 * len(rows):
        return False
    steps = {following - number for number, following in pairwise(numbers)}
    rest = [row for row in rows if len(row.cells) <= 3]
    words = sum(cell.text.count(" ") + 1 for row in rest for cell in row.cells[1:])
    return steps <= {1, 2, 3} and len(rest) >= 0.9 * len(rows) and words >= _PROSE_WORDS * len(rows)


def _without_number(line: Line) -> Line:
    if not line.cells or not line.cells[0].text.isdigit():
        return _plain(line)
    rest = line.cells[1:]
    return line._replace(text=" ".join(cell.text for cell in rest), left=rest[0].left, cells=())


# ---- columns of text


def _is_prose(block: Sequence[Line], rows: Sequence[Line]) -> bool:
    """Return whether the parts are lines of text in columns: wide, of several words, going on in the next line."""
    n_columns = round(median(len(row.cells) for row in rows))
    if n_columns > 3:
        return False
    whole = [row.cells for row in rows if len(row.cells) == n_columns]
    for column in zip(*whole, strict=True):
        words = sum(cell.text.count(" ") + 1 for cell in column[:-1] or column) / len(column[:-1] or column)
        width = max(cell.right - cell.left for cell in column)
        filled = sum(cell.right - cell.left for cell in column[:-1] or column) / (
            len(column[:-1] or column) * (width or 1)
        )
        ended = sum(cell.text.endswith(SENTENCE_END) for cell in column)
        if words < _PROSE_WORDS or filled < _FILLED or (len(column) > 2 and ended > len(column) / 2):
            return False
    return len(whole) >= 2


def _by_columns(block: Sequence[Line], rows: Sequence[Line]) -> list[Line]:
    """Return the parts column by column, as lines of their own."""
    n_columns = max(len(row.cells) for row in rows)
    lefts = [min(row.cells[number].left for row in rows if len(row.cells) > number) for number in range(n_columns)]
    columns: list[list[Line]] = [[] for _ in range(n_columns)]
    for line in block:
        for cell in line.cells or (Cell(line.text, line.left, line.right),):
            number = max((index for index, left in enumerate(lefts) if left <= cell.left + line.size), default=0)
            own = line._replace(text=cell.text, left=cell.left, right=cell.right, cells=(), end_baseline=line.baseline)
            columns[number].append(own)
    return [line for column in columns for line in column]


# ---- tables


def _table(block: Sequence[Line]) -> list[Line]:
    """Return each row as a line, with cells of several lines put together."""
    widest = max((line.cells for line in block), key=len)
    found: list[list[list[str]]] = []
    lines: list[Line] = []
    for index, line in enumerate(block):
        cells = line.cells or (Cell(line.text, line.left, line.right),)
        places = [_column_of(cell, widest) for cell in cells]
        if found and _continues_row(block, index, places):
            for place, cell in zip(places, cells, strict=True):
                found[-1][place].append(cell.text)
        else:
            found.append([[] for _ in widest])
            for place, cell in zip(places, cells, strict=True):
                found[-1][place].append(cell.text)
            lines.append(line)
    rows = [[" ".join(cell) for cell in row] for row in found]
    texts = [_BETWEEN_CELLS.join(filter(None, row)) for row in rows]
    whole = [line._replace(text=text, cells=(), ends=True) for line, text in zip(lines, texts, strict=True)]
    return _with_names(whole, rows) if surely_begins_with_names(rows) else whole


def _with_names(lines: Sequence[Line], rows: Sequence[Sequence[str]]) -> list[Line]:
    """Return the lines of a table with the first one said again after each part of about a passage."""
    head = TableHead(_BLOCK_CHARACTERS)
    found: list[Line] = []
    for line, row in zip(lines, rows, strict=True):
        names = head.lines(row)[:-1]
        found += [*(line._replace(text=lines[0].text) for _ in names), line]
    return found


def _column_of(cell: Cell, columns: Sequence[Cell]) -> int:
    middle = (cell.left + cell.right) / 2
    return min(
        range(len(columns)),
        key=lambda index: min(
            abs(cell.left - columns[index].left),
            abs(cell.right - columns[index].right),
            abs(middle - (columns[index].left + columns[index].right) / 2),
        ),
    )


def _continues_row(block: Sequence[Line], index: int, places: Sequence[int]) -> bool:
    """Return whether a line goes on with the cells of the row above: its first cell is empty, and it stands close."""
    line, above = block[index], block[index - 1]
    drop = above.baseline - line.baseline
    is_close = drop <= _TIGHT * line.size
    usual = [one.baseline - other.baseline for one, other in pairwise(block) if one.cells and other.cells]
    return 0 not in places and is_close and (len(places) == 1 or not usual or drop < max(usual) - 0.5)
