"""Damage inside an index: it is found when it is read, and mended by what is still whole."""

import random
import re
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from longsearch.engine.errors import StoreError
from longsearch.engine.index.opening import open_index
from longsearch.engine.store import salvage
from longsearch.engine.store.connection import CorruptIndexError
from tests.engine.store.store_helpers import add, check_invariants, embed, open_store
from tests.faults.index_contents import index_contents

PAGE, RESERVED = 4096, 20


def made(path: Path, n: int = 12) -> dict[str, dict[str, Any]]:
    """Make an index of `n` documents with vectors, closed cleanly; return what it holds."""
    with open_store(path) as store:
        store.use_model("model-a", 8)
        for number in range(n):
            embed(store, add(store, f"{number}.pdf", str(number), 150 + 30 * number))
    return index_contents(path)


def flip(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        (byte,) = file.read(1)
        file.seek(offset)
        file.write(bytes([byte ^ 0x10]))


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether two documents are the same, bit for bit."""
    return found.keys() == expected.keys() and all(
        np.array_equal(found[key], value) if isinstance(value, np.ndarray) else found[key] == value
        for key, value in expected.items()
    )


@pytest.mark.parametrize("column", ["page_starts", "headings", "furniture"])
def test_a_document_whose_places_are_zeroed_is_told_and_is_lost_alone(tmp_path: Path, column: str) -> None:
    path = tmp_path / "index.db"
    expected = made(path, 3)
    with open_store(path) as store, store.changing() as db:
        db.execute(f"UPDATE contents SET {column} = ? WHERE id = 1", ("\0" * 9,))  # a page of zeros is "whole"
    with pytest.raises(CorruptIndexError, match="corrupt"), open_index(path) as index:
        index.outlines([1])
        index.text(1)
    with open_store(path) as store:
        check_invariants(store)
    left = index_contents(path)
    assert len(left) == 2 and all(same(left[name], expected[name]) for name in left)


def test_a_flipped_bit_on_any_page_is_told_or_does_no_harm_and_is_mended(tmp_path: Path) -> None:
    path, chance = tmp_path / "index.db", random.Random(48)
    expected = made(path)
    whole = path.read_bytes()
    n_told = n_kept = 0
    for first in chance.sample(range(0, len(whole), PAGE), 20):
        for file in tmp_path.iterdir():
            file.unlink()
        path.write_bytes(whole)
        flip(path, first + chance.randrange(PAGE))
        try:
            found = index_contents(path)
            assert all(same(found[name], expected[name]) for name in expected) and len(found) == len(expected)
        except StoreError as error:
            assert "corrupt" in error.message
            n_told += 1
            with open_store(path) as store:
                check_invariants(store)
            left = index_contents(path)
            assert all(same(left[name], expected[name]) for name in left)
            n_kept += len(left)
    assert n_told > 4
    assert n_kept > 6 * n_told, "of twelve documents most are taken over"


def test_a_damaged_text_costs_the_documents_of_its_page_alone(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    expected = made(path)
    document_id = 12
    with apsw.Connection(str(path)) as db:
        (body,) = db.execute("SELECT body FROM text_parts WHERE content_id = ?", (document_id,)).fetchone()
    db.close()
    for place in re.finditer(re.escape(body[8:40]), path.read_bytes()):  # a free page may hold it too
        flip(path, place.start() + 4)
    with pytest.raises(StoreError, match="corrupt"), open_index(path) as index:
        index.text(document_id)
    with open_store(path) as store:
        (note,) = store.notes
        assert "of 12 documents were taken over, the others are read again" in note
    left = index_contents(path)
    assert "11.pdf" not in left and len(left) >= 10, "another text may lie on the same page"
    assert all(same(left[name], expected[name]) for name in left)


def test_an_index_of_an_older_longsearch_gets_checksums_when_it_is_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index.db"
    with monkeypatch.context() as patched:
        patched.setattr("longsearch.engine.store.connection._CHECKSUM_BYTES", 0)
        expected = made(path)
    assert path.read_bytes()[RESERVED] == 0
    with open_store(path) as store:
        store.tidy()
        check_invariants(store)
    assert path.read_bytes()[RESERVED] == 8
    found = index_contents(path)
    assert all(same(found[name], expected[name]) for name in expected)


def test_an_index_without_a_mark_is_not_read_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "index.db"
    made(path, 2)

    def fail(_: object) -> str:
        raise AssertionError

    monkeypatch.setattr(salvage, "damage_in", fail)
    open_store(path).close()


def test_a_reader_may_catch_an_error_that_ends_its_transaction(tmp_path: Path) -> None:
    with open_store(tmp_path / "index.db") as store, store.reading() as db:
        db.execute("ROLLBACK")  # as SQLite does by itself when it cannot read a page
    with pytest.raises(apsw.SQLError), open_store(tmp_path / "index.db") as store, store.changing() as db:
        db.execute("ROLLBACK")  # what was written is lost, and this is told


def test_damaged_indexes_that_were_moved_aside_are_deleted_after_thirty_days(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(b"no database")
    old = tmp_path / "index.db.corrupt-20200101-120000-000000001"
    old.write_bytes(b"old")
    with open_store(path) as store:
        (note,) = store.notes
    assert "deleted after 30 days" in note
    (aside,) = tmp_path.glob("index.db.corrupt-*")
    assert aside.name in note and aside.read_bytes() == b"no database"
