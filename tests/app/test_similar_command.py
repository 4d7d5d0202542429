"""`longsearch similar` for a file in the index, and for a file outside it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longsearch.app.cli import main
from tests.app.homes import home_with_samples


def similar(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["similar", "--json", *arguments]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def names(found: dict[str, Any]) -> list[str]:
    return [Path(hit["path"]).name for hit in found["results"]]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The samples, indexed once: no test changes them."""
    with home_with_samples(tmp_path_factory) as folder:
        assert main(["index", "-q", str(folder)]) == 0
        yield folder


def test_a_file_in_the_index_is_compared_with_the_others(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = similar(capsys, str(indexed / "tides.md"), "-k", "3")
    assert found["like"] == "Why harbours keep two clocks"
    assert "query" not in found
    assert len(names(found)) == 3
    assert "tides.md" not in names(found)
    scores = [hit["score"] for hit in found["results"]]
    assert scores == sorted(scores, reverse=True)


def test_a_file_outside_the_index_is_read_whole(
    indexed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (indexed / "beekeeping.md").read_text()
    half = tmp_path / "half.txt"
    half.write_text(text[: len(text) // 2])
    found = similar(capsys, str(half), str(indexed))
    assert names(found)[0] == "beekeeping.md"
    assert found["results"][0]["score"] > 0.8
    assert main(["similar", str(half), str(indexed)]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("  1. Notes from a small apiary  [0.")


def test_a_file_in_no_indexed_folder_is_compared_with_all(
    indexed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "a.txt"
    elsewhere.write_text((indexed / "beekeeping.md").read_text()[:900])
    found = similar(capsys, str(elsewhere))
    assert names(found)[0] == "beekeeping.md"
    assert [folder["path"] for folder in found["folders"]] == [str(indexed)]


def test_a_file_that_cannot_be_compared_is_an_error_with_its_reason(
    indexed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.exe").write_bytes(b"MZ")
    (tmp_path / "empty.txt").touch()
    for arguments, reason in (
        ([tmp_path / "none.pdf", indexed], "is not a file"),
        ([indexed], "is not a file"),
        ([tmp_path / "a.exe", indexed], "not a format that longsearch reads"),
        ([tmp_path / "empty.txt", indexed], "empty"),
    ):
        assert main(["similar", *map(str, arguments)]) == 3
        assert reason in capsys.readouterr().err


def test_a_file_is_compared_by_the_model_of_the_index_while_the_settings_name_another(
    indexed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "a.txt"
    elsewhere.write_text((indexed / "beekeeping.md").read_text()[:900])
    monkeypatch.setenv("LONGSEARCH_MODEL", str(tmp_path))
    assert names(similar(capsys, str(elsewhere), str(indexed)))[0] == "beekeeping.md"


def test_the_older_name_like_does_the_same(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = similar(capsys, str(indexed / "tides.md"))
    assert main(["like", "--json", str(indexed / "tides.md")]) == 0
    assert names(json.loads(capsys.readouterr().out)) == names(found)
