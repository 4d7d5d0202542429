"""Decides which files and folders a walk skips: by name, by marker files, and by `.longsearchignore` files.

Ignore files have gitignore's syntax. As in git, no pattern can include a file again whose folder is ignored. Does not
list folders.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from longsearch.engine.errors import LongsearchError

IGNORE_FILE = ".longsearchignore"
_MAX_IGNORE_BYTES = 1_000_000
_MAX_WILDCARDS = 3
"""Wildcards in one name of a pattern. Matching a name of 200 letters takes 0.4 s with four and 13 s with five, and the
daemon answers no request meanwhile."""
_SKIPPED_NAMES = frozenset(
    {"node_modules", "__pycache__", "site-packages", "bower_components", "lost+found", "$RECYCLE.BIN"}
)
_LEFTOVER = re.compile(
    r"~\$.*|\.?~lock\..*#|thumbs\.db|desktop\.ini|\.ds_store|.*\.(crdownload|download|part|partial|sw[op])|.*~|#.*#",
    re.IGNORECASE | re.DOTALL,
)
_OF_A_PAGE = re.compile(r"(.+)(?:[_.]files|-Dateien|_fichiers|_archivos|_arquivos|_bestanden|-filer|_file)", re.DOTALL)
# CACHEDIR.TAG: see bford.info/cachedir. pyvenv.cfg marks a Python environment, full of licences in .txt and .md files.
_CACHE_MARKERS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})


def is_skipped(name: str) -> bool:
    """Return whether to skip an entry called `name`.

    It is hidden (like `.git`), holds files made for machines, is the folder of a download under way, or KOReader's.
    """
    return name.startswith(".") or name in _SKIPPED_NAMES or name.endswith((".download", ".sdr"))


def belongs_to_a_page(folder: str, names: Container[str]) -> bool:
    """Return whether a folder holds the pictures and frames of a page that was saved beside it as one of `names`."""
    found = _OF_A_PAGE.fullmatch(folder)
    return found is not None and any(found[1] + suffix in names for suffix in (".html", ".htm", ".xhtml"))


def is_leftover(name: str) -> bool:
    """Return whether a file called `name` is no document, but the trace of a program at work.

    Such are the owner files of Office and LibreOffice, the notes of file managers, downloads under way, and the swap
    and backup files of editors.
    """
    return _LEFTOVER.fullmatch(name) is not None


def marks_a_cache(names: Iterable[str]) -> bool:
    """Return whether entries of these `names` mark their folder as a cache or an environment."""
    return not _CACHE_MARKERS.isdisjoint(names)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one ignore file, and the rules of the folders above it."""

    folder: str
    """The folder of the ignore file, relative to the root ("" for the root). Patterns are relative to this folder."""
    spec: GitIgnoreSpec
    outer: "IgnoreRules | None"

    def ignores(self, path: str) -> bool:
        """Return whether `path` (relative to the root; a folder ends with "/") is ignored.

        The ignore file nearest to the path decides.
        """
        rules: IgnoreRules | None = self
        while rules is not None:
            inner_path = path[len(rules.folder) + 1 :] if rules.folder else path
            verdict = rules.spec.check_file(inner_path).include
            if verdict is not None:
                return verdict
            rules = rules.outer
        return False


def read_rules(path: Path, folder: str, outer: IgnoreRules | None) -> IgnoreRules:
    """Read the ignore file at `path`, which lies in `folder`. Raises `LongsearchError` if it cannot be used."""
    try:
        with path.open("rb") as file:
            return parse_rules(file.read(_MAX_IGNORE_BYTES + 1), folder, outer)
    except OSError as error:
        raise LongsearchError(f"cannot be read: {error.strerror}") from error


def parse_rules(data: bytes, folder: str, outer: IgnoreRules | None) -> IgnoreRules:
    """Parse the bytes of the ignore file that lies in `folder`. Raises `LongsearchError` if it cannot be used."""
    try:
        if len(data) > _MAX_IGNORE_BYTES:
            raise LongsearchError(f"longer than {_MAX_IGNORE_BYTES:,} bytes: not used")
        lines = data.decode("utf-8", errors="surrogateescape").splitlines()  # file names are decoded in the same way
        if any(name.count("*") > _MAX_WILDCARDS for line in lines for name in re.sub(r"\*+", "*", line).split("/")):
            raise LongsearchError(f"not used: more than {_MAX_WILDCARDS} asterisks in one name", "use fewer")
        return IgnoreRules(folder, GitIgnoreSpec.from_lines(lines), outer)
    except (ValueError, re.error) as error:
        raise LongsearchError(f"not used: {error}", "its lines must follow gitignore's syntax") from error
