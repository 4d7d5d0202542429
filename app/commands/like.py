"""`longsearch like`: the documents that are most like a file."""

import json
import shutil
from argparse import Namespace
from pathlib import Path

from app.commands.search import to_json, to_text
from app.paths import find_index
from app.searching import like_file
from engine.errors import LongsearchError


def run(options: Namespace) -> int:
    """0 where something is like it, 1 where nothing is."""
    file = Path(options.file).expanduser().resolve()
    if not file.is_file():
        hint = "name a document; to search in a folder: longsearch search QUERY FOLDER"
        raise LongsearchError(f"{file} is not a file", hint)
    root, under = find_index(options.folder or file.parent)
    results = like_file(root, file, under if options.folder else "", options.k)
    if options.json:
        print(json.dumps(to_json(results), indent=2))
    else:
        print(to_text(results, shutil.get_terminal_size().columns))
    return 0 if results.hits else 1
