"""The index of a folder follows its files to another place or computer; nothing is read again or half done."""

import contextlib
import json
import sys
from pathlib import Path

import apsw
import pytest

from longsearch.app.cli import main
from longsearch.app.commands import asking
from longsearch.app.folders import moving, relocating
from longsearch.app.folders.listing import indexed_folders
from longsearch.app.paths import base_index_path, data_folder, index_path
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question, search
from longsearch.app.user_data.basket import Basket
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import replace_object
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.app.made_folders import make_folder, toward

TEXTS = {"roof.md": "a slate roof for the barn", "sub/bees.md": "bees in a box", "Lease.txt": "a lease of a mill"}


@pytest.fixture
def old(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files were moved to `elsewhere` after it was indexed, with segments and vectors."""
    monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
    root = make_folder(home / "papers", TEXTS, [toward(1, n) for n in range(3)])
    with Store.open(index_path(root)) as store:
        store.tidy()
    indexed_folders()  # gives it its name
    root.rename(root.with_name("elsewhere"))
    return root


def found(root: Path) -> list[str]:
    results = search(
        Scope.of(root), Question("slate roof", SearchMode.WORDS), lambda *_, **__: pytest.fail("no vector")
    )
    return [hit.path for hit in results.hits]


def names() -> list[tuple[str, str, str]]:
    return [(folder.name, folder.root, folder.away) for folder in indexed_folders()]


def traces(word: str) -> list[str]:
    """The files of the data folder whose name or text has this word."""
    files = [path for path in data_folder().rglob("*") if path.is_file()]
    return [path.name for path in files if word in path.name or word.encode() in path.read_bytes()]


def test_an_index_moves_with_its_folder_and_keeps_its_name_and_its_vectors(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = old.with_name("elsewhere")
    assert main(["folders", "move", "papers", str(new)]) == 0
    assert "nothing is read again" in capsys.readouterr().out
    assert names() == [("papers", str(new), "")]
    assert found(new) == [str(new / "roof.md")]
    with Store.open(index_path(new)) as store:
        assert store.progress().n_waiting == 0
    assert not list(index_path(old).parent.glob(f"{base_index_path(old).stem}*"))


def test_a_move_is_taken_back_by_another_move(old: Path) -> None:
    new = old.with_name("elsewhere")
    main(["folders", "move", "papers", str(new)])
    new.rename(old)
    assert main(["folders", "move", "papers", str(old)]) == 0
    assert (names(), found(old)) == ([("papers", str(old), "")], [str(old / "roof.md")])


@pytest.mark.parametrize("step", range(12))
def test_a_move_that_was_killed_at_any_step_is_wholly_done_or_not_at_all(
    old: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, left = old.with_name("elsewhere"), step

    def killed_after(function: object) -> object:
        def step_or_kill(*arguments: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            return function(*arguments, **options)  # type: ignore[operator]

        return step_or_kill

    with monkeypatch.context() as patched:
        patched.setattr(relocating, "replace_object", killed_after(replace_object))
        patched.setattr(Path, "rename", killed_after(Path.rename))
        patched.setattr(Path, "unlink", killed_after(Path.unlink))
        patched.setattr(relocating.names, "move", killed_after(relocating.names.move))
        patched.setattr(relocating.user_file, "move_all", killed_after(relocating.user_file.move_all))
        with contextlib.suppress(KeyboardInterrupt):
            moving.move(indexed_folders()[0], new)
    (folder,) = indexed_folders()
    assert folder.root in (str(old), str(new))
    assert folder.name == "papers"
    assert found(Path(folder.root)) == [f"{folder.root}/roof.md"]
    other = new if folder.root == str(old) else old
    assert not index_path(other).exists()
    assert not relocating.in_progress_path().exists()


def test_what_a_person_keeps_of_a_folder_names_its_new_place(old: Path) -> None:
    new = old.with_name("elsewhere")
    replace_object(
        data_folder() / "saved.json",
        {"searches": [{"query": f"{old}/x", "roots": [str(old)], "seen": {str(old): "-"}}]},
    )
    replace_object(
        data_folder() / "basket.json", {"passages": [{"root": str(old), "path": f"{old}/a", "text": f"{old}/b"}]}
    )
    main(["folders", "move", "papers", str(new)])
    saved = json.loads((data_folder() / "saved.json").read_text())["searches"]
    assert saved == [{"query": f"{old}/x", "roots": [str(new)], "seen": {str(new): "-"}}]
    basket = json.loads((data_folder() / "basket.json").read_text())["passages"]
    assert basket == [{"root": str(new), "path": f"{new}/a", "text": f"{old}/b"}]
    assert Basket().content() is not None


@pytest.mark.parametrize("problem", ["other files", "indexed", "same"])
def test_a_move_that_makes_no_sense_changes_nothing(old: Path, problem: str, home: Path) -> None:
    new = {"other files": home / "empty", "indexed": home / "full", "same": old}[problem]
    if problem == "indexed":
        make_folder(new, TEXTS)
    new.mkdir(exist_ok=True)
    before = names()
    folder = next(folder for folder in indexed_folders() if folder.name == "papers")
    with pytest.raises(LongsearchError):
        moving.move(folder, new)
    assert names() == before


def test_an_unknown_folder_with_the_files_of_one_that_is_away_gets_an_offer(
    old: Path, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    new = old.with_name("elsewhere")
    assert main(["search", "slate", str(new / "sub")]) == 3
    told = capsys.readouterr().err
    assert f"{new} has the files of papers, which is away" in told
    assert f"longsearch folders move {old} {new}" in told
    (home / "other").mkdir()
    assert main(["search", "slate", str(home / "other")]) == 3
    assert "index it first" in capsys.readouterr().err


@pytest.mark.parametrize(("answer", "is_moved"), [("", True), ("n", False)])
def test_who_opens_or_indexes_such_a_folder_is_asked(
    old: Path, answer: str, is_moved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = old.with_name("elsewhere")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    asking.take_over(new)
    assert index_path(new).exists() is is_moved


def test_an_index_goes_to_another_computer_in_one_file(
    old: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, there, file = old.with_name("elsewhere"), home / "there", home / "papers.index"
    main(["folders", "move", "papers", str(new)])
    assert main(["folders", "export", "papers", str(file)]) == 0
    assert main(["folders", "export", "papers", str(file)]) == 3
    new.rename(there)
    assert main(["folders", "import", str(file), str(there)]) == 0
    assert found(there) == [str(there / "roof.md")]
    with Store.open(index_path(there)) as store:
        assert (store.progress().n_waiting, store.root) == (0, there)
    assert "there" in [folder.name for folder in indexed_folders()]
    capsys.readouterr()
    assert main(["folders", "import", str(file), str(there)]) == 3
    assert "indexed already" in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["text", "cut", "trigger", "empty"])
def test_a_file_that_is_no_sound_index_is_not_imported(old: Path, home: Path, damage: str) -> None:
    file, there = home / "papers.index", home / "there"
    there.mkdir()
    moving.exported(indexed_folders()[0], file)
    if damage == "trigger":
        db = apsw.Connection(str(file))
        db.execute("CREATE TRIGGER evil AFTER INSERT ON meta BEGIN DELETE FROM files; END")
        db.close()
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:20_000])
    else:
        file.write_bytes(b"no index\n" * 1_000 if damage == "text" else b"")
    with pytest.raises(LongsearchError):
        moving.imported(file, there)
    assert not list(index_path(there).parent.glob(f"{base_index_path(there).stem}.[!l]*"))


def test_a_folder_that_is_forgotten_for_good_leaves_no_trace(old: Path) -> None:
    replace_object(data_folder() / "last.json", {str(old): {"query": "roof"}})
    replace_object(data_folder() / "last-hits.json", {"hits": [[f"{old}/roof.md", None]]})
    replace_object(data_folder() / "history.json", {"queries": [{"query": "roof", "mode": "words", "root": str(old)}]})
    assert main(["folders", "forget", "papers", "--yes", "--delete"]) == 0
    assert traces("papers") == []
