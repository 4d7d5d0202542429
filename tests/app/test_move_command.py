"""`longsearch move` and `index --store`: the index goes to a store on LanceDB, is searched there, and comes back."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from longsearch.app import paths
from longsearch.app.backend import AppBackend
from longsearch.app.cli import main
from longsearch.app.folders import store_refs
from longsearch.app.folders.listing import indexed_folders
from longsearch.app.models.folder_models import FolderModel
from longsearch.engine.index import opening
from longsearch.engine.types.results import SearchMode
from tests.app.homes import SAMPLES

_NEEDS_LANCE = "needs pip install 'longsearch[lance]'"


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The address of a store that does not exist yet."""
    pytest.importorskip("lancedb", reason=_NEEDS_LANCE)
    return f"lance:{tmp_path / 'share' / 'papers'}"


@pytest.fixture
def indexed(root: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["index", str(root), "-q"]) == 0
    capsys.readouterr()
    return root


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def _found(capsys: pytest.CaptureFixture[str], place: str, query: str = "violin") -> list[tuple[str, float]]:
    rows = _json(capsys, "search", query, place, "--mode", "words")["results"]
    return [(row["path"], row["score"]) for row in rows]


def test_an_index_moves_there_and_back_and_answers_the_same(
    indexed: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, status = _found(capsys, str(indexed)), _json(capsys, "status", str(indexed))
    assert before
    told = _json(capsys, "move", str(indexed), "--to", store)
    assert told["tables"]["contents"]["rows"] == 2
    assert paths.index_path(indexed).suffix == paths.POINTER
    assert _found(capsys, str(indexed)) == before
    assert {**_json(capsys, "status", str(indexed)), "activity": ""} == {**status, "activity": ""}
    back = _json(capsys, "move", str(indexed), "--to", "sqlite")
    assert back["tables"] == told["tables"]
    assert paths.index_path(indexed).suffix == ".sqlite"
    assert _found(capsys, str(indexed)) == before


def test_an_index_comes_back_without_its_working_file_and_nothing_is_embedded_again(
    indexed: Path, store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _found(capsys, str(indexed))
    assert main(["move", str(indexed), "--to", store]) == 0
    for file in paths.working_path(indexed).parent.glob("*.sqlite*"):
        file.unlink()
    monkeypatch.setattr("longsearch.app.models.encoders.open_encoder", lambda *_: pytest.fail("a model was loaded"))
    assert main(["move", str(indexed), "--to", "sqlite"]) == 0
    assert "2 documents" in capsys.readouterr().out
    assert _found(capsys, str(indexed)) == before


def test_a_folder_can_be_indexed_into_a_store_and_changes_follow(
    root: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", str(root), "-q", "--store", store]) == 0
    assert len(_found(capsys, str(root))) >= 1
    shutil.copy(SAMPLES / "beekeeping.md", root)
    assert main(["index", str(root), "-q"]) == 0
    (row, *_) = _found(capsys, str(root), "beekeeper colony")
    assert row[0].endswith("beekeeping.md")
    assert store_refs.base_of(root) == 2


def test_the_app_reads_a_store(indexed: Path, store: str) -> None:
    assert main(["move", str(indexed), "--to", store]) == 0
    backend = AppBackend(indexed)
    hit = backend.search("violin", SearchMode.WORDS).hits[0]
    assert hit.path.endswith("violin.md")
    assert "violin" in backend.document(hit.document_id).text.lower()
    assert backend.similar(hit.document_id).hits
    assert {file.path for file in backend.files()} == {"tides.md", "violin.md"}
    assert backend.progress().n_current == 2


def test_another_machine_reads_a_store_by_its_address_and_never_writes_it(
    indexed: Path, store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert main(["move", str(indexed), "--to", store]) == 0
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other machine"))
    assert _found(capsys, store)
    assert [folder.root for folder in indexed_folders()] == [str(indexed)]
    assert main(["index", str(indexed), "-q"]) == 3
    assert "another machine" in capsys.readouterr().err


def test_a_store_is_not_overwritten(
    indexed: Path, store: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["move", str(indexed), "--to", store]) == 0
    assert main(["move", str(indexed), "--to", f"{store}-2"]) == 3
    assert "move it back first" in capsys.readouterr().err
    other = tmp_path / "other"
    other.mkdir()
    (other / "note.md").write_text("a note about nothing")
    assert main(["index", str(other), "-q"]) == 0
    assert main(["move", str(other), "--to", store]) == 3
    assert "already" in capsys.readouterr().err
    assert main(["index", str(other), "-q", "--store", store]) == 3
    assert "another one in" in capsys.readouterr().err


def test_a_move_that_makes_no_sense_says_why(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    senseless = {"sqlite": "in SQLite already", "lance:": "names no store", "/mnt/share": "no address of a store"}
    for to, said in senseless.items():
        assert main(["move", str(indexed), "--to", to]) == 3
        assert said in capsys.readouterr().err


def test_a_missing_store_is_told_by_every_command(root: Path, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "tides", store]) == 3
    assert "There is no store at" in capsys.readouterr().err


def test_without_the_extra_the_command_says_what_to_install(
    indexed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    for arguments in (["move", str(indexed), "--to", "lance:/x"], ["index", str(indexed), "--store", "lance:/x"]):
        assert main(arguments) == 3
        assert "pip install 'longsearch[lance]'" in capsys.readouterr().err
    assert paths.index_path(indexed).suffix == ".sqlite"


def test_a_search_of_an_ordinary_index_imports_no_lancedb(indexed: Path) -> None:
    program = (
        "import sys; from longsearch.app.cli import main;"
        f" main(['search', 'tides', {str(indexed)!r}, '--mode', 'words']);"
        " sys.exit(any(name.split('.')[0] in ('lancedb', 'pyarrow', 'lance_namespace') for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def test_the_model_of_a_folder_in_a_store_cannot_be_changed(
    indexed: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["move", str(indexed), "--to", store]) == 0
    assert main(["index", str(indexed), "--model", "multilingual"]) == 3
    assert "move it back first" in capsys.readouterr().err


def test_both_sides_know_the_ending_of_a_pointer() -> None:
    assert paths.POINTER == opening.POINTER


def test_a_folder_that_is_being_read_with_another_model_is_not_moved(
    indexed: Path, store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    changing = FolderModel("english", True, "multilingual", paths.working_path(indexed))
    monkeypatch.setattr("longsearch.app.models.folder_models.folder_model", lambda _: changing)
    assert main(["move", str(indexed), "--to", store]) == 3
    assert "is being read again" in capsys.readouterr().err
    assert paths.index_path(indexed).suffix == ".sqlite"
