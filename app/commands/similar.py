"""`longsearch similar`: find the documents most similar to a file."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from longsearch.app.commands.search import add_result_options, report
from longsearch.engine.errors import LongsearchError

HELP = "find the documents most similar to a file, each compared as a whole"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch similar`."""
    parser.add_argument("file", help="a document, inside or outside an indexed folder")
    parser.add_argument(
        "folder",
        nargs="?",
        default="",
        help="an indexed folder, or a folder inside one (default: the indexed folder that holds FILE)",
    )
    add_result_options(parser)


def run(options: Namespace) -> int:
    """Print the similar documents. Returns 0, or 1 if there are none."""
    from longsearch.app.paths import expanded
    from longsearch.app.searching import similar_to_file

    file = expanded(options.file).resolve()
    if not file.is_file():
        hint = "name a document; to search in a folder: longsearch search QUERY FOLDER"
        raise LongsearchError(f"{file} is not a file", hint)
    root, under = _where(options.folder, file)
    return report(similar_to_file(root, file, under, options.k), options.json)


def _where(folder: str, file: Path) -> tuple[Path, str]:
    """Return the indexed root to search, and the folder inside it: `folder` if given, else the whole root of `file`."""
    from longsearch.app.paths import find_index

    if folder:
        return find_index(folder)
    try:
        return find_index(file.parent)[0], ""
    except LongsearchError as error:
        hint = "name the indexed folder to search: longsearch similar FILE FOLDER"
        raise LongsearchError(f"{file} is in no indexed folder", hint) from error
