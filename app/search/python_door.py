"""The index of a folder for other programs; `import longsearch` offers this module's names."""

from contextlib import AbstractContextManager
from functools import lru_cache, partial
from pathlib import Path

from longsearch.app.folders.listing import indexed_folders
from longsearch.app.models.encoders import open_query_encoder
from longsearch.app.models.query_vectors import from_anywhere
from longsearch.app.paths import expanded, find_index, index_path
from longsearch.app.search.quoting import quotations
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question
from longsearch.app.search.searching import search as search_in
from longsearch.app.search.similar import similar_to_file
from longsearch.engine.arrays import Vectors
from longsearch.engine.index import index as engine_index
from longsearch.engine.index import opening
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.progress import FileReport, IndexProgress
from longsearch.engine.types.results import Folder, Quotation, SearchMode, SearchResults

# a program may ask many questions: it opens the model once, at the first search by meaning without a daemon
query_vector = partial(from_anywhere, open_model=lru_cache(maxsize=1)(open_query_encoder))


class Index:
    """The index of one folder, read-only. Make one with `open_index`.

    Each call opens the index file for a moment and sees the newest state, so an `Index` needs no closing and any thread
    may use it. Every method may raise `LongsearchError`.
    """

    def __init__(self, root: Path, under: str) -> None:
        self.root = root
        """The indexed folder, absolute."""
        self.under = under
        """The folder inside `root` to which searches are limited, relative to it; "" for all of it."""

    def search(
        self,
        query: str,
        *,
        mode: SearchMode | str = SearchMode.HYBRID,
        k: int = 10,
        instruction: str = "",
        read: bool = False,
    ) -> SearchResults:
        """Return the `k` best documents with their passages.

        `read`: have the five best passages read with the query, for a quarter of a second. The `answers(n)` of the
        results are better then, each passage has its probability, and `verdict` says whether anything answers.

        `query` may use the query language ("phrases", -excluded, in:folder, type:pdf). `mode` is "hybrid", "meaning" or
        "words". `instruction` says what kind of passage you look for. The daemon's model makes the query's vector;
        without a daemon this process opens the model at the first such search and keeps it.
        """
        return search_in(self._scope(), Question(query, SearchMode(mode), instruction, k, read=read), query_vector)

    def similar(self, file: str | Path, *, k: int = 10) -> SearchResults:
        """Return the `k` documents that are most similar to a file as a whole. The file need not be in the index."""
        return similar_to_file(self._scope(), expanded(file).resolve(), k)

    def where(self, quote: str, *, k: int = 10) -> list[Quotation]:
        """Return the places that say a quotation, the nearest first: verbatim, or with small changes."""
        return quotations(self._scope(), quote, k)[0]

    def text(self, document_id: int) -> DocumentText:
        """Return the whole text of a hit's document (`DocumentHit.document_id`), with its pages and headings."""
        with self._opened() as index:
            return index.text(document_id)

    def files(self) -> list[FileReport]:
        """Return every file of the index with its status."""
        with self._opened() as index:
            return index.files()

    def progress(self) -> IndexProgress:
        """Return how much of the index is complete."""
        with self._opened() as index:
            return index.progress()

    def _scope(self) -> Scope:
        return Scope.of(self.root, self.under)

    def _opened(self) -> AbstractContextManager[engine_index.Index]:
        return opening.open_index(index_path(self.root))


def open_index(folder: str | Path) -> Index:
    """Open the index of `folder`, or of the indexed folder that contains it.

    Raises `LongsearchError` when there is no index yet; `longsearch index FOLDER` makes one.
    """
    index = Index(*find_index(folder))
    index.progress()  # raises where there is no index
    return index


def folders() -> list[Folder]:
    """Return every indexed folder, by name. One that is away or whose index cannot be read says why."""
    return indexed_folders()


def embed(text: str, *, instruction: str = "") -> Vectors:
    """Return the vector of a query, (dim,), unit length, as a search by meaning uses it.

    The daemon's model makes it; without a daemon this process opens the model at the first call and keeps it. It needs
    no torch, unless the chosen model does. For the vectors of documents, use an `Encoder`.
    """
    return query_vector(text, instruction or None).vector


def search(
    folder: str | Path,
    query: str,
    *,
    mode: SearchMode | str = SearchMode.HYBRID,
    k: int = 10,
    instruction: str = "",
    read: bool = False,
) -> SearchResults:
    """Search the index of `folder`: `open_index` and `Index.search` in one call."""
    return open_index(folder).search(query, mode=mode, k=k, instruction=instruction, read=read)
