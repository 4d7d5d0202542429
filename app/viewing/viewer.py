"""Opens a file where it is: in a viewer at page and phrase, in an editor at the line; or says how, and what to copy."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from longsearch.app.settings.editor import chosen_editor
from longsearch.app.settings.reading import current
from longsearch.app.viewing.downloading import download
from longsearch.app.viewing.known import APPLICATIONS, AT_LINE, OWN_WINDOW, VIEWERS, Viewer
from longsearch.engine.errors import LongsearchError
from longsearch.engine.opened import Opened
from longsearch.engine.printable import condensed, printable
from longsearch.indexer.extract.formats import LIGHT_MARKUP, Format, format_of

SETTING = "LONGSEARCH_VIEWER"
WINDOWS = "Windows"
"""Stands for `os.startfile` in a plan. A path given to `cmd /c start` could run a command: `a&calc&.pdf`."""
_EXAMPLE = f"set {SETTING}, for instance to 'tmux new-window less {{path}}'"
REFUSES_WITHIN_S = 0.5
"""Seconds within which a viewer that does not know an option ends."""
_PHRASE_CHARACTERS = 40
"""Length of a phrase: printed lines are longer, so most phrases stand on one; viewers find no phrase across lines."""

_NAMES = re.compile(r"\{(?:page|index|line|phrase|path|text)\}")
_BATCH = (".bat", ".cmd")
"""Files that Windows runs by its shell, which would read a text from a document as commands."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and the place in it."""

    path: str
    page: int | None = None
    """The number of the page, from 1; None if the format has no pages."""
    text: str = ""
    """The text at the place: the excerpt, or the passage; "" if no place is meant."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a file is to be opened."""

    command: tuple[str, ...]
    where: str
    """" at page 12", or ""."""
    fallback: tuple[str, ...] = ()
    """The command to run if the program refuses this one."""
    needs_terminal: bool = False
    needs_display: bool = True


def open_in_viewer(path: str, page: int | None, text: str = "") -> Opened:
    """Open the file at a place. Raises LongsearchError if it is gone, or no viewer can be started."""
    download(path)
    if not Path(path).exists():
        raise LongsearchError("the file is gone", "it leaves the results after the next sweep of the folder")
    plan = plan_opening(Target(path, page, text), os.environ, sys.platform)
    if plan is None or (plan.needs_display and not _has_display(os.environ, sys.platform)):
        command = shlex.join(plan.command) if plan is not None else path
        return Opened(f"no display here; copied: {command}", copy=command)
    name = Path(plan.command[0]).name
    if plan.needs_terminal:
        return Opened(f"back from {name}", command=plan.command)
    _start(plan)
    return Opened(f"opened with {name if name != 'osascript' else 'Skim'}{plan.where}")


def run_action(name: str, target: Target) -> Opened:
    """Run a command of the person's own, without a shell. Raises LongsearchError if it cannot be started."""
    command = current("actions").actions.get(name)
    if command is None:
        raise LongsearchError(f"there is no action {name}", "see [actions] in: longsearch config edit")
    program = shutil.which(command[0])
    if program is None or program.lower().endswith(_BATCH):
        why = "is not installed" if program is None else "is a batch file, which a shell would run"
        raise LongsearchError(f"{command[0]} {why}", "see [actions] in: longsearch config edit")
    text = printable(condensed(target.text))  # what a document says may neither drive a terminal nor be an option
    text = f" {text}" if text.startswith("-") else text
    _start(Plan((program, *_filled(command[1:], replace(target, text=text))), ""))
    return Opened(f"{name}: started {Path(program).name}")


def plan_opening(target: Target, environment: Mapping[str, str], platform: str) -> Plan | None:
    """Return how to open a file, with a program that is here. None if none is known and there is no display.

    Raises LongsearchError if there is a display, and no program that could open the file.
    """
    if template := current("viewer", environment=environment).viewer:
        return _own(template, target)
    if is_text(target.path) and (editor := _editor(environment)):
        return _in_editor(editor, target)
    if target.path.lower().endswith(".pdf") and target.page:
        for viewer in found_viewers(platform):
            return _in_viewer(viewer, target)
    if platform == "darwin":
        return Plan(("open", target.path), _without_page(target))
    if platform == "win32":
        return Plan((WINDOWS, target.path), _without_page(target))
    if shutil.which("xdg-open"):
        return Plan(("xdg-open", target.path), _without_page(target))
    if not _has_display(environment, platform):
        return None
    raise LongsearchError("no viewer was found", f"install xdg-utils, or {_EXAMPLE}")


def found_viewers(platform: str) -> Iterator[Viewer]:
    """Yield the known viewers of PDFs that are installed, the preferred one first."""
    for viewer in VIEWERS:
        if viewer.app:
            folders = (folder.expanduser() for folder in APPLICATIONS)
            if platform == "darwin" and any((folder / viewer.app).exists() for folder in folders):
                yield viewer
        elif shutil.which(viewer.name):
            yield viewer


