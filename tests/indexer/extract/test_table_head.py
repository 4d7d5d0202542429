"""Rows of tables: a cell over two columns, and the names of the columns said again."""

from hypothesis import given
from hypothesis import strategies as st

from longsearch.indexer.extract.table_head import CELL_SEPARATOR, TableHead, under


def said(*rows: tuple[str, tuple[int, ...]]) -> list[str]:
    """Return the lines of rows, each given as its cells with `/` between them and where they begin."""
    head = TableHead()
    return [line for row, starts in rows for line in head.lines(row.split("/"), starts)]


def test_the_cell_after_a_wide_one_stands_under_its_own_head() -> None:
    assert said(("Mill/Owner/Year/Wheels", (0, 1, 2, 3)), ("Esch/unknown/two", (0, 1, 3))) == [
        "Mill | Owner | Year | Wheels",
        "Esch | unknown |  | two",
    ]


def test_a_head_over_two_columns_is_said_again_once_in_its_place() -> None:
    columns = (0, 1, 2, 3)
    assert said(("Mill/2020/Total", (0, 1, 3)), ("/Flour/Oil/", columns), ("Esch/4/5/9", columns)) == [
        "Mill | 2020 | Total",
        "Mill | 2020 |  | Total",
        " | Flour | Oil",
        "Esch | 4 | 5 | 9",
    ]


def test_rows_of_as_many_cells_stay_as_they_are_however_uneven_their_edges() -> None:
    assert said(("Mill/Owner/Year", (0, 2, 5)), ("Esch/Konrad/1802", (0, 1, 3))) == [
        "Mill | Owner | Year",
        "Esch | Konrad | 1802",
    ]


def test_a_later_row_of_more_cells_moves_no_others() -> None:
    assert said(("Name/Street", (0, 4)), ("Lind/Quay", (0, 4)), ("a/b/c/d", (0, 1, 2, 4)), ("e/f", (0, 4))) == [
        "Name | Street",
        "Lind | Quay",
        "a | b | c | d",
        "e | f",
    ]


def test_an_empty_row_is_no_line_and_no_head() -> None:
    assert said(("//", ()), ("Mill/Owner", ()), ("/", ()), ("Esch/Konrad", ())) == ["Mill | Owner", "Esch | Konrad"]


def test_names_that_have_moved_are_said_in_their_new_place_in_a_long_table() -> None:
    rows = [(f"row {number} {'x' * 100}/4/5/9", (0, 1, 2, 3)) for number in range(40)]
    lines = said(("Mill/Year/Total", (0, 1, 3)), *rows)
    assert lines.count("Mill | Year | Total") == 1
    assert lines.count("Mill | Year |  | Total") > 2


@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=6), min_size=2, max_size=6))
def test_each_cell_stands_in_the_column_where_it_begins(rows: list[list[int]]) -> None:
    columns = list(range(24))
    for widths in rows:
        starts = [sum(widths[:index]) for index in range(len(widths))]
        cells = [f"c{start}" for start in starts]
        placed = under(cells, starts, columns)
        assert [placed[start] for start in starts] == cells
        assert CELL_SEPARATOR.join(filter(None, placed)) == CELL_SEPARATOR.join(cells)
