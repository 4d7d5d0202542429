"""Shows a document's metadata on one line: authors, date, language and tags, each with where it was read.

Pure. Values pass through `printable`: they come from documents.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from longsearch.engine.printable import condensed, printable

if TYPE_CHECKING:
    from longsearch.engine.types import MetadataValue

_SHOWN = ("author", "date", "language", "tag")
_MAX_OF_FIELD = 3
_HIDDEN = frozenset({"title", "created"})


def describe(values: "Sequence[MetadataValue]", with_others: bool = False) -> str:
    """Return the line, or "" if nothing is known: "Ann Lee, Bo Li (XMP) · 2004-06 (arXiv id) · #steel (XMP)".

    With `with_others`, the fields of the document's own follow, and the source of the title.
    """
    parts = [_part(field, [value for value in values if value.field == field]) for field in _SHOWN]
    if with_others:
        others = sorted((v for v in values if v.field not in (*_SHOWN, *_HIDDEN)), key=lambda value: value.field)
        parts += [f"{field}: {_part(field, list(own))}" for field, own in groupby(others, lambda value: value.field)]
        parts += [f"title: {_clean(value.source)}" for value in values if value.field == "title"]
    return " · ".join(filter(None, parts))


def _part(field: str, values: "Sequence[MetadataValue]") -> str:
    if not values:
        return ""
    mark = "#" if field == "tag" else ""
    names = [mark + _clean(value.value) for value in values[:_MAX_OF_FIELD]]
    if len(values) > _MAX_OF_FIELD:
        names[-1] = f"… ({len(values)})" if field == "author" else "…"
    return f"{(' ' if mark else ', ').join(names)} ({_clean(values[0].source)})"


def _clean(text: str) -> str:
    return printable(condensed(text))
