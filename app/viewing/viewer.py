"""Opens a file in the system's viewer, at a page if that viewer takes a page number."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from longsearch.app.settings.reading import current
from longsearch.engine.errors import LongsearchError

SETTING = "LONGSEARCH_VIEWER"
_EXAMPLE = f"set {SETTING}, for instance to 'tmux new-window less {{path}}'"
# viewers of PDFs that take a page number, in order of preference
_PDF_VIEWERS = (
    ("zathura", ["zathura", "-P", "{page}", "{path}"]),
    ("okular", ["okular", "-p", "{page}", "{path}"]),
    ("evince", ["evince", "-i", "{page}", "{path}"]),
    ("sioyek", ["sioyek", "--page", "{page}", "{path}"]),
    ("SumatraPDF", ["SumatraPDF", "-page", "{page}", "{path}"]),
)


def open_in_viewer(path: str, page: int | None) -> str:
    """Open the file. Returns a line that names the viewer. Raises LongsearchError if no viewer can be started."""
    if not Path(path).exists():
        raise LongsearchError("the file is gone", "it leaves the results after the next sweep of the folder")
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
    threading.Thread(target=process.wait, daemon=True).start()  # else the viewer would stay a zombie when it ends
    at = f" at page {page}" if page and any(str(page) == word for word in command) else ""
    return f"opened with {Path(command[0]).name}{at}"


def viewer_command(path: str, page: int | None, environment: Mapping[str, str], platform: str) -> list[str]:
    """Return the command line that opens `path`, with a program on the PATH. Raises LongsearchError if none fits."""
    template = list(current("viewer", environment=environment).viewer)
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
