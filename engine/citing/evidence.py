"""A passage that a person keeps as evidence: the quotation, its place, and what the document says of itself."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Self

from longsearch.engine.metadata_lines import of_document
from longsearch.engine.types.documents import MetadataValue
from longsearch.engine.types.results import DocumentHit, PassageHit


@dataclass(frozen=True, slots=True)
class Evidence:
    """One kept passage. Its text is what the document holds: use `printable` before showing any of it."""

    quote: str
    path: str
    """Absolute; undecodable bytes are surrogate escapes."""
    title: str
    id: str = ""
    """Eight hexadecimal digits; no two passages of a basket have the same."""
    page: int | None = None
    page_label: str = ""
    """The number or name that is printed on the page; "" if the file does not say it."""
    n_pages: int = 0
    """The pages of the document, if its pages have labels; else 0."""
    heading: str = ""
    is_ocr: bool = False
    """Whether its text was read from a picture of the page, so letters may be wrong."""
    start: int = 0
    """Offsets in the document's text, as it was when the passage was kept."""
    stop: int = 0
    root: str = ""
    """The indexed folder that held the document, absolute."""
    folder: str = ""
    """The name of that folder."""
    content: str = ""
    """The hash of the document, in hexadecimal; "" if unknown. With another hash, the offsets may be wrong."""
    authors: tuple[str, ...] = ()
    date: str = ""
    """A year, a month or a day in ISO form, or ""."""
    doi: str = ""
    arxiv: str = ""
    language: str = ""
    """ISO 639 code, or ""."""
    query: str = ""
    """The query that found the passage, or ""."""
    note: str = ""
    """The person's own note."""
    added_at: float = 0.0
    """Seconds since 1970."""
    citekey: str = ""
    """The document's key in the person's own reference manager, or ""; never kept, looked up when it is needed."""
    collections: tuple[str, ...] = ()
    """The collections of the reference manager that hold the document; never kept."""
    link: str = ""
    """A link that opens the page in the reference manager, or ""; never kept."""

    @property
    def year(self) -> str:
        """The year of the document, or ""."""
        return self.date[:4]

    def to_json(self) -> dict[str, Any]:
        """Turn a kept passage into a JSON object, which `from_json` reads."""
        return {name: value for name, value in asdict(self).items() if name not in _LOOKED_UP}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read what `to_json` returned. Fields that a newer longsearch added are ignored. Raises ValueError."""
        defaults = cls("", "", "")
        values: dict[str, Any] = {}
        for field in fields(cls):
            value = raw.get(field.name, getattr(defaults, field.name))
            values[field.name] = tuple(map(str, value)) if isinstance(value, list | tuple) else value
        if not all(isinstance(values[name], str) for name in _TEXTS):
            raise ValueError("a text is no text")
        if not all(
            isinstance(values[name], int | float | None)
            for name in ("page", "n_pages", "start", "stop", "added_at", "is_ocr")
        ):
            raise ValueError("a number is no number")
        return cls(**values)


class PlaceState(StrEnum):
    """The state of a kept passage. A person is told its value."""

    SAME = ""
    """It stands where it stood."""
    MOVED = "found again at another place"
    """Its document or the document's file has changed; `PlacedEvidence.evidence` has the new place."""
    REWORDED = "found again in other words"
    GONE = "no longer said in this folder"
    UNKNOWN = "its folder is not indexed"


@dataclass(frozen=True, slots=True)
class PlacedEvidence:
    """A kept passage, with its place as it is now."""

    evidence: Evidence
    state: PlaceState


_LOOKED_UP = frozenset({"citekey", "collections", "link"})
_TEXTS = (
    "quote",
    "path",
    "title",
    "id",
    "page_label",
    "heading",
    "root",
    "folder",
    "content",
    "date",
    "doi",
    "arxiv",
    "note",
)


def evidence_of(hit: DocumentHit, passage: PassageHit, query: str = "", added_at: float = 0.0) -> Evidence:
    """Turn a passage of a hit into evidence with a new id. The caller fills in `content`, which needs the index."""
    return Evidence(
        quote=passage.text,
        path=hit.path,
        title=hit.title,
        id=secrets.token_hex(4),
        page=passage.page,
        page_label=passage.page_label,
        n_pages=passage.n_pages,
        heading=passage.heading,
        is_ocr=passage.is_ocr,
        start=passage.start,
        stop=passage.stop,
        root=hit.root,
        folder=hit.folder,
        authors=tuple(value.value for value in hit.metadata if value.field == "author"),
        date=_first(of_document(hit.metadata), "date"),
        doi=_first(hit.metadata, "doi"),
        arxiv=_first(hit.metadata, "arxiv"),
        language=hit.language,
        query=query,
        added_at=added_at,
    )


def _first(values: Sequence[MetadataValue], field: str) -> str:
    return next((value.value for value in values if value.field == field), "")
