"""Search results as records for other programs: a line or a NUL-terminated text for each document, by a template."""

import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.options import flag, option
from longsearch.engine.errors import LongsearchError
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.printable import condensed, printable

if TYPE_CHECKING:
    from longsearch.engine.types.results import DocumentHit, PassageHit, SearchResults

DEFAULT = "{path}"
_MARK = late_pattern(r"\{\{|\}\}|\{(\w*)\}|\\([tn\\])")
_ESCAPED = {"t": "\t", "n": "\n", "\\": "\\"}

Field = Callable[["DocumentHit", "PassageHit | None"], str]
FIELDS: dict[str, Field] = {
    "rank": lambda hit, _: str(hit.rank),
    "path": lambda hit, _: hit.path,
    "folder": lambda hit, _: hit.folder,
    "title": lambda hit, _: hit.title,
    "score": lambda hit, _: f"{hit.score:.4f}",
    "level": lambda hit, _: hit.level.value if hit.level else "",
    "page": lambda _, passage: str(passage.page or "") if passage else "",
    "line": lambda hit, passage: _line(hit, passage),
    "heading": lambda _, passage: passage.heading if passage else "",
    "start": lambda _, passage: str(passage.start) if passage else "",
    "stop": lambda _, passage: str(passage.stop) if passage else "",
    "text": lambda _, passage: passage.text if passage else "",
    "excerpt": lambda _, passage: passage.sentence if passage else "",
}
"""What a template may name: of a document and its best passage."""
OPTIONS = (
    option(
        "--format",
        "print a line for each document, such as '{path}:{line}: {excerpt}'; fields: " + ", ".join(FIELDS),
        metavar="TEMPLATE",
    ),
    flag("--print0", "end each record with a NUL, for xargs -0; without --format, print paths"),
)
"""The options of a command that can print its results as records."""


def write(results: "SearchResults", options: Namespace) -> None:
    """Write a record for each document to stdout, and the note to stderr.

    With NUL, a path has the bytes that it has on the disk; else what a terminal must not see is replaced in it. Raises
    LongsearchError for an unknown field, and if JSON is asked for too.
    """
    if options.json:
        raise LongsearchError("--json is one way to print, --format and --print0 another", "give one of them")
    made = [record(hit, options.format or DEFAULT, is_exact=options.print0) for hit in results.hits]
    end = b"\0" if options.print0 else b"\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(b"".join(one + end for one in made))
    if results.note:
        print(f"longsearch: {printable(results.note)}", file=sys.stderr)


def record(hit: "DocumentHit", template: str, is_exact: bool = False) -> bytes:
    """Return the template, filled with a document and its best passage. `is_exact`: its path is as on the disk."""
    passage = hit.passages[0] if hit.passages else None

    def filled(mark: re.Match[str]) -> str:
        if mark[0] in ("{{", "}}"):
            return mark[0][0]
        if mark[2]:
            return _ESCAPED[mark[2]]
        if mark[1] not in FIELDS:
            hint = f"there are {', '.join(FIELDS)}; write {{{{ for a brace"
            raise LongsearchError(f"--format knows no {{{mark[1]}}}", hint)
        value = FIELDS[mark[1]](hit, passage)
        return value if is_exact and mark[1] == "path" else condensed(printable(value, keep="\n"))

    return os.fsencode(_MARK.sub(filled, template))


def _line(hit: "DocumentHit", passage: "PassageHit | None") -> str:
    """The line of a text file on which the passage's best sentences begin; 1 if unknown."""
    from longsearch.app.viewing.viewer import line_of

    return str((passage and line_of(Path(hit.path), passage.sentence)) or 1)
