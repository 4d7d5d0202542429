"""A JSON file of the person's own. Unlike a measurement it cannot be made again, so a damaged one is never replaced."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from longsearch.app.paths import data_folder
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import replace_object

LOCK_TIMEOUT_S = 10.0
_NAMING_FOLDERS = ("basket.json", "history.json", "saved.json", "last.json")
_TEXTS = frozenset({"text", "note", "query", "instruction", "title", "name"})


class UserFile:
    """One file, which holds a JSON object. Safe from any thread and process: a change is made under a lock."""

    def __init__(self, name: str) -> None:
        self.path = data_folder() / name

    def read(self) -> dict[str, Any]:
        """Return the object; {} if there is no file. Raises LongsearchError for a file that cannot be read."""
        try:
            known = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise LongsearchError(f"{self.path} cannot be read: {error.strerror}", "check its permissions") from error
        except ValueError as error:
            raise self._damaged() from error
        if not isinstance(known, dict):
            raise self._damaged()
        return known

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """Yield the object and write it back, if it was changed. Raises LongsearchError."""
        from filelock import (  # takes longer than the rest, and the app only reads before its first frame
            FileLock,
            Timeout,
        )

        try:
            with FileLock(self.path.with_suffix(".lock"), timeout=LOCK_TIMEOUT_S, mode=0o600):
                known = self.read()
                before = json.dumps(known)
                yield known
                if json.dumps(known) != before:
                    replace_object(self.path, known)
        except Timeout as error:
            raise LongsearchError(f"{self.path} is in use", "another longsearch writes it; try again") from error
        except OSError as error:
            raise LongsearchError(f"{self.path} cannot be written: {error.strerror}", "is the disk full?") from error

    def _damaged(self) -> LongsearchError:
        aside = f"{self.path}.damaged-{int(time.time())}"
        return LongsearchError(f"{self.path} is damaged", f"mend it, or move it away: mv '{self.path}' '{aside}'")


def move_all(old: str, new: str) -> None:
    """Let all files of the person name the folder `new`, or a file in it, where they name `old`."""
    for name in _NAMING_FOLDERS:
        file = UserFile(name)
        if file.path.exists():
            with file.changing() as known:
                moved = _moved(known, old, new)
                known.clear()
                known.update(moved)


def forget_folder(root: str) -> None:
    """Take the name of a folder out of the earlier queries and of the states in which the app was left."""
    for name in ("last.json", "history.json", "last-hits.json"):
        file = UserFile(name)
        if file.path.exists():
            with file.changing() as known:
                known.pop(root, None)
                for row in known.get("queries", ()):
                    if isinstance(row, dict) and row.get("root") == root:
                        row["root"] = ""
                hits = known.get("hits", [])
                if any(isinstance(hit, list) and str(hit[0]).startswith(root.rstrip(os.sep) + os.sep) for hit in hits):
                    del known["hits"]  # the numbers of the others would mean other hits


def _moved(value: Any, old: str, new: str) -> Any:
    """Return a value with the other folder in each path; what a person wrote and read stays."""
    if isinstance(value, dict):
        return {_moved(key, old, new): own if key in _TEXTS else _moved(own, old, new) for key, own in value.items()}
    if isinstance(value, list):
        return [_moved(own, old, new) for own in value]
    if isinstance(value, str) and (value == old or value.startswith(old.rstrip(os.sep) + os.sep)):
        return new + value[len(old) :]
    return value
