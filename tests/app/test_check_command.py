"""`longsearch check`: a whole index is called whole, and damage is told with the documents that it is in."""

import json
from pathlib import Path

import apsw
import pytest

from longsearch.app.cli import main
from longsearch.app.paths import index_path
from longsearch.engine.store import connection
from longsearch.engine.store.store import Store
from tests.app.made_folders import make_folder, toward


@pytest.fixture
def root(home: Path) -> Path:
    texts = {f"{number}.md": f"# Bees {number}\n\nHoney number {number}." for number in range(3)}
    return make_folder(home / "papers", texts, [toward(1, number) for number in range(3)])


def checked(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, object]:
    main(["check", "--json", *options])
    (folder,) = json.loads(capsys.readouterr().out)["folders"]
    return dict(folder)


@pytest.mark.parametrize("options", [(), ("--read-data",)])
def test_a_whole_index_is_called_whole(root: Path, options: tuple[str, ...]) -> None:
    assert main(["check", *options]) == 0
    assert main(["check", *options, str(root)]) == 0


@pytest.mark.parametrize(
    ("sql", "said", "is_quick"),
    [
        ("UPDATE text_parts SET body = x'00' WHERE content_id = 2", "the texts of 1 document", False),
        ("UPDATE contents SET n_chars = n_chars + 1 WHERE id = 2", "the texts of 1 document", False),
        ("DELETE FROM words_docsize WHERE id = 2", "there are words of 2 passages, but there are 3", True),
    ],
)
def test_damage_is_told_with_its_documents(
    root: Path, capsys: pytest.CaptureFixture[str], sql: str, said: str, is_quick: bool
) -> None:
    with Store.open(index_path(root)) as store, store.changing() as db:
        db.config(1010, False)  # SQLITE_DBCONFIG_DEFENSIVE: the tables of FTS5 may be written
        db.execute(sql)
    found = checked(capsys, "--read-data")
    assert not found["whole"]
    assert any(one["what"] == said for one in found["findings"])  # type: ignore[attr-defined]
    if not is_quick:
        assert [one["documents"] for one in found["findings"]] == [["1.md"]]  # type: ignore[attr-defined]
    assert main(["check"]) == (3 if is_quick else 0)
    assert main(["check", "--read-data"]) == 3


def test_a_folder_without_an_index_is_refused(home: Path) -> None:
    (home / "empty").mkdir()
    assert main(["check", str(home / "empty")]) == 3


def test_an_index_that_cannot_be_checked_costs_its_own_line_and_not_the_others(
    root: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_folder(home / "other", {"a.md": "# Valves\n\nA valve."}, [toward(1, 1)])
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 1)
    holder = apsw.Connection(str(index_path(root)))
    holder.pragma("locking_mode", "exclusive")
    holder.execute("BEGIN IMMEDIATE; UPDATE meta SET value = value; COMMIT")
    assert main(["check"]) == 11
    said = capsys.readouterr().out
    assert f"{index_path(root)}: NOT CHECKED: The index is in use by another process" in said
    assert f"{other}: whole" in said

    holder.close()
    with Store.open(index_path(root)) as store, store.changing() as db:
        db.pragma("user_version", 1)
    assert main(["check"]) == 3
    said = capsys.readouterr().out
    assert f"{index_path(root)}: NOT CHECKED: The index was written by an older longsearch" in said
    assert f"{other}: whole" in said


def test_a_damaged_index_is_told_beside_one_in_use_and_the_code_is_that_of_damage(
    root: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_folder(home / "other", {"a.md": "# Valves\n\nA valve."}, [toward(1, 1)])
    with Store.open(index_path(root)) as store, store.changing() as db:
        db.pragma("user_version", 1)
    index_path(other).write_bytes(b"no database" * 1000)
    assert main(["check", "--json"]) == 3
    rows = {row["index"]: row for row in json.loads(capsys.readouterr().out)["folders"]}
    assert rows[str(index_path(root))]["problem"] and not rows[str(index_path(root))]["findings"]
    assert rows[str(index_path(other))]["findings"] and not rows[str(index_path(other))]["problem"]


def test_a_cut_off_value_of_the_index_itself_is_told_and_made_anew(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(index_path(root)) as store, store.changing() as db:
        db.execute("""INSERT OR REPLACE INTO meta VALUES ('background', '{"fingerprint": "fa')""")
    found = checked(capsys)
    assert "background" in str(found["findings"])
    assert main(["search", "honey", str(root)]) == 3
    assert "corrupt" in capsys.readouterr().err
    with Store.open(index_path(root)) as store:
        assert "documents were taken over" in store.notes[0]
    assert main(["check", "--read-data", str(root)]) == 0
