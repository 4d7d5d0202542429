"""A person's own files: versions are kept, a damaged file is set aside, and its last good version takes its place."""

import errno
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.folders import names
from longsearch.app.paths import data_folder
from longsearch.app.user_data import user_file
from longsearch.app.user_data.app_state import LastState, keep_state, keep_theme, left_at
from longsearch.app.user_data.basket import Basket
from longsearch.app.user_data.history import History
from longsearch.app.user_data.saved import SavedSearches
from longsearch.app.user_data.user_file import N_VERSIONS, UserFile, forget_folder
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.results import SearchMode
from tests.app.made_folders import make_folder, toward
from tests.app.test_basket_command import a_passage

A_SEARCH = {"name": "n", "query": "q", "mode": "words", "roots": [], "news": []}


@pytest.fixture(autouse=True)
def nothing_told(home: Path) -> None:
    user_file.told.clear()


def basket_of(n: int) -> list[Evidence]:
    """Put `n` passages into the basket, one after another; return them."""
    for number in range(n):
        Basket().add(a_passage(number))
    return list(Basket().content().passages)


def test_a_bit_that_is_flipped_anywhere_in_the_file_is_found() -> None:
    basket_of(2)
    file = Basket().file
    whole, right = file.path.read_bytes(), file.read()
    for at in range(len(whole)):
        file.path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            assert file.read_version(file.path) == right, at  # such as a blank between two values
        except (ValueError, LongsearchError):
            continue


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\0" * 500,
        b'{"passages": 3}',
        b'{"undo": 7}',
        b'{"undo": [7]}',
        b'{"undo": [{"what": "x", "order": 3, "passages": []}]}',
        b'{"passages": [{"quote": 3}]}',
        b'"text"',
    ],
)
def test_the_last_good_version_takes_the_place_of_a_damaged_file(damage: bytes) -> None:
    passages, path = basket_of(3), data_folder() / "basket.json"
    path.write_bytes(damage)
    assert list(Basket().content().passages) == passages[:2]
    (aside,) = path.parent.glob("basket.json.damaged-*")
    assert aside.read_bytes() == damage
    assert len(user_file.told) == 1 and aside.name in user_file.told[0]
    assert Basket().add(a_passage(9))


def test_a_flipped_bit_anywhere_is_found_or_does_no_harm() -> None:
    passages, path = basket_of(4), data_folder() / "basket.json"
    whole, chance = path.read_bytes(), random.Random(48)
    for _ in range(60):
        flipped = bytearray(whole)
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        assert list(Basket().content().passages) in (passages, passages[:3])
        for aside in path.parent.glob("basket.json.damaged-*"):
            aside.unlink()


def test_a_change_of_a_damaged_file_goes_on_from_its_last_good_version() -> None:
    basket_of(3)
    (data_folder() / "basket.json").write_text("{")
    Basket().add(a_passage(7))
    assert len(Basket().content().passages) == 3


def test_only_good_versions_are_kept_and_only_the_last_ones() -> None:
    file = UserFile("x.json")
    for number in range(N_VERSIONS + 4):
        with file.changing() as known:
            known["number"] = number
    assert [file.read_version(path)["number"] for path in file.versions()] == [7, 6, 5, 4, 3]
    assert all(path.stat().st_mode & 0o77 == 0 for path in file.versions())
    with file.changing():
        pass
    assert [file.read_version(path)["number"] for path in file.versions()] == [7, 6, 5, 4, 3], "nothing changed"


def test_what_is_forgotten_stands_in_no_version() -> None:
    for query in ("one", "two"):
        History().add(query, SearchMode.WORDS, "", "")
    assert History().file.versions()
    History().remove("one")
    assert History().file.versions() == []
    assert all("one" not in path.read_text() for path in data_folder().glob("history.json*"))


