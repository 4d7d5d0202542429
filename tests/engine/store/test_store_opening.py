"""Opening an index: private files, schema versions, corruption, readers beside a writer."""

import os
import stat
import threading
from pathlib import Path

import apsw
import pytest

from longsearch.engine.errors import StoreError
from longsearch.engine.index.opening import open_index
from longsearch.engine.store import connection, schema
from longsearch.engine.store.store import Store
from tests.engine.store.store_helpers import (
    ROOT,
    add,
    check_invariants,
    document,
    embed,
    open_store,
    record,
    vectors_of_passages,
)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def damage(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(os.urandom(8192))


def test_only_the_owner_can_read_the_index(tmp_path: Path) -> None:
    path = tmp_path / "new" / "index.db"
    with open_store(path) as store:
        add(store, "a.pdf", "a")
        modes = {file.name: mode_of(file) for file in path.parent.iterdir()}
    assert modes == {"index.db": 0o600, "index.db-wal": 0o600, "index.db-shm": 0o600}
    assert mode_of(path.parent) == 0o700


def test_an_existing_folder_keeps_its_permissions_but_the_file_becomes_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    path = tmp_path / "index.db"
    open_store(path).close()
    path.chmod(0o644)
    open_store(path).close()
    assert (mode_of(tmp_path), mode_of(path)) == (0o755, 0o600)


def test_documents_and_vectors_survive_closing(tmp_path: Path) -> None:
    with open_store(tmp_path / "index.db") as store:
        store.use_model("model-a", 8)
        document_id = add(store, "a.pdf", "a")
        vectors = embed(store, document_id)
    store.close()
    with open_index(tmp_path / "index.db") as store:
        assert (vectors_of_passages(store, document_id) == vectors).all()
        assert store.root == ROOT
        check_invariants(store)


def test_an_index_without_a_root_raises_an_error(tmp_path: Path) -> None:
    with Store.open(tmp_path / "index.db") as store, pytest.raises(StoreError, match="which folder"):
        _ = store.root


def test_reading_a_missing_index_raises_an_error_with_a_hint(tmp_path: Path) -> None:
    for path in (tmp_path / "index.db", tmp_path / "empty.db"):
        (tmp_path / "empty.db").touch()
        with pytest.raises(StoreError, match="no index yet") as caught, open_index(path):
            pass
        assert "longsearch index" in caught.value.hint


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    open_store(tmp_path / "index.db").close()
    with pytest.raises(StoreError, match="cannot be"), open_index(tmp_path / "index.db") as index:
        index.db.execute("DELETE FROM meta")


def test_an_index_of_a_newer_longsearch_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with open_store(path) as store, store.reading() as db:
        db.pragma("user_version", 4711)
    before = path.read_bytes()
    for opening in (open_index, Store.open):
        with pytest.raises(StoreError, match="newer longsearch") as caught, opening(path):
            pass
        assert "Update longsearch" in caught.value.hint
    assert path.read_bytes() == before


def test_a_reader_refuses_an_index_that_is_not_migrated_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(tmp_path / "index.db").close()
    monkeypatch.setattr(connection, "MIGRATIONS", (*schema.MIGRATIONS, "SELECT 1"))
    with pytest.raises(StoreError, match="older longsearch"), open_index(tmp_path / "index.db"):
        pass


def test_every_migration_is_applied_once_from_any_version() -> None:
    steps = ("CREATE TABLE one (x)", "CREATE TABLE two (x); INSERT INTO two VALUES (1)", "INSERT INTO two VALUES (2)")
    for version in range(len(steps) + 1):
        db = apsw.Connection(":memory:")
        schema.migrate(db, steps[:version])
        schema.migrate(db, steps)
        schema.migrate(db, steps)
        assert db.pragma("user_version") == 3
        assert db.execute("SELECT x FROM two ORDER BY x").fetchall() == [(1,), (2,)]


def test_a_failed_migration_keeps_the_old_version() -> None:
    db = apsw.Connection(":memory:")
    schema.migrate(db, ("CREATE TABLE one (x)",))
    with pytest.raises(apsw.SQLError):
        schema.migrate(
            db, ("CREATE TABLE one (x)", "CREATE TABLE two (x)", "CREATE TABLE three (x); no such statement")
        )
    assert db.pragma("user_version") == 1
    assert not db.table_exists("main", "two")


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_moved_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="corrupt") as caught, open_index(path):
        pass
    assert "the daemon, mends it" in caught.value.hint
    with open_store(path) as store:
        (note,) = store.notes
        add(store, "a.pdf", "a")
        check_invariants(store)
    (aside,) = tmp_path.glob("index.db.corrupt-*")
    assert aside.read_bytes() == content
    assert aside.name in note


