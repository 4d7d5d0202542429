"""Counts in words."""

from longsearch.engine.amounts import counted


def test_a_count_takes_the_plural_unless_it_is_one() -> None:
    assert [counted(n, "document") for n in (0, 1, 1_204)] == ["0 documents", "1 document", "1,204 documents"]
    assert [counted(n, "index", "indexes") for n in (1, 2)] == ["1 index", "2 indexes"]