def test_a_version_is_listed_and_brought_back(capsys: pytest.CaptureFixture[str]) -> None:
    passages = basket_of(3)
    assert main(["restore", "basket", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["versions"]
    assert [(row["version"], row["n"]) for row in rows] == [("now", 3), ("1", 2), ("2", 1)]
    assert main(["restore", "basket", "2"]) == 0
    assert list(Basket().content().passages) == passages[:1]
    assert main(["restore", "basket", "1"]) == 0
    assert list(Basket().content().passages) == passages
    assert main(["restore", "basket", "77"]) == 3


def test_a_file_that_was_set_aside_and_mended_by_hand_is_brought_back(capsys: pytest.CaptureFixture[str]) -> None:
    passages, path = basket_of(3), data_folder() / "basket.json"
    whole = path.read_text()
    path.write_text(whole.replace("{", "[", 1))
    assert main(["basket"]) == 0
    assert "basket.json was damaged and is set aside as" in capsys.readouterr().err
    (aside,) = path.parent.glob("basket.json.damaged-*")
    assert main(["restore"]) == 0
    assert "damaged" in capsys.readouterr().out
    assert main(["restore", "basket", aside.name]) == 3
    aside.write_text(whole.replace("checksum", "sum"))
    assert main(["restore", "basket", aside.name]) == 0
    assert list(Basket().content().passages) == passages


def test_nothing_to_restore_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore"]) == 1
    assert "no version is kept yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "hint"),
    [(errno.EROFS, "permissions"), (errno.EACCES, "permissions"), (errno.ENOSPC, "make room"), (errno.EDQUOT, "quota")],
)
def test_the_hint_names_the_cause(monkeypatch: pytest.MonkeyPatch, number: int, hint: str) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(user_file, "replace_object", fail)
    with pytest.raises(LongsearchError) as caught:
        Basket().add(a_passage(1))
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("name", "content", "use"),
    [
        ("last.json", {"/papers": 7}, lambda: keep_state("", LastState("q", SearchMode.WORDS, "", ""))),
        ("last.json", {"/papers": {"left_at": "x"}}, left_at),
        ("history.json", {"queries": 7}, lambda: History().queries()),
        ("saved.json", {"searches": [{"seen": 7}]}, lambda: SavedSearches().all()),
        ("saved.json", {"searches": [{**A_SEARCH, "seen": 7}]}, lambda: SavedSearches().all()),
        ("saved.json", {"searches": [{**A_SEARCH, "stamps": {"/p": 7}, "seen": {"/p": ""}}]}, SavedSearches.all),
        ("app.json", ["["], lambda: keep_theme("x")),
    ],
)
def test_odd_contents_of_any_file_are_told_as_damage(name: str, content: object, use: Callable[..., object]) -> None:
    (data_folder() / name).write_text(json.dumps(content))
    with pytest.raises(LongsearchError, match="is damaged"):
        use(SavedSearches()) if use is SavedSearches.all else use()


def test_forgetting_a_folder_passes_over_odd_contents() -> None:
    for name in ("last.json", "history.json", "last-hits.json"):
        (data_folder() / name).write_text(json.dumps({"queries": 7, "hits": [[], 7], "/papers": {}}))
    forget_folder("/papers")
    assert "/papers" not in json.loads((data_folder() / "last.json").read_text())


def test_names_and_descriptions_of_folders_come_back_from_their_last_version(home: Path) -> None:
    roots = [make_folder(home / name, {"a.md": name}, [toward(1)]) for name in ("bees", "tides")]
    names.names_of(roots)
    names.rename(roots[0], "hives", ())
    names.describe(roots[1], "Minutes of the harbour")
    names.rename(roots[1], "harbour", ())
    path = data_folder() / names.FILE
    for damage in (path.read_bytes().replace(b"Minutes", b"Minotes"), b"{", b"[" * 100_000):
        path.write_bytes(damage)
        assert names.names_of(roots) == {roots[0]: "hives", roots[1]: "tides"}
        assert names.descriptions() == {str(roots[1]): "Minutes of the harbour"}
        assert user_file.told.pop().startswith("folders.json was damaged")
    assert names.drop_name(roots[1]) == "tides"
    assert not [file for file in path.parent.glob("folders.json*") if b"harbour" in file.read_bytes()]


WRITERS = {
    "app/cluster/": "what workers and a driver tell each other",
    "app/commands/": "files that a person names, and logs",
    "app/daemon/daemon_control.py": "which process the daemon is",
    "app/daemon/service.py": "the file that starts the daemon",
    "app/evidence/tables.py": "a table that a person names, in a folder of theirs, with what it held before",
    "app/evidence/user_data.py": "an export of the basket, to where a person says",
    "app/folders/forgetting.py": "which indexes lie among the forgotten",
    "app/folders/relocating.py": "that a folder is being moved",
    "app/folders/store_refs.py": "where a shared store lies",
    "app/indexing/scans.py": "a measured speed",
    "app/models/elastic.py": "a measured speed",
    "app/models/folder_models.py": "which model reads a folder: its index knows that too",
    "app/user_data/moving.py": "an export of own files, and settings that an import puts in place",
    "app/user_data/settings_copies.py": "the settings, whose copies lie in a `UserFile`",
    "app/user_data/user_file.py": "the recipe itself",
}
"""Modules that write files past `UserFile` -> what they write, none of it of the person's own making and only here."""


def test_whoever_writes_a_file_writes_it_by_the_recipe_of_own_files_or_says_why_not() -> None:
    app = Path(user_file.__file__).resolve().parents[1]
    writes = re.compile(
        r"\b(replace_object|replace_bytes|replace_named|write_text|write_bytes)\(|open\(.*[\"'][wax]b?[\"']"
    )
    found = {file.relative_to(app.parent).as_posix() for file in app.rglob("*.py") if writes.search(file.read_text())}
    listed = {path: [name for name in WRITERS if path.startswith(name)] for path in found}
    assert {path for path, own in listed.items() if not own} == set()
    assert set(WRITERS) == {name for own in listed.values() for name in own}
