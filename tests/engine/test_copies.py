"""Of equal files the one with the best name is shown: not the copy, the sync conflict or the backup."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.copies import best_first


@pytest.mark.parametrize(
    "other",
    [
        "wren (conflicted copy 2026-01-02).md",
        "wren (Ann's conflicted copy).md",
        "wren (in Konflikt stehende Kopie).md",
        "wren (Copie en conflit de Anne 2025-03-01).md",
        "wren.sync-conflict-20260102-101112-ABCDEFG.md",
        "wren_conflict-20260102-101112.md",
        "copy of wren.md",
        "Copy (2) of wren.md",
        "Kopie von wren.md",
        "Copia di wren.md",
        "Копия wren.md",
        "コピー ～ wren.md",
        "wren - Copy.md",
        "wren - Kopie (2).md",
        "wren - Copie.md",
        "wren copy 2.md",
        "wren (another copy).md",
        "wren (3rd copy).md",
        "wrenのコピー.md",
        "wren 副本.md",
        "wren (1).md",
        "wren 2.md",
        "wren.md.bak",
        "wren.md~",
        "wren.md.1",
        "wren_backup.md",
        "wren-old.md",
        "wren_backup_2024-05-01.md",
        "Backup/wren.md",
        "Sicherung 2024/wren.md",
        ".Trash-1000/files/wren.md",
        "$RECYCLE.BIN/wren.md",
        ".stversions/wren~20240101-101010.md",
        "archive/old/wren.md",
        "~archive/wren.md",
        "Archiv 2020/wren.md",
    ],
)
@pytest.mark.parametrize("folder", ["", "notes/birds/"])
def test_the_name_of_a_copy_is_worse(other: str, folder: str) -> None:
    # the original lies as deep as the copy or deeper, and comes later by the alphabet
    good = f"{folder}wren.md"
    assert best_first([other, good]) == best_first([good, other]) == [good, other]


def test_of_names_that_no_rule_knows_the_shallow_and_the_short_come_first() -> None:
    assert best_first(["a/b/wren.md", "wren, a bird.md", "wren.md"]) == ["wren.md", "wren, a bird.md", "a/b/wren.md"]


@given(st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=20), unique=True))
def test_any_names_have_one_order(names: list[str]) -> None:
    assert best_first(names) == best_first(reversed(names))
    assert sorted(best_first(names)) == sorted(names)
