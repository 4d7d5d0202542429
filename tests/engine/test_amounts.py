"""Counts in words."""

from longsearch.engine.amounts import counted, so_far


def test_a_count_takes_the_plural_unless_it_is_one() -> None:
    assert [counted(n, "document") for n in (0, 1, 1_204)] == ["0 documents", "1 document", "1,204 documents"]
    assert [counted(n, "index", "indexes") for n in (1, 2)] == ["1 index", "2 indexes"]


def test_how_long_the_rest_takes_is_said_after_ten_seconds_and_not_at_the_end() -> None:
    assert so_far(86, 399_800, "cells", 9) == "86 of 399,800 cells"
    assert so_far(30, 120, "cells", 20) == "30 of 120 cells, about 1 min left"
    assert so_far(120, 120, "cells", 20) == "120 of 120 cells"
