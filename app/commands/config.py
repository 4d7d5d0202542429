"""`longsearch config`: show the settings in force, edit the config file, check it."""

import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.options import JSON, JSON_AGAIN, Actions
from longsearch.engine.amounts import counted
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.app.settings.reading import Effective, Problem

HELP = "show the settings in force and where each comes from; edit or check the config file"

OPTIONS = (
    Actions(
        {
            "show": (
                "show the config file's path and every setting in force (the same as `longsearch config`)",
                JSON_AGAIN,
            ),
            "edit": ("open the config file in an editor; a new file has every setting in it, as a comment",),
            "keys": (
                "list the commands of the app, by the names that [keys] in the config file takes, and their keys",
                JSON_AGAIN,
            ),
            "check": ("look for mistakes in the config file and in environment variables", JSON_AGAIN),
        }
    ),
    JSON,
)


def run(options: Namespace) -> int:
    """Do the action. Returns 0; `check` and `edit` return 3 if there are mistakes."""
    match options.action:
        case "edit":
            return _edit()
        case "keys":
            return _keys(options.json)
        case "check":
            return _check(options.json)
    return _show(options.json)


def _show(as_json: bool) -> int:
    from longsearch.app.paths import config_path
    from longsearch.app.settings.reading import read

    reading, path = read(), config_path()
    wrong = [*reading.problems, *reading.wrong_variables.values()]
    if as_json:
        settings = {one.setting.key: _as_json(one) for one in reading.effective}
        print(json.dumps({**_about_file(path, wrong), "settings": settings}, indent=2))
        return 0
    print(printable(str(path)) + ("" if path.exists() else " (there is none; to make it: longsearch config edit)"))
    width = max(len(one.setting.key) for one in reading.effective)
    for one in reading.effective:
        print(f"  {one.setting.key:{width}}  {_said(one)}")
    _complain(wrong)
    return 0


def _as_json(one: "Effective") -> dict[str, Any]:
    return {"value": one.written, "origin": one.origin, "default": one.setting.default}


def _about_file(path: Path, wrong: "list[Problem]") -> dict[str, Any]:
    problems = [{"message": problem.message, "hint": problem.hint} for problem in wrong]
    return {"path": str(path), "exists": path.exists(), "problems": problems}


def _said(one: "Effective") -> str:
    """Return a setting's value and origin as a line."""
    from longsearch.app.settings.page import without_marks

    if one.origin == "default":
        return f"{without_marks(one.setting.default)}  (default)"
    written = one.written if isinstance(one.written, str) else json.dumps(one.written, ensure_ascii=False, default=str)
    place = f"line {one.origin.rpartition(' line ')[2]}" if one.is_from_file else one.origin
    return f"{printable(written)}  ({place})"


def _complain(wrong: "list[Problem]") -> None:
    for problem in wrong:
        print(f"longsearch: {printable(problem.message)}", file=sys.stderr)
        print(f"  hint: {printable(problem.hint)}", file=sys.stderr)


def _check(as_json: bool) -> int:
    from longsearch.app.paths import config_path
    from longsearch.app.settings.checking import check, notes
    from longsearch.app.user_data.settings_copies import note_settings

    reading, problems = check()
    path, wrong, said = config_path(), [*problems, *_about_the_model()], notes()
    if not wrong:
        note_settings()
    if as_json:
        print(json.dumps({**_about_file(path, wrong), "notes": said}, indent=2))
        return 3 if wrong else 0
    _complain(wrong)
    for note in said:
        print(f"note: {printable(note)}", file=sys.stderr)
    if not wrong:
        n_set = sum(one.is_from_file for one in reading.effective)
        print(
            f"{printable(str(path))}: {counted(n_set, 'setting')}, no mistake"
            if path.exists()
            else f"there is no {path}"
        )
    return 3 if wrong else 0


def _keys(as_json: bool) -> int:
    from longsearch.app.settings.checking import commands

    found = commands()
    if as_json:
        rows = {name: {"keys": keys.split(", "), "meaning": meaning} for name, (keys, meaning) in found.items()}
        print(json.dumps({"keys": rows}, indent=2))
        return 0
    width = max(len(keys) for keys, _ in found.values())
    for name, (keys, meaning) in found.items():
        print(f"{name:20} {printable(keys):{width}} {meaning}")
    return 0


def _about_the_model() -> "list[Problem]":
    from longsearch.app.models.encoders import chosen_model
    from longsearch.app.settings.reading import Problem
    from longsearch.engine.errors import ModelError
    from longsearch.engine.models.hub import locate

    try:
        locate(chosen_model())
    except ModelError as error:
        return [Problem(f"model: {error.message}", error.hint)]
    return []


def _edit() -> int:
    from longsearch.app.paths import config_path
    from longsearch.app.settings.editor import editor_command
    from longsearch.app.settings.page import starting_file

    path, command = config_path(), editor_command()
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(starting_file())
    try:
        done = subprocess.run([*command, str(path)], check=False)  # noqa: S603 - the person's own editor
    except OSError as error:
        hint = f"set EDITOR to another one, or edit {path}"
        raise LongsearchError(f"cannot start {command[0]}: {error.strerror}", hint) from error
    if done.returncode:
        raise LongsearchError(f"{command[0]} ended with status {done.returncode}", f"the file is {path}")
    return _check(as_json=False)
