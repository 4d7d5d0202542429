"""`longsearch similar`: find the documents most similar to a file."""

from argparse import Namespace
from pathlib import Path

from longsearch.app.commands import records
from longsearch.app.commands.results import show
from longsearch.app.options import RESULTS, flag, option
from longsearch.engine.errors import LongsearchError

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
    from longsearch.app.search.scope import Scope
    from longsearch.app.search.similar import similar_to_file

    file = expanded(options.file).resolve()
    if not file.is_file():
        hint = "name a document; to search in a folder: longsearch search QUERY FOLDER"
        raise LongsearchError(f"{file} is not a file", hint)
    scope = Scope.at(_place(options.folder, options.everywhere, file))
    return show(similar_to_file(scope, file, options.k), options)


def _place(folder: str, everywhere: bool, file: Path) -> tuple[Path, str] | None:
    """Return the indexed root to search, and the folder inside it; None for all folders.

    That is `folder` if given, else the whole root of `file`, else all folders. Raises LongsearchError if nothing is
    indexed.
    """
    from longsearch.app.folders.choosing import chosen_index
    from longsearch.app.paths import find_index, index_paths

    if folder or everywhere:
        return chosen_index(folder, everywhere)
    try:
        return find_index(file.parent)[0], ""
    except LongsearchError as error:
        if index_paths():
            return None
        raise LongsearchError("no folder is indexed yet", "index one: longsearch index FOLDER") from error
