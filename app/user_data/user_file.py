"""A JSON file of the person's own. Unlike a measurement it cannot be made again, so its last good versions are kept.

Each change leaves the version before beside the file (`basket.json.1`, up to 5), and a checksum in the file. A damaged
file is set aside, the newest good version takes its place, and `told` says so.
"""

import errno
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from longsearch.app.paths import data_folder
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import CHECKSUM, checked, checksum_of, replace_bytes, replace_object

LOCK_TIMEOUT_S = 10.0
_NAMING_FOLDERS = ("basket.json", "history.json", "saved.json", "last.json")
_TEXTS = frozenset({"text", "note", "query", "instruction", "title", "name"})
N_VERSIONS = 5
_HINTS = {errno.ENOSPC: "make room on its disk", errno.EDQUOT: "make room: your quota is used up"}
_MALFORMED = (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError, LongsearchError)
told: list[str] = []
"""What a person should know: which files were damaged, and what took their place. Who tells it empties the list."""


class UserFile:
    """One file, which holds a JSON object. Safe from any thread and process: a change is made under a lock."""

    def __init__(self, name: str, check: Callable[[dict[str, Any]], object] = lambda _: None) -> None:
        """`check` raises if the object does not hold what the file is for."""
        self.path = data_folder() / name
        self.check = check

    def read(self) -> dict[str, Any]:
        """Return the object; {} if there is no file. Raises LongsearchError for a file that cannot be read."""
        try:
            return self.read_version(self.path)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise LongsearchError(f"{self.path} cannot be read: {error.strerror}", "check its permissions") from error
        except _MALFORMED as error:
            with self._locked():
                return self._mended(error)

    def read_version(self, path: Path) -> dict[str, Any]:
        """Return the object in a version of the file. Raises OSError, or an error of nearly any class for damage."""
        known = checked(json.loads(path.read_bytes()))
        self.check(known)
        return known

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """Yield the object and write it back, if it was changed. Raises LongsearchError."""
        self.read()  # mends a damaged file
        with self._locked():
            known = self.read_version(self.path) if self.path.exists() else {}
            before = json.dumps(known)
            yield known
            if json.dumps(known) != before:
                self._write(known)

    def versions(self) -> list[Path]:
        """Return the versions before this one that are there, the newest first."""
        found = (self.path.with_name(f"{self.path.name}.{number}") for number in range(1, N_VERSIONS + 1))
        return [path for path in found if path.exists()]

    def set_aside(self) -> list[Path]:
        """Return the damaged files that were set aside, the newest first."""
        return sorted(self.path.parent.glob(f"{self.path.name}.damaged-*"), reverse=True)

    def restore(self, path: Path) -> None:
        """Put another version in the place of the file, which becomes the newest version. Raises LongsearchError."""
        try:
            known = json.loads(path.read_bytes())
            known.pop(CHECKSUM, None)  # a person may have mended it by hand
            self.check(known)
        except (OSError, *_MALFORMED) as error:
            raise LongsearchError(f"{path} cannot be read", "take another version: longsearch restore") from error
        with self._locked():
            self._write(known)

    def forget_versions(self) -> None:
        """Delete all versions but the file itself."""
        for path in (*self.versions(), *self.set_aside()):
            path.unlink(missing_ok=True)

    def _write(self, known: dict[str, Any]) -> None:
        if self.path.exists():
            self._keep_version()
        replace_object(self.path, {**known, CHECKSUM: checksum_of(known)}, is_durable=True)

    def _keep_version(self) -> None:
        """Number the versions anew, and let the file be the first of them; a damaged file never becomes one."""
        try:
            self.read_version(self.path)
        except _MALFORMED:
            return
        numbered = [self.path.with_name(f"{self.path.name}.{number}") for number in range(N_VERSIONS, 0, -1)]
        for older, newer in pairwise(numbered):
            if newer.exists():
                newer.replace(older)
        new = numbered[-1].with_suffix(".new")
        new.touch(0o600)
        new.write_bytes(self.path.read_bytes())
        new.replace(numbered[-1])

    def _mended(self, error: BaseException) -> dict[str, Any]:
        """Let the newest good version take the place of the damaged file. Raises LongsearchError if there is none."""
        with suppress(*_MALFORMED, OSError):
            return self.read_version(self.path)  # another process was faster
        for version in self.versions():
            with suppress(*_MALFORMED, OSError):
                known = self.read_version(version)
                aside = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
                self.path.replace(aside)
                replace_object(self.path, {**known, CHECKSUM: checksum_of(known)}, is_durable=True)
                saved_at = time.strftime("%Y-%m-%d %H:%M", time.localtime(version.stat().st_mtime))
                told.append(
                    f"{self.path.name} was damaged and is set aside as {aside.name}; its version of {saved_at} took its"
                    " place (see all: longsearch restore)"
                )
                return known
        aside = self.path.with_name(f"{self.path.name}.damaged-{int(time.time())}")
        hint = f"mend it, or move it away: mv '{self.path}' '{aside}'"
        raise LongsearchError(f"{self.path} is damaged", hint) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of the file. Raises LongsearchError for what goes wrong meanwhile."""
        from longsearch.app.locks import LockBusyError, held  # the app only reads before its first frame

        try:
            with held(self.path.with_suffix(".lock"), LOCK_TIMEOUT_S):
                yield
        except LockBusyError as error:
            raise LongsearchError(f"{self.path} is in use", "another longsearch writes it; try again") from error
        except OSError as error:
            raise _unwritten(self.path, error) from error


def replace_named(path: Path, data: bytes) -> None:
    """Replace a file that a person has named, or make it. It keeps its permissions. Raises LongsearchError."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666  # less what the person's umask takes
        replace_bytes(path, data, is_durable=True, mode=mode)
    except OSError as error:
        raise _unwritten(path, error) from error


def _unwritten(path: Path, error: OSError) -> LongsearchError:
    hint = _HINTS.get(error.errno or 0, "check the permissions of its folder")
    return LongsearchError(f"{path} cannot be written: {error.strerror}", hint)


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
                for row in _list(known, "queries"):
                    if isinstance(row, dict) and row.get("root") == root:
                        row["root"] = ""
                if any(
                    isinstance(hit, list) and hit and str(hit[0]).startswith(root.rstrip(os.sep) + os.sep)
                    for hit in _list(known, "hits")
                ):
                    del known["hits"]  # the numbers of the others would mean other hits
            file.forget_versions()


def _list(known: dict[str, Any], key: str) -> list[Any]:
    """Return the list under a key; an empty one if something else stands there."""
    value = known.get(key)
    return value if isinstance(value, list) else []


def _moved(value: Any, old: str, new: str) -> Any:
    """Return a value with the other folder in each path; what a person wrote and read stays."""
    if isinstance(value, dict):
        return {_moved(key, old, new): own if key in _TEXTS else _moved(own, old, new) for key, own in value.items()}
    if isinstance(value, list):
        return [_moved(own, old, new) for own in value]
    if isinstance(value, str) and (value == old or value.startswith(old.rstrip(os.sep) + os.sep)):
        return new + value[len(old) :]
    return value
