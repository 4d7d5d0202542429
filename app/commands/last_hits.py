"""Remembers where the hits of the last search on the command line lie, so that `longsearch open-hit N` opens one.

The file has the paths and the places, not the query and no text.
"""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.paths import data_folder
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import load_object, replace_object

if TYPE_CHECKING:
    from longsearch.engine.types.results import DocumentHit, SearchResults

_FILE = "last-hits.json"
_MAX_HITS = 1_000


def remember(results: "SearchResults") -> None:
    """Keep the places of the hits. A folder that cannot be written costs only that."""
    hits = [[hit.path, *_place(hit)] for hit in results.hits[:_MAX_HITS]]
    with suppress(OSError, LongsearchError):
        replace_object(data_folder() / _FILE, {"hits": hits})


def _place(hit: "DocumentHit") -> list[int | str | None]:
    """The page of the best sentences, and where they stand in the index of which folder."""
    if not hit.passages:
        return [None]
    best = hit.passages[0]
    return [best.page, hit.root, hit.document_id, *(best.excerpt or (best.start, best.stop))]


def hit(number: int) -> tuple[str, int | None, str]:
    """Return the path, the page and the sentence of a hit, by its number. Raises LongsearchError if there is none."""
    kept: Any = load_object(data_folder() / _FILE).get("hits")
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
