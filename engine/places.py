"""Names a place in a document as people do: page 12, slide 7, message 3 and its subject, rows 12-40 of a sheet.

The index keeps page numbers and headings only. What a page is called follows from the ending of the file's name.
"""

from pathlib import PurePosixPath
from typing import Protocol

_PAGE = "p."
_UNITS = {
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".odp"), "slide"),
    **dict.fromkeys((".mbox", ".mbx"), "message"),
    ".ipynb": "cell",
}
_WITH_HEADING = frozenset({"message"})
_BY_HEADING = (
    ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".csv", ".tsv", ".eml", ".emlx", ".msg", ".ics", ".vcf", ".vtt", ".srt",
    ".zip", ".tar", ".tgz", ".tar.gz",
)  # fmt: skip
"""Endings of files whose headings name the place better than a number of a page."""


class Placed(Protocol):
    """What has a place in a document, such as a `DocumentPlace`, a passage or a quotation."""

    @property
    def page(self) -> int | None:
        """See `DocumentPlace`."""

    @property
    def heading(self) -> str:
        """See `DocumentPlace`."""

    @property
    def page_label(self) -> str:
        """See `DocumentPlace`."""

    @property
    def n_pages(self) -> int:
        """See `DocumentPlace`."""


def page_unit(path: str) -> str:
    """Return the word before a page's number in the file at `path`: "p.", "slide", "message" or "cell"."""
    return _UNITS.get(PurePosixPath(path).suffix.lower(), _PAGE)


def place_of(path: str, one: Placed, is_ocr: bool = False) -> str:
    """Name a place in the file at `path`: by its page, "of" its number of pages unless that is 0, or by its heading.

    A page with a printed number is "p. iv (4 of 212)". "" if the file has neither pages nor such headings.
    `is_ocr`: the text of the page comes from OCR. Not cleaned for the terminal.
    """
    if one.heading and path.lower().endswith(_BY_HEADING):
        return one.heading
    if one.page is None:
        return ""
    unit = page_unit(path)
    counted = f"{one.page} of {one.n_pages}" if one.n_pages else str(one.page)
    name = f"{unit} {one.page_label} ({counted})" if one.page_label else f"{unit} {counted}"
    name += " (OCR)" if is_ocr else ""
    return f"{name} ({one.heading})" if one.heading and unit in _WITH_HEADING else name
