"""Has rich measure the spacing vowel signs of Indic scripts (of Unicode's category Mc) as the terminal shows them.

Terminals do not agree how wide का is. rich gives its vowel sign no cell of its own, tmux with glibc gives it one. Where
rich and the terminal differ, text after a word in Hindi, Bengali or Tamil stands elsewhere than the app believes, and
what the app then draws overwrites it.
"""

import unicodedata

import rich.cells


def give_vowel_signs_cells() -> None:
    """Count a cell for each spacing vowel sign from now on. A rich that keeps its widths elsewhere stays as it is."""
    names = vars(rich.cells)
    if (load := names.get("load_cell_table")) is None:
        return
    table: rich.cells.CellTable = load("auto")
    wider = table._replace(widths=[part for row in table.widths for part in _without_signs(*row)])
    names["load_cell_table"] = lambda unicode_version="auto": wider
    rich.cells.get_character_cell_size.cache_clear()
    rich.cells.cached_cell_len.cache_clear()


def _without_signs(first: int, last: int, width: int) -> list[tuple[int, int, int]]:
    """Return a row of the table as rows without these signs: what no row holds is one cell wide."""
    if width:
        return [(first, last, width)]
    return [(code, code, width) for code in range(first, last + 1) if unicodedata.category(chr(code)) != "Mc"]
