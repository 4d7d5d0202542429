"""longsearch for other programs: open an index, search it, and turn text into vectors.

    import longsearch

    index = longsearch.open_index("~/papers")                    # made by `longsearch index ~/papers`
    for hit in index.search("why did the reactor overheat", k=5).hits:
        print(hit.title, hit.path, hit.passages[0].page, hit.passages[0].text)

    vector = longsearch.embed("why did the reactor overheat")    # (dim,), unit length

`longsearch.search` opens an index and searches it in one call. Every error that a person can act on is a
`LongsearchError` with a `message` and a `hint`. `import longsearch` itself is quick: each name below loads its module
when it is first used. Only an `Encoder`, which also reads documents, loads torch; so does a search by meaning with a
model whose queries numpy cannot encode (docs/models.md, "Without torch"). docs/python.md has examples of all.

The folders `app`, `engine`, `indexer` and `tui` of the repository are the packages `longsearch.app` and so on; this
folder links to them. Other programs should use the names listed here; the rest may change at any time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longsearch.app.search.python_door import Index, embed, folders, open_index, search
    from longsearch.engine import __version__
    from longsearch.engine.errors import LongsearchError
    from longsearch.engine.inference.encoder import Encoder
    from longsearch.engine.types.documents import DocumentText
    from longsearch.engine.types.results import DocumentHit, Folder, PassageHit, Quotation, SearchMode, SearchResults

__all__ = [
    "DocumentHit",
    "DocumentText",
    "Encoder",
    "Folder",
    "Index",
    "LongsearchError",
    "PassageHit",
    "Quotation",
    "SearchMode",
    "SearchResults",
    "__version__",
    "embed",
    "folders",
    "open_index",
    "search",
]

_MODULE_OF = {
    "DocumentHit": "engine.types.results",
    "DocumentText": "engine.types.documents",
    "Encoder": "engine.inference.encoder",
    "Folder": "engine.types.results",
    "Index": "app.search.python_door",
    "LongsearchError": "engine.errors",
    "PassageHit": "engine.types.results",
    "Quotation": "engine.types.results",
    "SearchMode": "engine.types.results",
    "SearchResults": "engine.types.results",
    "__version__": "engine",
    "embed": "app.search.python_door",
    "folders": "app.search.python_door",
    "open_index": "app.search.python_door",
    "search": "app.search.python_door",
}


def __getattr__(name: str) -> Any:
    """Load a public name's module when the name is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'longsearch' has no attribute {name!r}")
    return getattr(import_module(f"longsearch.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__
