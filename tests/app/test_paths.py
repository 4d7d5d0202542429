import stat
from pathlib import Path

import pytest

from longsearch.app.paths import data_folder, find_index, in_shell, index_path, resolve_root, socket_path
from longsearch.engine.errors import LongsearchError


def test_all_folders_are_private_to_the_user(home: Path) -> None:
    for folder in (data_folder(), index_path(Path("/x")).parent, socket_path().parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_data_folder_that_others_could_read_is_made_private(home: Path) -> None:
    data_folder().chmod(0o755)
    assert stat.S_IMODE(data_folder().stat().st_mode) == 0o700


def test_roots_with_the_same_name_have_different_indexes(home: Path) -> None:
    assert index_path(Path("/a/papers")) != index_path(Path("/b/papers"))
    assert index_path(Path("/a/papers")).name.startswith("papers-")


def test_a_root_with_unprintable_bytes_has_a_printable_index_name(home: Path) -> None:
    assert index_path(Path("/a/\udcff\n\x1b")).name.isprintable()


def test_a_folder_inside_an_indexed_root_is_found_with_its_relative_path(home: Path) -> None:
    inner = home / "root" / "a" / "b"
    inner.mkdir(parents=True)
    index_path(home / "root").touch()
    assert find_index(inner) == (home / "root", "a/b")
    assert find_index(home / "root") == (home / "root", "")
    with pytest.raises(LongsearchError, match="is not indexed"):
        find_index(home)


def test_a_symbolic_link_resolves_to_the_folder_itself(home: Path) -> None:
    (home / "real").mkdir()
    (home / "link").symlink_to(home / "real")
    assert resolve_root(home / "link") == home / "real"


def test_the_socket_path_stays_short_under_a_deep_runtime_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = home / ("d" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setenv("XDG_DATA_HOME", str(deep))
    assert len(str(socket_path())) < 100


def test_another_data_folder_has_another_daemon(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = socket_path()
    assert socket_path() == own
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    assert socket_path().name != own.name


def test_searching_in_a_file_is_an_error_that_names_the_filter(home: Path) -> None:
    root = home / "root"
    root.mkdir()
    (root / "a.md").touch()
    index_path(root).touch()
    assert find_index(root / "sub") == (root, "sub")
    with pytest.raises(LongsearchError, match=r"a\.md is a file, not a folder") as caught:
        find_index(root / "a.md")
    assert "in:a.md" in caught.value.hint


def test_a_hint_quotes_a_path_that_a_shell_would_split(home: Path) -> None:
    folder = home / "my papers"
    folder.mkdir()
    with pytest.raises(LongsearchError) as error:
        find_index(folder)
    assert error.value.hint == f"index it first: longsearch index '{folder}'"
    (folder / "a.txt").write_text("a")
    with pytest.raises(LongsearchError) as error:
        resolve_root(folder / "a.txt")
    assert error.value.hint == f"name its folder: longsearch '{folder}'"


def test_a_path_in_a_hint_is_safe_to_print() -> None:
    assert in_shell("/plain/path") == "/plain/path"
    assert in_shell("/a\x1b[31m b") == "'/a\ufffd[31m b'"