def describe_viewers(environment: Mapping[str, str], platform: str) -> str:
    """Name every viewer and editor that is here, and what it can be told; the one in use comes first."""
    found = [f"{viewer.name} (page{' and phrase' if viewer.at_phrase else ''})" for viewer in found_viewers(platform)]
    if own := current(environment=environment).viewer:
        found.insert(0, f"{shlex.join(own)} (of the settings)")
    opener = "open" if platform == "darwin" else "xdg-open"
    if shutil.which(opener):
        found.append(f"{opener} (no page)")
    if editor := _editor(environment):
        at_line = "line" if Path(editor[0]).name in AT_LINE else "no line"
        found.append(f"for text files {shlex.join(editor)} ({at_line})")
    where = "" if _has_display(environment, platform) else "; no display here: o says and copies what it would run"
    return (", ".join(found) or f"none; {_EXAMPLE}") + where


def phrase_of(text: str) -> str:
    """Return the first words of a text, few enough to stand on one printed line; "" if there are not two."""
    phrase = ""
    for word in text.split():
        longer = f"{phrase} {word}" if phrase else word
        if len(longer) > _PHRASE_CHARACTERS:
            break
        phrase = longer
    return phrase if " " in phrase else ""


def _own(template: tuple[str, ...], target: Target) -> Plan:
    if not any("{path}" in word for word in template):
        template = (*template, "{path}")
    filled = _filled(template, target, line=None)
    has_page = target.page is not None and any("{page}" in word for word in template)
    return Plan(filled, f" at page {target.page}" if has_page else "", needs_display=False)


def _in_viewer(viewer: Viewer, target: Target) -> Plan:
    at_page = _filled(viewer.at_page, target)
    if viewer.at_phrase and phrase_of(target.text):
        return Plan(_filled(viewer.at_phrase, target), f" at page {target.page} and the phrase", fallback=at_page)
    return Plan(at_page, f" at page {target.page}")


def _in_editor(editor: tuple[str, ...], target: Target) -> Plan:
    name = Path(editor[0]).name
    line = line_of(Path(target.path), target.text) if target.text and name in AT_LINE else None
    command = (*editor, *_filled(AT_LINE[name] if line else ("{path}",), target, line))
    has_window = name in OWN_WINDOW
    return Plan(command, f" at line {line}" if line else "", needs_terminal=not has_window, needs_display=has_window)


def _editor(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the editor that the person has chosen, in words; () if none is chosen or it is not here."""
    editor = chosen_editor(environment)
    return editor if editor and shutil.which(editor[0]) else ()


def _without_page(target: Target) -> str:
    return f" (it takes no page: p. {target.page})" if target.page else ""


def _has_display(environment: Mapping[str, str], platform: str) -> bool:
    if platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in environment
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def _filled(template: Sequence[str], target: Target, line: int | None = None) -> tuple[str, ...]:
    page = target.page or 1
    values = {
        "{page}": str(page), "{index}": str(page - 1), "{line}": str(line or 1), "{phrase}": phrase_of(target.text),
        "{path}": target.path, "{text}": target.text,
    }  # fmt: skip
    return tuple(_NAMES.sub(lambda name: values[name[0]], word) for word in template)  # never a name within a value


def _start(plan: Plan) -> None:
    """Start the command; if the program soon ends with an error, the fallback."""
    if sys.platform == "win32" and plan.command[0] == WINDOWS:
        os.startfile(plan.command[1])  # noqa: S606 - the file itself, by the program that Windows has for it
        return
    process = _spawn(plan.command)
    if plan.fallback:
        try:
            if process.wait(REFUSES_WITHIN_S):
                process = _spawn(plan.fallback)
        except subprocess.TimeoutExpired:
            pass
    threading.Thread(target=process.wait, daemon=True).start()  # else it would stay a zombie when it ends


def _spawn(command: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603 - a list, no shell; the path is absolute and so never an option
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        message = f"cannot start {command[0]}: {error.strerror}"
        raise LongsearchError(message, f"set {SETTING} to another viewer") from error


_MAX_TEXT_BYTES = 10_000_000
_WORDS = ((0, 20), (0, 6), (6, 12), (0, 3), (3, 6))
"""Which words of a text are looked for, one after another: markup may stand among the first ones."""


def is_text(path: str) -> bool:
    """Return whether an editor shows this file as it is."""
    return format_of(path) in LIGHT_MARKUP | {Format.PLAIN}


def line_of(path: Path, text: str) -> int | None:
    """Return the line, from 1, in which `text` begins in a text file; None if it is not found.

    The index holds a file's text without its markup, so its first words are looked for, with any signs between them.
    """
    words = re.findall(r"\w+", text)
    if not words or not (is_text(str(path)) or format_of(str(path)) is Format.HTML):
        return None
    try:
        content = path.read_bytes().decode("utf-8", "replace") if path.stat().st_size <= _MAX_TEXT_BYTES else ""
    except OSError:
        return None
    for first, last in _WORDS:
        wanted = r"\W{1,40}".join(map(_wrapped, words[first:last]))
        if wanted and (found := re.search(wanted, content)):
            return content.count("\n", 0, found.start()) + 1
    return None


def _wrapped(word: str) -> str:
    """The expression for a word, which may be broken anywhere in the file if it is a run of Chinese or Japanese."""
    return re.escape(word) if word.isascii() else r"\s*".join(map(re.escape, word))
