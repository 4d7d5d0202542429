"""Names a place in a document as people do: page 12, slide 7, message 3 and its subject, rows 12-40 of a sheet.

The index keeps page numbers and headings only. What a page is called follows from the ending of the file's name.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longsearch.engine.types.results import PassageHit, Quotation

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


def page_unit(path: str) -> str:
    """Return the word before a page's number in the file at `path`: "p.", "slide", "message" or "cell"."""
    return _UNITS.get(PurePosixPath(path).suffix.lower(), _PAGE)


def label_of(labels: Sequence[str], page: int | None) -> str:
    """Return the printed number of a page, counted from 1; "" if there is none."""
    return labels[page - 1] if page is not None and 0 < page <= len(labels) else ""


def place_name(
    path: str, page: int | None, heading: str, n_pages: int = 0, is_ocr: bool = False, label: str = ""
) -> str:
    """Name a place in the file at `path`: by its page, "of" `n_pages` unless that is 0, or by its heading.

    `label` is the printed number of the page: "p. iv (4 of 212)".

    `page` and `heading` are those of a `PassageHit` or `Quotation`. "" if the file has neither pages nor such headings.
    `is_ocr`: the text of the page comes from OCR. Not cleaned for the terminal.
    """
    if heading and path.lower().endswith(_BY_HEADING):
        return heading
    if page is None:
        return ""
    unit = page_unit(path)
    counted = f"{page} of {n_pages}" if n_pages else str(page)
    name = f"{unit} {label} ({counted})" if label else f"{unit} {counted}"
    name += " (OCR)" if is_ocr else ""
    return f"{name} ({heading})" if heading and unit in _WITH_HEADING else name


def place_of(path: str, one: "PassageHit | Quotation", is_ocr: bool = False) -> str:
    """Name the place of a passage or a quotation in the file at `path`, as `place_name`."""
    return place_name(path, one.page, one.heading, one.n_pages, is_ocr, one.page_label)
