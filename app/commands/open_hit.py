"""`longsearch open-hit N`: open a hit of the last search."""

import subprocess
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import Any

from longsearch.app.options import option
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable

HELP = "open the Nth document that the last search or similar on the command line listed"
OPTIONS = (option("number", "the number before the document in the list", type=int, metavar="N"),)


def run(options: Namespace) -> int:
    """Open the document at the hit's page and sentence. Returns 0. Raises LongsearchError if there is no such hit."""
    from longsearch.app.viewing.viewer import open_in_viewer

    opened = open_in_viewer(*_hit(options.number))
    if opened.command:
        return subprocess.run(opened.command, check=False).returncode  # noqa: S603 - the person's own editor, no shell
    print(printable(opened.said.replace("copied: ", "run: ") if opened.copy else opened.said))
    return 0


def _hit(number: int) -> tuple[str, int | None, str]:
    """Return the path, the page and the sentence of a hit, by its number. Raises LongsearchError if there is none."""
    from longsearch.app.commands.results import LAST_HITS
    from longsearch.app.paths import data_folder
    from longsearch.engine.json_files import load_object

    kept: Any = load_object(data_folder() / LAST_HITS).get("hits")
    hits = kept if isinstance(kept, list) else []
    if not hits:
        raise LongsearchError("the last search has no hits", "search first: longsearch search QUERY")
    if not 1 <= number <= len(hits):
        raise LongsearchError(f"the last search has no hit {number}", f"it has 1 to {len(hits)}")
    path, page, *place = hits[number - 1]
    return str(path), page if isinstance(page, int) else None, _text(*place) if len(place) == 4 else ""


def _text(root: str, document_id: int, start: int, stop: int) -> str:
    """The text at a place, as the index has it now; "" if it no longer has the document."""
    from longsearch.app.paths import index_path
    from longsearch.engine.index.opening import open_index

    with suppress(LongsearchError), open_index(index_path(Path(root))) as index:
        return index.text(document_id).text[start:stop]
    return ""
