"""A person's own theme: read from a file, checked, and taken again when the file changes."""

from pathlib import Path

import pytest

from longsearch.tui import themes
from longsearch.tui.app import LongsearchApp
from longsearch.tui.own_themes import read, theme_of
from longsearch.tui.preferences import Preferences, problems, theme_for
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import WIDE, settle, until

TEXT = 'background = "#102030"\n[variables]\ntext-muted = "#aabbcc"\nborder = "red 40%"\n'


def test_a_theme_says_what_differs_from_the_apps_own() -> None:
    theme, dark = theme_of("sea", TEXT), themes.THEMES[0]
    assert (theme.name, theme.background, theme.primary, theme.dark) == ("sea", "#102030", dark.primary, True)
    assert theme.variables["text-muted"] == "#aabbcc" and theme.variables["footer-background"]
    light = theme_of("paper", "dark = false")
    assert (light.background, light.variables) == (themes.THEMES[1].background, themes.THEMES[1].variables)


@pytest.mark.parametrize(
    "text",
    ["background = 3", 'background = "no colour"', 'ground = "red"', "dark = 1", "= oops", "variables = 3",
     '[variables]\nunknown = "red"', '[variables]\nborder = "x 40%"', '[variables]\nborder = "red; color: blue"'],
)  # fmt: skip
def test_a_mistake_is_said_and_leaves_the_other_themes(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(text)
    (tmp_path / "sea.toml").write_text(TEXT)
    (tmp_path / "longsearch-dark.toml").write_text(TEXT)
    found, mistakes = read(tmp_path)
    assert [theme.name for theme in found] == ["sea"]
    assert [message.split(":")[0] for message, _ in mistakes] == ["theme bad.toml", "theme longsearch-dark.toml"]


def test_no_folder_is_no_theme(tmp_path: Path) -> None:
    assert read(tmp_path / "none") == ([], []) == read(None)


def test_an_own_theme_is_one_of_those_that_there_are() -> None:
    assert problems("sea", {}, ["sea"]) == [] and problems("sea", {}) != []
    assert theme_for("auto", "sea", False, ["sea"]) == "sea"


async def test_the_colours_follow_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longsearch.tui.app.THEMES_EVERY_S", 0.02)
    file = tmp_path / "sea.toml"
    file.write_text(TEXT)
    app = LongsearchApp(three_reports(), Preferences("sea", themes=tmp_path))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert app.theme == "sea" and app.screen.styles.background.hex == "#102030"
        file.write_text(f"{TEXT}# changed\n".replace("#102030", "#102040"))
        await until(pilot, lambda: app.screen.styles.background.hex == "#102040")
        file.write_text("oops")
        await until(pilot, lambda: any("theme sea.toml" in one.message for one in app._notifications))
        assert app.screen.styles.background.hex == "#102040"
