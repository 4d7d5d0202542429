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

    def of(self, evidence: Evidence) -> Reference | None:
        """Return the reference of a passage's document, or None."""
        wanted = Reference(title=evidence.title, doi=evidence.doi, arxiv=evidence.arxiv, paths=(evidence.path,))
        return next((reference for name in _names(wanted) if (reference := self._by_name.get(name))), None)

    def cite(self, evidence: Evidence) -> Evidence:
        """Add the key, the collections and the link of its document to a passage that lacks them."""
        reference = self.of(evidence)
        if reference is None:
            return evidence
        link = (
            dict(reference.links).get(evidence.path)
            or dict(reference.links).get(os.path.realpath(evidence.path))
            or reference.link
        )
        if link.endswith("="):
            link = f"{link}{evidence.page}" if evidence.page is not None else link.partition("?")[0]
        return replace(
            evidence,
            citekey=evidence.citekey or reference.citekey,
            collections=evidence.collections or reference.collections,
            link=evidence.link or link,
        )


def _names(reference: Reference) -> Iterable[str]:
    """Yield the names by which a reference is found, the surest first."""
    for path in reference.paths:
        yield f"path:{path}"
        yield f"path:{os.path.realpath(path)}"
    if reference.doi:
        yield f"doi:{re.sub(r'^(https?://(dx[.])?doi[.]org/|doi:)', '', reference.doi.strip().lower())}"
    if reference.arxiv:
        yield f"arxiv:{re.sub(r'^arxiv:|v[0-9]+$', '', reference.arxiv.strip().lower())}"
    letters = "".join(filter(str.isalnum, unicodedata.normalize("NFKD", reference.title.casefold())))
    if len(letters) >= _LEAST_TITLE:
        yield f"title:{letters}"
