"""Reads the settings: environment variable before config file before default. Everything else asks this module.

A mistake in the config file costs that setting alone, which then has its default; a file that is not TOML counts as
empty. So a mistake never stops a search: whoever asks gets values, and the mistakes beside them. Only what writes an
index calls `require_sound` first: with a misspelt `model` it would read every document again with another one.
"""

import os
import stat
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from longsearch.app.paths import config_path
from longsearch.app.settings.schema import SETTINGS, Setting, Settings
from longsearch.engine.errors import LongsearchError
from longsearch.engine.late_patterns import late_pattern

_PLACE = late_pattern(r" \(at (line \d+), column \d+\)| \(at end of document\)")
_MAX_BYTES = 1_000_000
_NOT_USED = "nothing of the file is used until this is mended"


class Problem(NamedTuple):
    """A mistake in the config file, or in an environment variable."""

    message: str
    hint: str
    """How to mend it."""

    def as_error(self) -> LongsearchError:
        """Return it as an error to raise."""
        return LongsearchError(self.message, self.hint)


class Effective(NamedTuple):
    """A setting, and where its value comes from."""

    setting: Setting
    written: Any
    """The value as it was written: a value of TOML, or the text of the variable; None for the default."""
    origin: str
    """`default`, the name of the environment variable, or the config file and the line."""

    @property
    def is_from_file(self) -> bool:
        """Whether the value stands in the config file."""
        return self.origin not in ("default", self.setting.variable)


class Reading(NamedTuple):
    """The settings in force, and what is wrong with them."""

    settings: Settings
    effective: tuple[Effective, ...]
    """One for each of `SETTINGS`."""
    problems: tuple[Problem, ...]
    """The mistakes in the file."""
    wrong_variables: Mapping[str, Problem]
    """The mistakes in environment variables, by name of the setting. Such a variable counts as not set."""


def read(environment: Mapping[str, str] = os.environ) -> Reading:
    """Return the settings in force. The file is read again when it has changed; a mistake in it raises nothing."""
    written: Mapping[str, _Written] = {}
    problems: tuple[Problem, ...] = ()
    try:
        path = config_path()
        found = path.stat()
        _check(found)
        written, problems = _parsed(path, _text(path, found.st_mtime_ns, found.st_size))
    except (LongsearchError, FileNotFoundError, NotADirectoryError):
        pass  # there is no file, or no home folder, as in a container
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        problems = (Problem(f"{path} cannot be read: {reason}", _NOT_USED),)
    values = {name: own.value for name, own in written.items()}
    origins = {name: (own.raw, own.origin) for name, own in written.items()}
    wrong: dict[str, Problem] = {}
    for setting in SETTINGS:
        if text := environment.get(setting.variable, "").strip() if setting.variable else "":
            try:
                values[setting.name] = setting.kind.from_text(text)
                origins[setting.name] = text, setting.variable
            except ValueError:
                wrong[setting.name] = Problem(f"{setting.variable} is {text!r}", f"set it to {setting.kind.expected}")
    effective = [Effective(setting, *origins.get(setting.name, (None, "default"))) for setting in SETTINGS]
    return Reading(Settings(**values), tuple(effective), problems, wrong)


def current(*names: str, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings in force. Raises LongsearchError if the environment variable of one of `names` is wrong.

    A person who sets a variable wants it for this command, so whoever acts by a setting names it here.
    """
    reading = read(environment)
    for name in names:
        if name in reading.wrong_variables:
            raise reading.wrong_variables[name].as_error()
    return reading.settings


def is_from_file(name: str) -> bool:
    """Return whether a setting has its value from the config file."""
    return any(one.setting.name == name and one.is_from_file for one in read().effective)


def require_sound() -> None:
    """Raise LongsearchError if anything is wrong with the config file. Whatever writes an index calls this first."""
    for problem in read().problems:
        raise problem.as_error()


def _check(found: os.stat_result) -> None:
    """Raise OSError for a file that must not be read. It names programs to run, so nobody else may write it."""
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, "it is no file")
    if found.st_size > _MAX_BYTES:
        raise OSError(0, "it has more than 1 MB")
    if hasattr(os, "getuid") and (found.st_mode & stat.S_IWOTH or found.st_uid not in (os.getuid(), 0)):
        raise OSError(0, "other users may write it, and it names programs to run (chmod 600)")


@lru_cache(4)
def _text(path: Path, _modified_ns: int, _n_bytes: int) -> str:
    return path.read_text("utf-8-sig")


class _Written(NamedTuple):
    """A value of the config file that is allowed."""

    value: Any
    """The value in the form in which the program uses it."""
    raw: Any
    """The value as it stands in TOML."""
    origin: str


@lru_cache(4)
def _parsed(path: Path, text: str) -> tuple[Mapping[str, _Written], tuple[Problem, ...]]:
    """Return the allowed values by name of the setting, and what is wrong."""
    import tomllib  # many people have no such file

    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
        found = _PLACE.search(str(error))
        at = f", {found.group(1)}" if found and found.group(1) else ""
        what = _PLACE.sub("", str(error))
        hint = f'texts stand in quotation marks, as in model = "multilingual"; {_NOT_USED}'
        return {}, (Problem(f"{path}{at}: this is not TOML: {what}", hint),)
    given, problems = {}, []
    for key, raw in _leaves(table):
        place = _place(path, text, key)
        setting = next((one for one in SETTINGS if one.key == key), None)
        if setting is None:
            problems.append(_unknown(place, key))
            continue
        try:
            given[setting.name] = _Written(setting.kind.from_toml(raw), raw, place)
        except ValueError:
            problems.append(Problem(f"{place}: {key} is {_shown(raw)}", f"set it to {setting.kind.expected}"))
    return given, tuple(problems)


def _leaves(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the keys of the file with their values. A key inside a table has the table's name before it."""
    groups = {setting.key.partition(".")[0] for setting in SETTINGS if "." in setting.key}
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        inside = [(f"{key}.{name}", one) for name, one in value.items()] if isinstance(value, dict) else []
        found += inside if key in groups and isinstance(value, dict) else [(key, value)]
    return [(key, value) for key, value in found if value != {}]  # a table without keys sets nothing


def _unknown(place: str, key: str) -> Problem:
    known = [setting.key for setting in SETTINGS]
    table, _, last = key.rpartition(".")
    if table and last in known:
        hint = f"put {last} above the first line in brackets, such as [{table}]"
    else:
        near = [one for one in known if one.endswith(f".{key}")] or get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "see them all: longsearch config"
    return Problem(f"{place}: there is no setting {key}", hint)


def _shown(raw: Any) -> str:
    said = "true" if raw is True else "false" if raw is False else repr(raw)
    return said if len(said) <= 60 else f"{said[:59]}…"


def _place(path: Path, text: str, key: str) -> str:
    line = line_of(text, key)
    return f"{path}, line {line}" if line else str(path)


def line_of(text: str, key: str) -> int | None:
    """Return the line, from 1, where the statement begins that sets a key of the file; None in a very long file.

    tomllib tells no lines, so this looks for the shortest beginning of the file that holds the key.
    """
    import tomllib

    lines = text.split("\n")
    begins = 1
    for n in range(1, len(lines) + 1 if len(lines) <= 1000 else 0):
        try:
            found: Any = tomllib.loads("\n".join(lines[:n]))
        except (ValueError, RecursionError):
            continue
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if found is not None:
            return begins
        begins = n + 1
    return None
