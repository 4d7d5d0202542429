"""Writes the list of settings: as a table for docs/settings.md, and as a new config file. Pure.

`python -m longsearch.app.settings.page` prints the table; a test compares it with the page.
"""

import re
import textwrap

from longsearch.app.settings.schema import SETTINGS, Setting

_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_HEAD = """\
# Settings of longsearch. To set one, take away the # before it. The meaning of each: docs/settings.md
# Environment variables win over this file. To see what is in force, and to check this file: longsearch config
"""


def table() -> str:
    """Return the Markdown table of all settings."""
    rows = ["| key | meaning | default | variable |", "| --- | --- | --- | --- |"]
    for setting in SETTINGS:
        variable = f"`{setting.variable}`" if setting.variable else ""
        rows.append(f"| {_name(setting)} | {setting.meaning}; {_written(setting)} | {setting.default} | {variable} |")
    return "\n".join(rows)


def _name(setting: Setting) -> str:
    group, _, name = setting.key.rpartition(".")
    return f"`[{setting.key}]`" if setting.kind.is_table else f"`{name}` in `[{group}]`" if group else f"`{name}`"


def _written(setting: Setting) -> str:
    """Return how the setting is written in the file, in Markdown."""
    key = setting.key.rpartition(".")[2]
    return f"`{setting.example if setting.kind.is_table else f'{key} = {setting.example}'}`"


def starting_file() -> str:
    """Return a config file that sets nothing: every setting is in it as a comment, with its meaning and an example."""
    parts, group = [_HEAD], ""
    for setting in SETTINGS:
        above, _, key = setting.key.rpartition(".")
        header = setting.key if setting.kind.is_table else above
        if header != group:
            parts.append(f"[{header}]")
            group = header
        meaning = without_marks(f"{setting.meaning}; default: {setting.default}")
        parts += textwrap.wrap(meaning, 96, initial_indent="# ", subsequent_indent="# ")
        parts.append(f"#{setting.example if setting.kind.is_table else f'{key} = {setting.example}'}\n")
    return "\n".join(parts)


def without_marks(markdown: str) -> str:
    """Return the words of a line of Markdown."""
    return _LINK.sub(r"\1", markdown).replace("`", "")


if __name__ == "__main__":
    print(table())
