"""Titles of papers, by layouts of first pages as real papers have them. The words are ours."""

import pytest

from longsearch.indexer.extract.assembly import PdfParts, assemble_pdf
from longsearch.indexer.extract.pdf.layout import Line, title_in, with_separators
from longsearch.indexer.extract.wire.protocol import Opened, Page

BODY = "the text of a paper goes on in lines of this length until the page is full"
Row = tuple[float, str]
"""(font size, text)."""


def page(rows: tuple[Row, ...], body_size: float = 10, type_3: bool = False) -> list[Line]:
    """The lines of a page: these rows, then a body. In Type 3 fonts every size seems to be 0.1."""
    lines, y = [], 740.0
    for size, text in (*rows, *((body_size, BODY),) * 20):
        y -= 1.6 * size
        lines.append(Line(text, 72, 72 + size * len(text) / 2, y, y, 0.1 if type_3 else size))
    return lines


def title_of(lines: list[Line], metadata_title: str = "") -> tuple[str, str]:
    """(title, source) of a paper with this first page."""
    parts = PdfParts()
    parts.take(Opened(1, metadata_title))
    parts.take(Page(0, with_separators(lines), title_in(lines)))
    document = assemble_pdf(parts).document
    return document.title, next((value.source for value in document.metadata if value.field == "title"), "")


LARGE, FIRST, INFO = "largest type", "first line", "PDF info"
LAYOUTS: dict[str, tuple[list[Line], str, tuple[str, str]]] = {
    "a large title over two lines": (
        page(((17, "Storage for Rivers and"), (17, "Other Moving Things"), (11, "Ann Lee"))),
        "", ("Storage for Rivers and Other Moving Things", LARGE),
    ),
    "a Type 3 title over two lines": (
        page(((17, "The Ranking of Rivers by Length:"), (17, "Bringing Order to the Wet"), (11, "Ann")), 10, True),
        "draft.dvi", ("The Ranking of Rivers by Length: Bringing Order to the Wet", LARGE),
    ),
    "a Type 3 title above authors in another font": (
        [Line(": A Protocol for Anonymous Rivers", 120, 400, 693, 693, 0.1), *page(((12, "Ann Lee and Bo Li"),), 9)],
        "", ("A Protocol for Anonymous Rivers", LARGE),
    ),
    "sections larger than the title's line in the body's size": (
        page(((10, "ON PROOF AND PROGRESS WITH RIVERS"), (8, "ANN LEE"))),
        "", ("ON PROOF AND PROGRESS WITH RIVERS", FIRST),
    ),
    "a journal and a society above it": (
        page((
            (6, "APPEARED IN BULLETIN OF THE"), (6, "AMERICAN RIVER SOCIETY"), (6, "Volume 30, Number 2, April 1994"),
            (10, "ON PROOF AND PROGRESS WITH RIVERS"), (8, "ANN LEE"),
        )), "arXiv:math/9404236v1 [math.HO] 1 Apr 1994", ("ON PROOF AND PROGRESS WITH RIVERS", FIRST),
    ),
    "a cover sheet": (
        page(((14, "Oblivious routing of highly variable rivers"), (14, "in lakes and seas"), (13, "Citation")), 13),
        "untitled", ("Oblivious routing of highly variable rivers in lakes and seas", LARGE),
    ),
    "a heading larger than the title": (
        page(((17, "Abstract"), (14, "Why Rivers Meander"), (11, "Ann Lee"))), "", ("Why Rivers Meander", LARGE),
    ),
    "the publisher in the largest type": (
        page(((24, "Journal of Hydrology"), (17, "Why Rivers Meander"), (11, "Ann Lee"))),
        "", ("Why Rivers Meander", LARGE),
    ),
    "metadata that are cut short": (
        page(((20, "Early River History (1956-1959)"), (11, "by Ann Lee"))), "River History",
        ("Early River History (1956-1959)", LARGE),
    ),
    "metadata that the page confirms": (
        page(((17, "Why Rivers Meander"), (11, "Ann Lee"))), "Why Rivers Meander", ("Why Rivers Meander", INFO),
    ),
    "metadata of another paper": (
        page(((17, "Why Rivers Meander"), (11, "Ann Lee"))), "Proof of Lemma Nine", ("Why Rivers Meander", LARGE),
    ),
    "no title, only a submission note and an abstract": (
        page(((10, "Submission to: 1st Workshop on Rivers; June 2006"),)), "Microsoft Word - River.doc", ("", ""),
    ),
    "a running head, then the first sentence": (
        page(((10, "Running head: Common ground"), (10, "Imagine a river of names in random order. In order to swim"))),
        "", ("", ""),
    ),
    "letters of a font without a map": (page(((0.1, "A B C D E F G D"),), 0.1), "", ("", "")),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "metadata_title", "found"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_the_title_of_a_layout(lines: list[Line], metadata_title: str, found: tuple[str, str]) -> None:
    assert title_of(lines, metadata_title) == found
