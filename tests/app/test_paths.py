import stat
from pathlib import Path

import pytest

from app.paths import data_folder, find_index, index_path, resolve_root, socket_path
from engine.errors import LongsearchError


def test_everything_kept_is_private_to_the_user(home: Path) -> None:
    for folder in (data_folder(), index_path(Path("/x")).parent, socket_path().parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_data_folder_that_was_open_is_closed(home: Path) -> None:
    data_folder().chmod(0o755)
    assert stat.S_IMODE(data_folder().stat().st_mode) == 0o700


def test_roots_of_the_same_name_have_indexes_of_their_own(home: Path) -> None:
    assert index_path(Path("/a/papers")) != index_path(Path("/b/papers"))
    assert index_path(Path("/a/papers")).name.startswith("papers-")


def test_a_name_of_any_bytes_has_an_index(home: Path) -> None:
    assert index_path(Path("/a/\udcff\n\x1b")).name.isprintable()


def test_a_folder_inside_an_indexed_root_is_found_with_its_place(home: Path) -> None:
    inner = home / "root" / "a" / "b"
    inner.mkdir(parents=True)
    index_path(home / "root").touch()
    assert find_index(inner) == (home / "root", "a/b")
    assert find_index(home / "root") == (home / "root", "")
    with pytest.raises(LongsearchError, match="is not indexed"):
        find_index(home)


def test_a_root_is_the_folder_itself_and_not_the_link_to_it(home: Path) -> None:
    (home / "real").mkdir()
    (home / "link").symlink_to(home / "real")
    assert resolve_root(home / "link") == home / "real"


def test_the_socket_path_fits_where_the_runtime_folder_is_too_deep(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = home / ("d" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setenv("XDG_DATA_HOME", str(deep))
    assert len(str(socket_path())) < 100


def test_who_keeps_other_data_has_another_daemon(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = socket_path()
    assert socket_path() == own
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    assert socket_path().name != own.name


def test_a_file_is_no_folder_to_search_in(home: Path) -> None:
    root = home / "root"
    root.mkdir()
    (root / "a.md").touch()
    index_path(root).touch()
    assert find_index(root / "sub") == (root, "sub")
    with pytest.raises(LongsearchError, match=r"a\.md is a file, not a folder") as caught:
        find_index(root / "a.md")
    assert "in:a.md" in caught.value.hint
