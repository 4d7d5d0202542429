"""`longsearch restore`: list the kept versions of a person's own files, and bring one back."""

import json
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.options import JSON, option
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.app.user_data.user_file import UserFile

HELP = (
    "list the kept versions of your basket, saved searches, history, settings and names of folders, and bring one back"
)
_HELD = {
    "basket": ("passages", "passages"),
    "saved": ("searches", "searches"),
    "history": ("queries", "queries"),
    "settings": ("characters", "text"),
    "folders": ("names", "names"),
}
"""Name of a file -> what it holds, and its key in the file's JSON."""
OPTIONS = (
    option("name", "which file; default: list all", nargs="?", choices=tuple(_HELD)),
    option("version", "the number of a version, or a file that was set aside", nargs="?"),
    JSON,
)


def run(options: Namespace) -> int:
    """List the versions, or restore one. Returns 0; 1 if there is none."""
    if options.version is not None:
        return _restore(options.name, options.version)
    rows = [row for name in ([options.name] if options.name else _HELD) for row in _rows(name)]
    if options.json:
        print(json.dumps({"versions": rows}, indent=2))
    else:
        for row in rows:
            print(_in_words(row))
        print("to bring one back: longsearch restore NAME VERSION" if rows else "no version is kept yet")
    return 0 if rows else 1


def _file(name: str) -> "UserFile":
    from longsearch.app.folders.names import names_file
    from longsearch.app.user_data.basket import Basket
    from longsearch.app.user_data.history import History
    from longsearch.app.user_data.saved import SavedSearches
    from longsearch.app.user_data.settings_copies import settings_file

    files = {
        "basket": Basket().file,
        "saved": SavedSearches().file,
        "history": History().file,
        "settings": settings_file(),
        "folders": names_file(),
    }
    return files[name]


def _rows(name: str) -> list[dict[str, Any]]:
    file = _file(name)
    return [
        {
            "name": name,
            "version": path.name.removeprefix(f"{file.path.name}.") if path != file.path else "now",
            "path": str(path),
            "saved_at": path.stat().st_mtime,
            "n": _count(file, path, _HELD[name][1]),
        }
        for path in (file.path, *file.versions(), *file.set_aside())
        if path.exists()
    ]


def _count(file: "UserFile", path: Path, key: str) -> int | None:
    """Return how many things a version holds; None if it is damaged."""
    try:
        return len(file.read_version(path).get(key, []))
    except Exception:  # whatever a damaged file makes of it
        return None


def _in_words(row: dict[str, Any]) -> str:
    saved_at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row["saved_at"]))
    held = "damaged" if row["n"] is None else f"{row['n']:,} {_HELD[row['name']][0]}"
    return f"{row['name']:8} {printable(row['version']):30} {saved_at}  {held}"


def _restore(name: str, version: str) -> int:
    file = _file(name)
    found = [row for row in _rows(name) if version in (row["version"], row["path"], Path(row["path"]).name)]
    if not found:
        raise LongsearchError(f"{name} has no version {version}", "see them: longsearch restore")
    file.restore(Path(found[0]["path"]))
    if name == "settings":
        from longsearch.app.user_data.settings_copies import restore_settings

        restore_settings()
    print(f"{name} is again as in version {printable(version)}; what it was before is version 1")
    return 0
