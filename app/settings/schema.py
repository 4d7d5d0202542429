"""The one list of settings: what each means, what it may hold, its default and its environment variable.

The config file, the environment, `longsearch config`, docs/settings.md and the file that `longsearch config edit` makes
all follow this list. A setting is added here, in one line, and read as `current().NAME`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from longsearch.app.settings import kinds
from longsearch.app.settings.kinds import Kind


class Setting(NamedTuple):
    """The description of a setting, without its value."""

    key: str
    """Its name in the config file; `citations.form` is the key `form` of the table `citations`."""
    name: str
    """The field of `Settings` that holds its value."""
    kind: Kind
    meaning: str
    """Markdown for the documentation. Links are those of a page in docs/."""
    default: str
    """The words of the documentation for the default."""
    example: str
    """A value as it is written in the config file, for the file that `config edit` makes."""
    variable: str
    """Its environment variable, or ""."""


def _setting(
    kind: Kind, value: Any, default: str, example: str, meaning: str, variable: str = "", key: str = ""
) -> Any:
    """Declare a field of `Settings`: its name is the setting's. `value` is the default as `kind` returns it."""
    about = Setting(key, "", kind, meaning, default, example, variable)
    return field(default_factory=lambda: value, metadata={"about": about})


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force. `SETTINGS` says what each means."""

    folders: tuple[Path, ...] = _setting(
        kinds.PATHS, (), "none", '["~/papers", "~/notes"]',
        "folders to index, beside those that you opened or added",
    )  # fmt: skip
    model: str = _setting(
        kinds.MODEL, "bundled", "`bundled`", '"multilingual"',
        "the model of folders without [one of their own](models.md#one-model-for-each-folder): `english`,"
        " `multilingual`, a folder, or the name of [a downloaded one](models.md)",
        "LONGSEARCH_MODEL",
    )  # fmt: skip
    dtype: str = _setting(
        kinds.DTYPE, "auto", "`auto`", '"float32"',
        "the number format in which documents are read: `auto`, `float32`, `bfloat16` or `int8`; see"
        " [speed](speed.md#reading-without-bfloat16)",
        "LONGSEARCH_DTYPE",
    )  # fmt: skip
    width: float | None = _setting(
        kinds.WIDTH, None, "`auto`", '"1/2"',
        "the part of [a MatMamba model](speed.md#widths) that reads new documents: `1`, `1/2`, `1/4`, `1/8`, or `auto`",
        "LONGSEARCH_WIDTH",
    )  # fmt: skip
    deepen: bool = _setting(
        kinds.FLAG, False, "`false`", "true",
        "whether the daemon may read narrow documents again at full width, while nobody searches and the machine is on"
        " mains",
        "LONGSEARCH_DEEPEN",
    )  # fmt: skip
    think: int | None = _setting(
        kinds.COUNT, None, "as many as its documents have", "10",
        "how many soft tokens [a generative model](models.md#models-that-think) reads a query on for, in the app and in"
        " `search`",
        "LONGSEARCH_THINK",
    )  # fmt: skip
    ocr: str | None = _setting(
        kinds.OCR, None, "`false`", '"deu+eng"',
        "`true`, or tesseract's languages such as `deu+eng`: read [scanned pages](formats.md#scanned-pages-and-ocr),"
        " old ones while the machine is idle",
        "LONGSEARCH_OCR",
    )  # fmt: skip
    viewer: tuple[str, ...] = _setting(
        kinds.COMMAND, (), "[the first viewer found](app.md#opening-a-file)", '"zathura -P {page} {path}"',
        "the command that opens a file, with `{path}` and `{page}`",
        "LONGSEARCH_VIEWER",
    )  # fmt: skip
    editor: tuple[str, ...] = _setting(
        kinds.COMMAND, (), "`$VISUAL`, `$EDITOR`, or the first editor found", '"vim"',
        "the command that edits a text file",
        "LONGSEARCH_EDITOR",
    )  # fmt: skip
    theme: str = _setting(
        kinds.TEXT, "auto", "`auto`", '"longsearch-light"',
        "[the colours of the app](app.md#colours-and-keys)",
    )  # fmt: skip
    graphics: str = _setting(
        kinds.GRAPHICS, "auto", "`auto`: what the terminal answers", '"sixel"',
        "how the app draws [printed pages](app.md#the-page-as-printed): `kitty`, `iterm2`, `sixel` or `blocks`",
        "LONGSEARCH_GRAPHICS",
    )  # fmt: skip
    history: bool = _setting(
        kinds.FLAG, True, "`true`", "false",
        "whether [queries](app.md#earlier-queries) are remembered",
        "LONGSEARCH_HISTORY",
    )  # fmt: skip
    restore: bool = _setting(
        kinds.FLAG, True, "`true`", "false",
        "whether the app opens with what was in view when it was left",
        "LONGSEARCH_RESTORE",
    )  # fmt: skip
    keys: Mapping[str, str] = _setting(
        kinds.KEYS, {}, "those of the app", '"main.open" = "o,f9"',
        "other keys for [the app's commands](app.md#colours-and-keys): name of the command, and its keys",
    )  # fmt: skip
    adapters: Mapping[str, tuple[str, ...]] = _setting(
        kinds.ADAPTERS, {}, "none", 'djvu = "djvutxt {path} -"',
        "programs that read more formats: ending of the file's name, and the command that prints its text in UTF-8",
    )  # fmt: skip
    actions: Mapping[str, tuple[str, ...]] = _setting(
        kinds.ACTIONS, {}, "none", 'note = ["jrnl", "{text}", "{path}"]',
        "[commands of your own](app.md#actions-of-your-own) for a result: a name, and a command with"
        " `{path}`, `{page}`, `{text}`",
    )  # fmt: skip
    citation_form: str = _setting(
        kinds.FORM, "plain", "`plain`", '"pandoc"',
        "how a copied passage is cited: `plain`, `markdown`, `pandoc`, `latex` or `org`",
        "LONGSEARCH_CITATION",
        key="citations.form",
    )  # fmt: skip
    bib: tuple[Path, ...] = _setting(
        kinds.PATHS, (), "none", '["~/library.bib"]',
        "BibTeX files, such as Better BibTeX exports them, that"
        " [citation keys](evidence.md#keys-from-a-reference-manager) come from; the variable separates them as `PATH`"
        " does",
        "LONGSEARCH_BIB",
        key="citations.bib",
    )  # fmt: skip
    zotero: Path | None = _setting(  # noqa: RUF009 - it is `field`, with more to say
        kinds.PATH, None, "none", '"~/Zotero"',
        "the data folder of Zotero, which is only read",
        "LONGSEARCH_ZOTERO",
        key="citations.zotero",
    )  # fmt: skip


def _named(about: Setting, name: str) -> Setting:
    return about._replace(name=name, key=about.key or name)


SETTINGS = tuple(_named(one.metadata["about"], one.name) for one in fields(Settings))
"""Every setting, in the order of the documentation."""


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return next(setting.variable for setting in SETTINGS if setting.name == name)
