"""Remembers where the hits of the last search on the command line lie, so that `longsearch open-hit N` opens one.

The file has the paths and the pages, not the query and no text.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from longsearch.app.paths import data_folder
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import load_object, replace_object

if TYPE_CHECKING:
    from longsearch.engine.types.results import SearchResults

_FILE = "last-hits.json"
_MAX_HITS = 1_000


def remember(results: "SearchResults") -> None:
    """Keep the places of the hits. A folder that cannot be written costs only that."""
    hits = [[hit.path, hit.passages[0].page if hit.passages else None] for hit in results.hits[:_MAX_HITS]]
    with suppress(OSError, LongsearchError):
        replace_object(data_folder() / _FILE, {"hits": hits})


def hit(number: int) -> tuple[str, int | None]:
    """Return the path and the page of a hit, by its number. Raises LongsearchError if there is none."""
    kept: Any = load_object(data_folder() / _FILE).get("hits")
    hits = kept if isinstance(kept, list) else []
    if not hits:
        raise LongsearchError("the last search has no hits", "search first: longsearch search QUERY")
    if not 1 <= number <= len(hits):
        raise LongsearchError(f"the last search has no hit {number}", f"it has 1 to {len(hits)}")
    path, page = hits[number - 1]
    return str(path), page if isinstance(page, int) else None
