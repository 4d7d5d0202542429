"""Shows a document's metadata on one line: authors, tags and date, and if asked where each was read.

The language that a file declares is left out: most declare English. That of the text stands beside the title.

Pure. Values pass through `printable`: they come from documents.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from longsearch.engine.printable import condensed, printable

if TYPE_CHECKING:
    from longsearch.engine.types.documents import MetadataValue

_SHOWN = ("author", "tag", "date")
_MAX_OF_FIELD = 3
_PLAIN_TITLES = frozenset({"heading", "front matter", "title element"})
"""Where everybody expects a title: not worth a word."""
FILE_TIME = "file time"
"""The source of a date that says when the file was written, not when the document was."""
_HIDDEN = frozenset({"title", "created", "language"})


def of_document(values: "Sequence[MetadataValue]") -> "list[MetadataValue]":
    """Leave out a date that says when the file was written: that is often only the day on which it was copied."""
    return [value for value in values if value.source != FILE_TIME]


def describe(values: "Sequence[MetadataValue]", with_others: bool = False, with_sources: bool = True) -> str:
    """Return the line, or "" if nothing is known: "Ann Lee, Bo Li · #steel · 2004-06".

    With `with_others`, the sources stand in brackets, "Ann Lee, Bo Li · #steel (XMP) · 2004-06 (arXiv id)", each of
    all values before it, back to the source before; the fields of the document's own follow, and the source of the
    title, unless `with_sources` is off.
    """
    fields = [(field, [value for value in values if value.field == field]) for field in _SHOWN]
    if with_others:
        others = sorted((v for v in values if v.field not in (*_SHOWN, *_HIDDEN)), key=lambda value: value.field)
        fields += [
            (field, list(values_of_field)) for field, values_of_field in groupby(others, lambda value: value.field)
        ]
    parts = [
        (values_of_field[0].source, _words(field, values_of_field))
        for field, values_of_field in fields
        if values_of_field
    ]
    if not with_others:
        return " · ".join(words for _, words in parts)
    if not with_sources:
        return " · ".join(words for _, words in parts)
    groups = (
        f"{' · '.join(words for _, words in group)} ({_clean(source)})"
        for source, group in groupby(parts, lambda part: part[0])
    )
    titles = [value.source for value in values if value.field == "title"]
    title = [f"title: {_clean(source)}" for source in titles if source not in _PLAIN_TITLES]
    return " · ".join((*groups, *title))


def _words(field: str, values: "Sequence[MetadataValue]") -> str:
    mark = "#" if field == "tag" else ""
    names = [mark + _clean(value.value) for value in values[:_MAX_OF_FIELD]]
    if len(values) > _MAX_OF_FIELD:
        names[-1] = f"… [{len(values)}]" if field == "author" else "…"
    name = "" if field in _SHOWN else f"{field}: "
    return name + (" " if mark else ", ").join(names)


def _clean(text: str) -> str:
    return printable(condensed(text))
