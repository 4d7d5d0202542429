"""`longsearch index --files`: only the files of a list are read, and the others stay as they are."""

import io
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.commands.index import read_list
from longsearch.app.paths import index_path
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.opening import open_index


def indexed(root: Path) -> set[str]:
    with open_index(index_path(root)) as store:
        return {file.path for file in store.files()}


def test_only_the_listed_files_are_read_and_the_others_are_not_forgotten(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = tmp_path / "list"
    names.write_text("tides.md\n")
    assert main(["index", "-q", "--files", str(names), str(root)]) == 0
    assert indexed(root) == {"tides.md"}
    (root / "tides.md").unlink()
    names.write_text(f"{root}/violin.md\nno such file.md\n")
    assert main(["index", "-q", "--files", str(names), str(root)]) == 0
    assert indexed(root) == {"tides.md", "violin.md"}
    assert "no such file.md: of the list" in capsys.readouterr().err
    assert main(["index", "-q", str(root)]) == 0
    assert indexed(root) == {"violin.md"}


def test_a_list_holds_paths_under_the_folder_also_with_bytes_that_are_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b"a.md\r\n\n./b/../c d.md\n" + bytes(tmp_path / "e" / "f.md") + b"\n\xff.md"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert read_list("-", tmp_path) == {"a.md", "c d.md", "e/f.md", "\udcff.md"}


@pytest.mark.parametrize("line", ["../a.md", "/etc/passwd", ".", "a\0b"])
def test_a_path_outside_the_folder_is_refused(line: str, tmp_path: Path) -> None:
    names = tmp_path / "list"
    names.write_text(f"good.md\n{line}\n")
    with pytest.raises(LongsearchError, match="does not lie in"):
        read_list(str(names), tmp_path)


def test_a_list_that_cannot_be_read_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--files", "/no/such/list", str(root)]) == 3
    assert "/no/such/list cannot be read" in capsys.readouterr().err
