"""`search --format`, `--print0` and `open-hit`: results for shells and editors."""

import os
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.commands.records import FIELDS, record
from longsearch.app.paths import data_folder
from longsearch.engine.types.results import DocumentHit, PassageHit
from tests.app.app_helpers import wait_until
from tests.app.made_folders import make_folder


@pytest.fixture
def notes(home: Path) -> Path:
    return make_folder(
        home / "notes", {"tides.md": "The tide follows the moon.", "violin.md": "Four strings, no tide."}
    )


def hit(path: str = "/n/a.md", text: str = "one two", **fields: object) -> DocumentHit:
    passage = PassageHit(3, "A heading", 10, 10 + len(text), text, 0.5, fields.pop("excerpt", None))
    return DocumentHit(1, 7, path, "A title", 0.5, (passage,), folder="notes")


def words(capsys: pytest.CaptureFixture[str], *options: str, query: str = "tide", code: int = 0) -> str:
    assert main(["search", query, "--everywhere", "--mode", "words", *options]) == code
    return capsys.readouterr().out


def test_a_template_makes_a_line_for_each_document(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = words(capsys, "--format", "{rank}\\t{path}:{line}: {excerpt}").splitlines()
    assert f"\t{notes}/tides.md:1: The tide follows the moon." in lines[0] + lines[1]
    assert [line.split("\t")[0] for line in lines] == ["1", "2"]


def test_print0_ends_each_path_with_a_nul_and_keeps_its_bytes(
    home: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    names = ["a b.md", "new\nline.md", os.fsdecode(b"caf\xe9.md")]
    make_folder(home / "odd", {name: f"tide {number}" for number, name in enumerate(names)})
    assert main(["search", "tide", "--everywhere", "--mode", "words", "--print0"]) == 0
    paths = capfdbinary.readouterr().out.split(b"\0")
    assert paths.pop() == b""
    assert sorted(paths) == sorted(os.fsencode(home / "odd" / name) for name in names)
    assert all(Path(os.fsdecode(path)).exists() for path in paths)


def test_a_line_shows_nothing_that_a_terminal_must_not_see() -> None:
    shown = record(hit("/n/\x1b[2J\n\udcff.md", "a\x1b]0;x\x07\nb"), "{path}|{text}").decode()
    assert shown.isprintable()
    assert shown.endswith("|a�]0;x� b")
    assert record(hit("/n/\udcff\n"), "{path}", is_exact=True) == b"/n/\xff\n"


def test_every_field_of_the_help_can_be_named() -> None:
    template = "\\t".join(f"{{{name}}}" for name in FIELDS)
    filled = record(hit(excerpt=(14, 17)), template).decode().split("\t")
    assert dict(zip(FIELDS, filled, strict=True)) == {
        "rank": "1", "path": "/n/a.md", "folder": "notes", "title": "A title", "score": "0.5000", "level": "",
        "page": "3", "line": "1", "heading": "A heading", "start": "10", "stop": "17", "text": "one two",
        "excerpt": "two",
    }  # fmt: skip


def test_braces_and_backslashes_can_be_written() -> None:
    assert record(hit(), "{{{rank}}}\\n\\\\ \\x {path.__class__}") == b"{1}\n\\ \\x {path.__class__}"


def test_an_unknown_field_and_json_beside_a_template_are_errors(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "tide", str(notes), "--mode", "words", "--format", "{author}"]) == 3
    said = capsys.readouterr().err
    assert "knows no {author}" in said
    assert "excerpt" in said
    assert main(["search", "tide", str(notes), "--mode", "words", "--print0", "--json"]) == 3
    assert "give one of them" in capsys.readouterr().err


def test_without_hits_nothing_is_printed_and_the_exit_code_says_so(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words(capsys, "--print0", query="zebra", code=1) == ""


def test_the_line_is_that_of_the_best_sentence(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# Title\n\nFirst.\n\nThe **old queen**\nleaves within [a day](x) or two.\n")
    for path, line in ((file, "5"), (tmp_path / "gone.md", "1")):
        found = hit(str(path), "First.\n\nThe old queen leaves within a day or two.", excerpt=(18, 58))
        assert record(found, "{line}").decode() == line


def test_a_hit_of_the_last_search_is_opened_by_its_number(
    notes: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = home / "opened.txt"
    viewer = home / "viewer.sh"
    viewer.write_text(f'#!/bin/sh\necho "$1 $2" > {opened}.part && mv {opened}.part {opened}\n')
    viewer.chmod(0o755)
    monkeypatch.setenv("LONGSEARCH_VIEWER", f"{viewer} {{path}} {{phrase}}")
    assert main(["open-hit", "1"]) == 3
    assert "the last search has no hits" in capsys.readouterr().err
    paths = words(capsys, "--format", "{path}").splitlines()
    phrases = {
        str(notes / "tides.md"): "The tide follows the moon.",
        str(notes / "violin.md"): "Four strings, no tide.",
    }
    assert main(["open-hit", "2"]) == 0
    wait_until(opened.exists)
    assert opened.read_text() == f"{paths[1]} {phrases[paths[1]]}\n"
    for number in ("3", "0", "-1"):
        assert main(["open-hit", number]) == 3
    assert "it has 1 to 2" in capsys.readouterr().err
    kept = data_folder() / "last-hits.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "tide follows" not in kept.read_text()
