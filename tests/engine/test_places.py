"""Places are named as people name them: by the ending of the file's name."""

import pytest

from longsearch.engine.places import place_of
from longsearch.engine.types.documents import DocumentPlace, DocumentText, Heading


@pytest.mark.parametrize(
    ("path", "page", "heading", "name"),
    [
        ("/a/paper.pdf", 12, "Methods", "p. 12"),
        ("/a/talk.PPTX", 7, "Costs", "slide 7"),
        ("/a/talk.odp", 7, "", "slide 7"),
        ("/a/work.ipynb", 5, "Load the data", "cell 5"),
        ("/a/Inbox.mbox", 3, "Re: lunch", "message 3 (Re: lunch)"),
        ("/a/Inbox.mbox", 3, "", "message 3"),
        ("/a/plan.xlsx", 2, 'sheet "Budget" rows 12-40', 'sheet "Budget" rows 12-40'),
        ("/a/plan.xlsx", 2, "", "p. 2"),
        ("/a/list.csv", None, "rows 12-40", "rows 12-40"),
        ("/a/mail.eml", None, "report.pdf: p. 3", "report.pdf: p. 3"),
        ("/a/notes.md", None, "Swarming", ""),
    ],
)
def test_a_place_has_the_name_that_people_use(path: str, page: int | None, heading: str, name: str) -> None:
    assert place_of(path, DocumentPlace(page, heading)) == name


def test_a_place_in_an_open_document_says_how_many_there_are() -> None:
    assert place_of("a.pdf", DocumentPlace(3, "x", n_pages=40)) == "p. 3 of 40"
    assert place_of("a.mbox", DocumentPlace(3, "x", n_pages=40)) == "message 3 of 40 (x)"
    assert place_of("a.xlsx", DocumentPlace(3, "rows 2-9", n_pages=40)) == "rows 2-9"


def test_a_page_with_a_printed_number_is_cited_by_both_numbers() -> None:
    assert place_of("a.pdf", DocumentPlace(4, page_label="iv", n_pages=212)) == "p. iv (4 of 212)"
    assert place_of("a.pdf", DocumentPlace(4, page_label="iv"), is_ocr=True) == "p. iv (4) (OCR)"


def test_a_place_has_the_printed_number_of_its_page_and_the_heading_above_it() -> None:
    headings = (Heading(1, "One", 4), Heading(1, "Two", 9))
    document = DocumentText("0123456789ab", (0, 5, 10), "", headings, page_labels=("i", "ii"))
    assert document.place_at(0) == DocumentPlace(1, "", "i", 2)
    assert document.place_at(9) == DocumentPlace(2, "Two", "ii", 2)
    assert document.place_at(11) == DocumentPlace(3, "Two", "", 2)
    assert DocumentText("text", (), "").place_at(2) == DocumentPlace(None)
