"""Reads the list of files of `longsearch index --files`. Knows no index."""

import os
import sys
from pathlib import Path

from longsearch.app.paths import expanded, is_url
from longsearch.engine.errors import LongsearchError

_HINT = "give a text file with a path on each line, or - for stdin"


def read_list(name: str, root: Path) -> frozenset[str]:
    """Return the listed paths relative to `root`, with "/". Raises LongsearchError for a path outside of it.

    A path on each line, absolute or relative to the root; blank lines do not count. `name` is a file, or - for stdin.
    Bytes that are no UTF-8 are kept as surrogate escapes, as in `FileStamp.path`.
    """
    try:
        content = sys.stdin.buffer.read() if name == "-" else expanded(name).read_bytes()
    except OSError as error:
        raise LongsearchError(f"the list {name} cannot be read: {error.strerror}", _HINT) from error
    lines = [line.rstrip("\r") for line in content.decode("utf-8", "surrogateescape").split("\n")]
    return frozenset(_relative(line, root) for line in lines if line.strip())


def _relative(line: str, root: Path) -> str:
    path = os.path.normpath(expanded(line) if is_url(line) else root / line)
    if "\0" in line or not path.startswith(os.path.join(root, "")):  # noqa: PTH118 - a string is wanted
        raise LongsearchError(f"the list names {line}, which does not lie in {root}", _HINT)
    return Path(path).relative_to(root).as_posix()
