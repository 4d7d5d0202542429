"""The connection of a search is used again for the next one, as long as the file is the same."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from longsearch.engine.errors import NoIndexError
from longsearch.engine.store import connection
from longsearch.engine.store.connection import open_for_reading
from longsearch.engine.store.store import Store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows cannot remove an open file: none stays open")


@pytest.fixture(autouse=True)
def _nothing_is_idle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(connection, "_idle", {})
    yield
    for left in connection._idle.values():
        left.close()


def made(path: Path, **meta: str) -> Path:
    with Store.open(path) as store, store.changing() as db:
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
    return path


def value(path: Path, key: str = "made") -> tuple[apsw.Connection, object]:
    with open_for_reading(path) as db:
        return db, db.execute("SELECT value FROM meta WHERE key = ?", (key,)).get


def test_the_next_search_of_a_file_has_the_same_connection_and_sees_what_was_written(tmp_path: Path) -> None:
    path = made(tmp_path / "one.sqlite", made="first")
    first, _ = value(path)
    second, _ = value(path)
    assert first is second
    with Store.open(path) as store:
        with store.changing() as db:
            db.execute("UPDATE meta SET value = 'second' WHERE key = 'made'")
        assert value(path)[1] == "second"  # from the log alone
    assert value(path)[1] == "second"


def test_a_file_in_the_place_of_another_is_opened_anew(tmp_path: Path) -> None:
    path, other = made(tmp_path / "one.sqlite", made="one"), made(tmp_path / "other.sqlite", made="other")
    first, _ = value(path)
    path.unlink()
    with pytest.raises(NoIndexError):
        value(path)
    shutil.move(other, path)
    second, found = value(path)
    assert (second is first, found) == (False, "other")
    with pytest.raises(apsw.ConnectionClosedError):
        first.execute("SELECT 1")


def test_a_connection_that_met_an_error_is_closed(tmp_path: Path) -> None:
    path = made(tmp_path / "one.sqlite", made="one")
    with pytest.raises(ZeroDivisionError), open_for_reading(path) as db:
        raise ZeroDivisionError
    with pytest.raises(apsw.ConnectionClosedError):
        db.execute("SELECT 1")
    assert not connection._idle


def test_two_searches_at_once_have_a_connection_each(tmp_path: Path) -> None:
    path = made(tmp_path / "one.sqlite", made="one")
    with open_for_reading(path) as first, open_for_reading(path) as second:
        assert first is not second
    assert len(connection._idle) == 1


def test_few_connections_stay_open(tmp_path: Path) -> None:
    for number in range(connection._MOST_IDLE + 3):
        value(made(tmp_path / f"{number}.sqlite", made=str(number)))
        assert len(connection._idle) <= connection._MOST_IDLE


def test_an_idle_connection_that_cannot_be_closed_costs_the_next_search_nothing(tmp_path: Path) -> None:
    class Lost:
        def close(self) -> None:
            raise apsw.IOError("the disk was taken away")

    file = connection._FileState.of(made(tmp_path / "gone.sqlite"))
    assert file is not None
    connection._idle[file] = Lost()  # type: ignore[assignment]
    (tmp_path / "gone.sqlite").unlink()
    _, here = value(made(tmp_path / "one.sqlite", made="first"))
    assert here == "first"
    assert file not in connection._idle
