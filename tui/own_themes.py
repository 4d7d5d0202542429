"""A person's own themes: a TOML file each, in a folder of theirs. A mistake in one is said, and leaves the others.

A file says which colours differ from one of the app's own themes, the light one if `dark = false`. `HasColours` is the
app's part that serves whichever theme is chosen.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.terminal_theme import TerminalTheme
from textual.app import App
from textual.color import Color, ColorParseError
from textual.filter import ANSIToTruecolor
from textual.theme import Theme

from longsearch.tui import themes

_COLOURS = frozenset(
    ["primary", "secondary", "accent", "warning", "error", "success", "foreground", "background", "surface", "panel"]
)
_SHARE = re.compile(r" \d{1,3}%$")
_NAME = re.compile(r"[\w-]{1,40}")
_HINT = 'a theme has colours such as primary = "#d9a648", dark = true, and a table [variables]'

Stamps = tuple[tuple[str, int, int], ...]
"""Name, time of the last change in ns, and size of each file."""


def stamps(folder: Path | None) -> Stamps:
    """Return the files as they are now; () if there is no such folder. May block."""
    try:
        files = sorted(folder.glob("*.toml")) if folder else []
        return tuple((file.name, stat.st_mtime_ns, stat.st_size) for file in files for stat in (file.stat(),))
    except OSError:
        return ()


def read(folder: Path | None) -> tuple[list[Theme], list[tuple[str, str]]]:
    """Return the themes of the folder, and what is wrong with the others, each with a hint. May block."""
    found, problems = [], []
    for name, _, _ in stamps(folder):
        try:
            found.append(theme_of(name.removesuffix(".toml"), Path(folder or "", name).read_text("utf-8")))
        except (OSError, ValueError) as error:  # a mistake in TOML is a ValueError too
            problems.append((f"theme {name}: {error}", _HINT))
    return found, problems


def theme_of(name: str, text: str) -> Theme:
    """Return the theme that a file says. Raises ValueError with what is wrong."""
    import tomllib

    if not _NAME.fullmatch(name) or name in (themes.DARK, themes.LIGHT):
        raise ValueError("its name must be one of its own, of letters, digits and dashes")
    told = tomllib.loads(text)
    is_dark = told.pop("dark", True)
    variables = told.pop("variables", {})
    if not isinstance(is_dark, bool) or not isinstance(variables, dict):
        raise ValueError("dark is true or false, variables a table")
    if unknown := [key for key in told if key not in _COLOURS]:
        raise ValueError(f"it has no colour {unknown[0]}")
    base = next(theme for theme in themes.THEMES if theme.dark is is_dark)
    if unknown := [key for key in variables if key not in base.variables]:
        raise ValueError(f"there is no variable {unknown[0]}")
    own = {**base.variables, **_checked(variables, with_share=True)}
    return replace(base, name=name, **_checked(told), variables=own)


def _checked(colours: Mapping[str, Any], with_share: bool = False) -> dict[str, Any]:
    """Return the colours. Raises ValueError if one is none."""
    for key, value in colours.items():
        try:
            Color.parse(_SHARE.sub("", value) if with_share else value)
        except (ColorParseError, TypeError, AttributeError):
            raise ValueError(f"{key} is no colour: {value}") from None
    return dict(colours)


class HasColours(App[str]):
    """An app in the colours of a theme: one of the two, of the person or of Textual."""

    def get_css_variables(self) -> dict[str, str]:
        """Return the colours of the theme, with those that it need not have."""
        variables = super().get_css_variables()
        return {themes.LIT: f"{variables['accent']} 28%", **variables}

    def _watch_ansi_color(self, ansi_color: bool | None) -> None:
        super()._watch_ansi_color(ansi_color)
        self._drop_filter()

    def _refresh_truecolor_filter(self, theme: TerminalTheme) -> None:
        super()._refresh_truecolor_filter(theme)
        self._drop_filter()

    def _drop_filter(self) -> None:
        """Turn off the filter of a terminal's own colours: the two themes name none. It takes 2 ms for a list."""
        for one in self._filters:
            if isinstance(one, ANSIToTruecolor) and self.theme in (themes.DARK, themes.LIGHT):
                one.enabled = False
