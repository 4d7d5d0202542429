"""`longsearch similar`: find the documents most similar to a file."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.commands import records
from longsearch.app.commands.results import show
from longsearch.app.options import RESULTS, flag, option
from longsearch.engine.errors import LongsearchError

if TYPE_CHECKING:
    from longsearch.app.search.scope import Scope

HELP = "find the documents most similar to a file, each compared as a whole"
OPTIONS = (
    option("file", "a document, inside or outside an indexed folder"),
    option(
        "folder",
        "an indexed folder, or a folder inside one (default: the indexed folder that holds FILE; if none does, all"
        " indexed folders)",
        nargs="?",
        default="",
    ),
    flag("--everywhere", "all indexed folders, wherever FILE is"),
    *RESULTS,
    *records.OPTIONS,
)


def run(options: Namespace) -> int:
    """Print the similar documents. Returns 0, or 1 if there are none."""
    from longsearch.app.paths import expanded
    from longsearch.app.search.similar import similar_to_file

    file = expanded(options.file).resolve()
    if not file.is_file():
        hint = "name a document; to search in a folder: longsearch search QUERY FOLDER"
        raise LongsearchError(f"{file} is not a file", hint)
    return show(similar_to_file(_scope(options.folder, options.everywhere, file), file, options.k), options)


def _scope(folder: str, everywhere: bool, file: Path) -> "Scope":
    """Return where to search: in `folder` if it is given, else in the whole root of `file`, else in all folders.

    Raises LongsearchError if nothing is indexed.
    """
    from longsearch.app.paths import find_index
    from longsearch.app.search.scope import Scope

    if folder or everywhere:
        return Scope.chosen(folder, everywhere)
    try:
        return Scope.of(find_index(file.parent)[0])
    except LongsearchError:
        return Scope.chosen("", everywhere=True)
