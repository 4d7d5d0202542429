"""What a walk passes over: by name, by marker files, and by `.longsearchignore` files in gitignore's syntax.

Does not list folders. A file inside an ignored folder cannot be taken back in, as in git.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from engine.errors import LongsearchError

IGNORE_FILE = ".longsearchignore"
_MAX_IGNORE_BYTES = 1_000_000
_MAX_WILDCARDS = 3
"""Of a name in a pattern: against 200 letters four took 0.4 s, five 13 s, and a daemon answers nobody meanwhile."""
_PASSED_OVER = frozenset(
    {"node_modules", "__pycache__", "site-packages", "bower_components", "lost+found", "$RECYCLE.BIN"}
)
# CACHEDIR.TAG: bford.info/cachedir; pyvenv.cfg: a Python environment, full of licences that are .txt and .md files.
_CACHE_MARKERS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})


def is_passed_over(name: str) -> bool:
    """Whether an entry called `name` is hidden (so is `.git`) or holds what others wrote for machines."""
    return name.startswith(".") or name in _PASSED_OVER


def marks_a_cache(names: Iterable[str]) -> bool:
    """Whether a folder with entries of these `names` says that it is a cache or an environment."""
    return not _CACHE_MARKERS.isdisjoint(names)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """One ignore file's patterns, and those of the folders above it."""

    folder: str
    """Where the file lies, relative to the root: its patterns are relative to it. "" for the root."""
    spec: GitIgnoreSpec
    outer: "IgnoreRules | None"

    def ignores(self, path: str) -> bool:
        """Whether `path` (relative to the root; a folder ends with "/") is ignored; the innermost word counts."""
        rules: IgnoreRules | None = self
        while rules is not None:
            inner_path = path[len(rules.folder) + 1 :] if rules.folder else path
            verdict = rules.spec.check_file(inner_path).include
            if verdict is not None:
                return verdict
            rules = rules.outer
        return False


def read_rules(path: Path, folder: str, outer: IgnoreRules | None) -> IgnoreRules:
    """The rules of the ignore file at `path`, in `folder`. Raises `LongsearchError` where they make no sense."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_IGNORE_BYTES + 1)
        if len(data) > _MAX_IGNORE_BYTES:
            raise LongsearchError(f"longer than {_MAX_IGNORE_BYTES:,} bytes: not heeded")
        lines = data.decode("utf-8", errors="surrogateescape").splitlines()  # as file names are decoded
        if any(name.count("*") > _MAX_WILDCARDS for line in lines for name in re.sub(r"\*+", "*", line).split("/")):
            raise LongsearchError(f"not heeded: more than {_MAX_WILDCARDS} asterisks in one name", "write it simpler")
        return IgnoreRules(folder, GitIgnoreSpec.from_lines(lines), outer)
    except OSError as error:
        raise LongsearchError(f"cannot be read: {error.strerror}") from error
    except (ValueError, re.error) as error:
        raise LongsearchError(f"not heeded: {error}", "its lines follow gitignore's syntax") from error
