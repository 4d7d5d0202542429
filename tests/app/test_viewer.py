from pathlib import Path

import pytest

from longsearch.app.viewing import viewer
from longsearch.app.viewing.viewer import open_in_viewer, viewer_command
from longsearch.engine.errors import LongsearchError

SCREEN = {"DISPLAY": ":0"}


def on_path(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(viewer.shutil, "which", lambda name: f"/usr/bin/{name}" if name in names else None)


def test_a_pdf_opens_at_its_page_if_the_viewer_can(monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(monkeypatch, "evince", "xdg-open")
    assert viewer_command("/a.pdf", 7, SCREEN, "linux") == ["evince", "-i", "7", "/a.pdf"]


def test_other_files_open_in_the_systems_default_viewer(monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(monkeypatch, "evince", "xdg-open")
    assert viewer_command("/a.md", None, SCREEN, "linux") == ["xdg-open", "/a.md"]
    assert viewer_command("/a.pdf", 7, {}, "darwin") == ["open", "/a.pdf"]


def test_the_users_own_viewer_comes_first_and_needs_no_shell() -> None:
    environment = {"LONGSEARCH_VIEWER": "my viewer --page={page} '{path}'"}
    assert viewer_command("/a b;rm.pdf", 3, environment, "linux") == ["my", "viewer", "--page=3", "/a b;rm.pdf"]
    assert viewer_command("/a.pdf", None, {"LONGSEARCH_VIEWER": "view"}, "linux") == ["view", "/a.pdf"]


def test_without_a_display_the_error_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LongsearchError, match="no graphical display") as caught:
        viewer_command("/a.pdf", 1, {}, "linux")
    assert "LONGSEARCH_VIEWER" in caught.value.hint


def test_a_system_without_a_viewer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(monkeypatch)
    with pytest.raises(LongsearchError, match="no viewer"):
        viewer_command("/a.pdf", 1, SCREEN, "linux")


def test_a_missing_file_and_a_missing_viewer_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LongsearchError, match="gone"):
        open_in_viewer(str(tmp_path / "a.pdf"), 1)
    (tmp_path / "a.pdf").touch()
    monkeypatch.setenv("LONGSEARCH_VIEWER", "/nowhere/viewer")
    with pytest.raises(LongsearchError, match="cannot start"):
        open_in_viewer(str(tmp_path / "a.pdf"), 1)


def test_opening_a_file_names_the_viewer_and_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").touch()
    monkeypatch.setenv("LONGSEARCH_VIEWER", "true {page} {path}")
    assert open_in_viewer(str(tmp_path / "a.pdf"), 12) == "opened with true at page 12"
