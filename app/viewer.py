"""Open a file in the viewer of the person's system, at the page where that viewer can be told one."""

import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from engine.errors import LongsearchError

SETTING = "LONGSEARCH_VIEWER"
_EXAMPLE = f"set {SETTING}, for instance to 'tmux new-window less {{path}}'"
# viewers that can be told a page, in the order they are looked for; PDF only
_PDF_VIEWERS = (
    ("zathura", ["zathura", "-P", "{page}", "{path}"]),
    ("okular", ["okular", "-p", "{page}", "{path}"]),
    ("evince", ["evince", "-i", "{page}", "{path}"]),
    ("sioyek", ["sioyek", "--page", "{page}", "{path}"]),
    ("SumatraPDF", ["SumatraPDF", "-page", "{page}", "{path}"]),
)


def open_in_viewer(path: str, page: int | None) -> str:
    """Open the file; one line that says with what. Raises LongsearchError where nothing can."""
    if not Path(path).exists():
        raise LongsearchError("the file is gone", "it will leave the results when the folder is swept")
    command = viewer_command(path, page, os.environ, sys.platform)
    try:
        process = subprocess.Popen(  # noqa: S603 - a list, no shell; the path is absolute and so never an option
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        message = f"cannot start {command[0]}: {error.strerror}"
        raise LongsearchError(message, f"set {SETTING} to another viewer") from error
    threading.Thread(target=process.wait, daemon=True).start()  # or it would stay as a zombie
    at = f" at page {page}" if page and any(str(page) == word for word in command) else ""
    return f"opened with {Path(command[0]).name}{at}"


def viewer_command(path: str, page: int | None, environment: Mapping[str, str], platform: str) -> list[str]:
    """The command line that opens `path`; pure but for looking on the PATH. Raises LongsearchError where none fits."""
    template = shlex.split(environment.get(SETTING, ""))
    if template:
        if not any("{path}" in word for word in template):
            template.append("{path}")
        return _filled(template, path, page)
    if platform == "darwin":
        return ["open", path]
    if platform == "win32":
        return ["cmd", "/c", "start", "", path]
    if not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        raise LongsearchError("there is no graphical display here", _EXAMPLE)
    if path.lower().endswith(".pdf") and page:
        for name, command in _PDF_VIEWERS:
            if shutil.which(name):
                return _filled(command, path, page)
    if shutil.which("xdg-open"):
        return ["xdg-open", path]
    raise LongsearchError("no viewer was found", f"install xdg-utils, or set {SETTING}")


def _filled(template: list[str], path: str, page: int | None) -> list[str]:
    return [word.replace("{page}", str(page or 1)).replace("{path}", path) for word in template]
