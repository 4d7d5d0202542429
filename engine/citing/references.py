"""What a reference manager knows of documents, and which of its references a kept passage belongs to. Pure."""

import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from longsearch.engine.citing.evidence import Evidence

_LEAST_TITLE = 16
"""Letters and digits; shorter titles, such as "Introduction", name several documents."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A document in a reference manager."""

    citekey: str = ""
    title: str = ""
    doi: str = ""
    arxiv: str = ""
    paths: tuple[str, ...] = ()
    """The files of the document, absolute."""
    collections: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """(path, link) of files that the reference manager can open; a page may be added to a link that ends in `=`."""
    link: str = ""
    """A link that selects the document in the reference manager, or ""."""


class References:
    """Finds the reference of a document: by its file, else its DOI or arXiv number, else its title."""

    def __init__(self, references: Iterable[Reference]) -> None:
        self._by_name: dict[str, Reference | None] = {}
        for reference in references:
            for name in dict.fromkeys(_names(reference)):
                # two references with one title: neither is known by it
                self._by_name[name] = None if name in self._by_name and name.startswith("title:") else reference

    def of(self, one: Evidence) -> Reference | None:
        """Return the reference of a passage's document, or None."""
        wanted = Reference(title=one.title, doi=one.doi, arxiv=one.arxiv, paths=(one.path,))
        return next((found for name in _names(wanted) if (found := self._by_name.get(name))), None)

    def cite(self, one: Evidence) -> Evidence:
        """Return the passage with the key, the collections and the link of its document; those it has stay."""
        found = self.of(one)
        if found is None:
            return one
        link = dict(found.links).get(one.path) or dict(found.links).get(os.path.realpath(one.path)) or found.link
        if link.endswith("="):
            link = f"{link}{one.page}" if one.page is not None else link.partition("?")[0]
        return replace(
            one,
            citekey=one.citekey or found.citekey,
            collections=one.collections or found.collections,
            link=one.link or link,
        )


def _names(one: Reference) -> Iterable[str]:
    """Yield all that a reference is known by, the surest first."""
    for path in one.paths:
        yield f"path:{path}"
        yield f"path:{os.path.realpath(path)}"
    if one.doi:
        yield f"doi:{re.sub(r'^(https?://(dx[.])?doi[.]org/|doi:)', '', one.doi.strip().lower())}"
    if one.arxiv:
        yield f"arxiv:{re.sub(r'^arxiv:|v[0-9]+$', '', one.arxiv.strip().lower())}"
    letters = "".join(filter(str.isalnum, unicodedata.normalize("NFKD", one.title.casefold())))
    if len(letters) >= _LEAST_TITLE:
        yield f"title:{letters}"
