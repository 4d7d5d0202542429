"""`longsearch like`: the documents that are most like a file."""

from argparse import Namespace
from pathlib import Path

from app.commands.search import report
from app.paths import expanded, find_index
from app.searching import similar_to_file
from engine.errors import LongsearchError


def run(options: Namespace) -> int:
    """0 where something is like it, 1 where nothing is."""
    file = expanded(options.file).resolve()
    if not file.is_file():
        hint = "name a document; to search in a folder: longsearch search QUERY FOLDER"
        raise LongsearchError(f"{file} is not a file", hint)
    root, under = _where(options.folder, file)
    return report(similar_to_file(root, file, under, options.k), options.json)


def _where(folder: str, file: Path) -> tuple[Path, str]:
    """The root and the folder in it to look in: the one that was named, else all of the one that `file` lies in."""
    if folder:
        return find_index(folder)
    try:
        return find_index(file.parent)[0], ""
    except LongsearchError as error:
        hint = "name the indexed folder to look in: longsearch like FILE FOLDER"
        raise LongsearchError(f"{file} is in no indexed folder", hint) from error
