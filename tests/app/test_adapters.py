"""A person's own adapters: programs of the config file that read more formats."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.paths import config_path
from longsearch.app.settings.checking import notes
from longsearch.indexer.extract.formats import use_adapters


@pytest.fixture(autouse=True)
def adapter(home: Path) -> Iterator[None]:
    script = home / "unshout"
    script.write_text('#!/bin/sh\ntr A-Z a-z < "$1"\n')
    script.chmod(0o700)
    config_path().parent.mkdir(parents=True)
    config_path().write_text(f"[adapters]\nshout = '{script}'\nodd = 'no-such-program {{path}} -'\n")
    yield
    use_adapters({})


def test_a_file_is_read_by_the_program_that_the_config_file_names(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "speech.SHOUT").write_text("THE HARBOUR MASTER SPOKE OF HERRING.")
    (root / "other.odd").write_text("x")
    assert main(["index", "-q", str(root)]) == 0
    capsys.readouterr()
    assert main(["search", "herring", str(root), "--mode", "words", "--json"]) == 0
    (hit,) = json.loads(capsys.readouterr().out)["results"]
    assert Path(hit["path"]).name == "speech.SHOUT"
    assert "the harbour master spoke of herring." in hit["passages"][0]["text"]
    assert main(["status", "--json", str(root)]) == 0
    files = {file["path"]: file for file in json.loads(capsys.readouterr().out)["files"]}
    assert files["other.odd"]["state"] == "failed"
    assert "no-such-program" in files["other.odd"]["reason"]


def test_a_file_in_no_index_is_read_by_it_too(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = home / "speech.shout"
    outside.write_text("THE HARBOUR MASTER SPOKE OF HERRING.")
    assert main(["text", str(outside)]) == 0
    assert capsys.readouterr().out.strip() == "the harbour master spoke of herring."


def test_a_program_that_is_not_installed_is_noted() -> None:
    assert notes() == ["no-such-program, which an adapter runs, is not installed"]
