"""What a setting may hold, in the config file and in an environment variable. Pure: a value in, a checked value out."""

import os
import shlex
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.widths import parse_wish

_SUFFIX = late_pattern(r"\.[^./\s]{1,20}")
_ON = frozenset({"1", "yes", "on", "true"})
_OFF = frozenset({"0", "no", "off", "false"})


class Kind(NamedTuple):
    """A kind of value. Both functions raise ValueError for a value that is not allowed."""

    expected: str
    """The allowed values, as they follow "set it to" in a message."""
    from_toml: Callable[[Any], Any]
    """Return the setting's value for a value of the config file."""
    from_text: Callable[[str], Any]
    """The same for the text of an environment variable, which is not empty."""
    is_table: bool = False
    """Whether the value is a table of the config file, whose keys a person chooses."""


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError
    return value.strip()


def _model(value: Any) -> str:
    """Return the name of a model, or the absolute path of its folder."""
    name = _string(value)
    return str(_path(name)) if name.startswith(("~", ".", "/")) else name


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _flag_of_text(text: str) -> bool:
    if text.lower() not in _ON | _OFF:
        raise ValueError
    return text.lower() in _ON


def _width(value: Any) -> float | None:
    """Return the width that is asked for; None for `auto`."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError
    try:
        return parse_wish(str(value).strip())
    except ArgumentTypeError as error:
        raise ValueError from error


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError
    return value


def _count_of_text(text: str) -> int:
    if not text.isdecimal():
        raise ValueError
    return int(text)


def _ocr(value: Any) -> str | None:
    """Return the languages of OCR: None for no OCR, "" for tesseract's default language."""
    if isinstance(value, bool):
        return "" if value else None
    from longsearch.indexer.extract.pdf.ocr import are_languages

    languages = _string(value)
    if not are_languages(languages):
        raise ValueError
    return languages


def _ocr_of_text(text: str) -> str | None:
    return _ocr(_flag_of_text(text) if text.lower() in _ON | _OFF else text)


def _command(value: Any) -> tuple[str, ...]:
    """Return the words of a command, as a shell splits them."""
    words = [_string(word) for word in value] if isinstance(value, list) else shlex.split(_string(value))
    if not words:
        raise ValueError
    return tuple(words)


def _path(value: Any) -> Path:
    """Return an absolute path. A relative one would mean another folder for the daemon."""
    path = Path(os.path.expanduser(_string(value)))  # noqa: PTH111 - Path.expanduser raises for an unknown user
    if not path.is_absolute():
        raise ValueError
    return path


def _paths(value: Any) -> tuple[Path, ...]:
    return tuple(_path(one) for one in (value if isinstance(value, list) else [value]))


def _paths_of_text(text: str) -> tuple[Path, ...]:
    return tuple(_path(one) for one in text.split(os.pathsep) if one.strip())


def _keys(value: Any) -> dict[str, str]:
    """Return the keys of each command, separated by commas: {"main.open": "o,f9"}."""
    named = _flattened(_table(value))
    return {name: ",".join(map(_string, keys if isinstance(keys, list) else [keys])) for name, keys in named.items()}


def _adapters(value: Any) -> dict[str, tuple[str, ...]]:
    """Return the command of each suffix, such as `.doc`. A command without `{path}` gets the path as its last word."""
    commands = {f".{_string(name).lstrip('.').lower()}": _command(words) for name, words in _table(value).items()}
    if not all(_SUFFIX.fullmatch(suffix) for suffix in commands):
        raise ValueError
    is_placed = {name: any("{path}" in word for word in words) for name, words in commands.items()}
    return {name: words if is_placed[name] else (*words, "{path}") for name, words in commands.items()}


def _actions(value: Any) -> dict[str, tuple[str, ...]]:
    """Return the command of each action, by the name that the person has given it."""
    return {_string(name): _command(words) for name, words in _table(value).items()}


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError
    return value


def _flattened(table: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Join the names of nested tables: TOML reads `main.open = "o"` as a table `main` with the key `open`."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        flat |= _flattened(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": value}
    return flat


def _one_of(*names: str) -> Kind:
    def check(value: Any) -> str:
        if _string(value) not in names:
            raise ValueError
        return _string(value)

    return Kind(f"{', '.join(names[:-1])} or {names[-1]}", check, check)


def _no_text(text: str) -> Any:
    raise ValueError


TEXT = Kind("a text in quotation marks", _string, _string)
MODEL = Kind("a model's name, or the absolute path of its folder", _model, _string)
FLAG = Kind("true or false", _flag, _flag_of_text)
WIDTH = Kind("auto, 1, 1/2, 1/4 or 1/8", _width, _width)
COUNT = Kind("a whole number, such as 10", _count, _count_of_text)
OCR = Kind("true, false, or tesseract's languages, such as deu+eng", _ocr, _ocr_of_text)
COMMAND = Kind("a command line, such as zathura -P {page} {path}", _command, _command)
PATH = Kind("an absolute path, or one that begins with ~", _path, _path)
PATHS = Kind("absolute paths, or ones that begin with ~, in a list", _paths, _paths_of_text)
KEYS = Kind('a table of keys, such as "main.open" = "o,f9"', _keys, _no_text, is_table=True)
ADAPTERS = Kind('a table of commands, such as djvu = "djvutxt {path} -"', _adapters, _no_text, is_table=True)
ACTIONS = Kind('a table of commands, such as note = "jrnl {text}"', _actions, _no_text, is_table=True)
DTYPE = _one_of("auto", "float32", "bfloat16", "int8")
FORM = _one_of("plain", "markdown", "pandoc", "latex", "org")
GRAPHICS = _one_of("auto", "kitty", "iterm2", "sixel", "blocks")