def test_damage_is_detected_after_a_crash_and_what_is_whole_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with open_store(path) as store:
        for number in range(30):
            add(store, f"{number}.pdf", str(number), 20)
    with apsw.Connection(str(path)) as db:
        db.execute("INSERT OR REPLACE INTO meta VALUES ('writer', 1)")  # a writer that died leaves this row
    db.close()
    damage(path, path.stat().st_size // 2 // 4096 * 4096)
    with open_store(path) as store:
        (note,) = store.notes
        assert f"{len(store.catalogue())} of 30 documents were taken over" in note
        check_invariants(store)


def test_damage_seen_during_use_is_detected_at_the_next_opening(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with open_store(path) as store:
        document_id = add(store, "a.pdf", "a", 3000)
    damage_all_but_first_pages(path)
    store = open_store(path)
    with pytest.raises(StoreError, match="corrupt"):
        for _ in range(2):
            store.text(document_id)
            store.passages(document_id)
            store.files()
    store.close()
    with open_store(path) as store:
        assert len(store.notes) == 1


def damage_all_but_first_pages(path: Path) -> None:
    """Keep the first 40 pages, which hold the tables' root pages; the rows are in the rest."""
    for offset in range(40 * 4096, path.stat().st_size, 4096):
        damage(path, offset)


def test_a_folder_that_is_not_writable_raises_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="cannot be read or written") as caught:
        Store.open(tmp_path / "file" / "index.db")
    assert "permissions" in caught.value.hint


def test_a_second_writer_gets_an_error_that_the_index_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "index.db") as first:
        monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 0)
        with first.changing(), pytest.raises(StoreError, match="in use"):
            Store.open(tmp_path / "index.db")


def test_two_readers_see_whole_documents_while_one_writes(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    writer = open_store(path)
    failures: list[str] = []
    written = threading.Event()

    def read() -> None:
        done = False
        while not done:
            done = written.is_set()
            with open_index(path) as index:
                n_files = index.db.execute("SELECT count(*) FROM files").get
                n_passages = index.db.execute("SELECT count(*) FROM passages").get
                n_words = index.db.execute("SELECT count(*) FROM words WHERE words MATCH 'apples'").get
            if not n_files * 20 == n_passages == n_words:
                failures.append(f"{n_files} files, {n_passages} passages, {n_words} found")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(60):
        writer.add_document(record(f"{number}.pdf"), *document(str(number), 20))
    written.set()
    for reader in readers:
        reader.join()
    writer.close()
    assert failures == []


def test_the_log_stays_short_even_beside_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "index.db"
    monkeypatch.setattr("longsearch.engine.store.session._LOG_MAX_BYTES", 200_000)
    monkeypatch.setattr(connection, "_CHECKPOINT_TIMEOUT_MS", 0)
    with open_store(path) as writer:
        for number in range(20):
            add(writer, f"{number}.pdf", str(number), 50)
            with open_index(path) as index:
                index.progress()
            assert connection.log_bytes(path) < 400_000
        with open_index(path) as index:
            assert len(index.files()) == 20
            add(writer, "beside.pdf", "beside", 50)
            writer.tidy()
            assert len(index.files()) == 20
        writer.tidy()
        assert connection.log_bytes(path) == 0
