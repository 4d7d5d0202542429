"""The options of `longsearch search` that filter and sort, its JSON, and that of `status`. No model is loaded."""

import json
from pathlib import Path
from typing import Any

import pytest

from longsearch.app.backend import AppBackend
from longsearch.app.cli import EXIT_CANNOT, EXIT_NOTHING_FOUND, main
from longsearch.app.paths import index_path
from longsearch.engine.completions import CompletionChoice
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, MetadataValue, Passage
from tests.app.homes import make_home

NOTES = {
    "gfs.md": ("title=Storage=heading", "author=Ann Lee=XMP", "date=2003=XMP", "tag=a b=XMP"),
    "raft.md": ("title=Raft=heading", "author=Bo\x1b Li=XMP", "date=2014-05=XMP", "status=x=XMP"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two notes that are searchable by words."""
    root = make_home(tmp_path, monkeypatch) / "notes"
    root.mkdir()
    with Store.open(index_path(root), root=root) as store:
        for name, values in NOTES.items():
            text = f"apples of {name}"
            (root / name).write_text(text)
            described = tuple(MetadataValue(*value.split("=")) for value in values)
            document = DocumentText(text, (), described[0].value, (), described)
            store.add_document(FileStamp(name, 1, 10**18, 1), name.encode(), document, [Passage(0, len(text), 4)])
    return root


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    main(["search", "--mode", "words", "--json", *arguments])
    results: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["results"]
    return results


@pytest.mark.parametrize(
    ("query", "options", "names"),
    [
        ("apples", ["--author", "lee"], ["gfs.md"]),
        ("apples author:lee", [], ["gfs.md"]),
        ("apples", ["--date", "2010..", "--type", "md"], ["raft.md"]),
        ("apples", ["--sort", "date"], ["raft.md", "gfs.md"]),
        ("apples", ["--sort", "name"], ["raft.md", "gfs.md"]),
        ("apples", ["--field", "status:x"], ["raft.md"]),
        ("apples", ["--field=-status:x"], ["gfs.md"]),
        ("apples", ["--tag", "b", "--title", "storage", "--in", "gfs"], ["gfs.md"]),
        ("", ["--since", "2000"], ["raft.md", "gfs.md"]),
        ("apples", ["--lang", "de"], []),
    ],
)
def test_options_are_the_fields_of_a_query(
    folder: Path, capsys: pytest.CaptureFixture[str], query: str, options: list[str], names: list[str]
) -> None:
    assert [Path(hit["path"]).name for hit in found(capsys, query, str(folder), *options)] == names


def test_the_json_has_every_value_with_its_source(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (hit,) = found(capsys, "author:lee", str(folder))
    assert hit["metadata"] == [
        {"field": "title", "value": "Storage", "source": "heading"},
        {"field": "author", "value": "Ann Lee", "source": "XMP"},
        {"field": "date", "value": "2003", "source": "XMP"},
        {"field": "tag", "value": "a b", "source": "XMP"},
    ]
    assert main(["status", "--json", str(folder)]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert {file["path"]: len(file["metadata"]) for file in files} == {"gfs.md": 4, "raft.md": 4}


def test_text_shows_metadata_without_control_characters_and_no_score_of_a_list(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "--mode", "words", "status:x", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("  1. Raft\n     Bo\ufffd Li · 2014-05\n")
    assert main(["search", "--mode", "words", "status:x", str(folder), "--explain"]) == 0
    assert "(XMP)" in capsys.readouterr().out


def test_an_option_without_meaning_is_an_error_and_a_slip_in_the_query_a_note(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "--mode", "words", "apples", str(folder), "--date", "soon"]) == EXIT_CANNOT
    assert "2021..2023" in capsys.readouterr().err
    assert main(["search", "--mode", "words", "apples", str(folder), "--field", "statsu:x"]) == EXIT_CANNOT
    assert "status?" in capsys.readouterr().err
    assert main(["search", "--mode", "words", "apples auhtor:lee", str(folder)]) == 0
    assert "(no field auhtor: author?)" in capsys.readouterr().out
    assert main(["search", "--mode", "words", "apples author:nobody", str(folder)]) == EXIT_NOTHING_FOUND
    assert "No document matches author:nobody" in capsys.readouterr().out


def test_the_app_completes_from_the_index_and_without_one_completes_nothing(folder: Path, tmp_path: Path) -> None:
    assert AppBackend(folder).complete("author:l").choices == (
        CompletionChoice('"Ann Lee"', 1),
        CompletionChoice('"Bo\x1b Li"', 1),
    )
    assert AppBackend(tmp_path / "nowhere").complete("author:l").choices == ()
