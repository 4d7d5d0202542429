"""Places are named as people name them: by the ending of the file's name."""

import pytest

from longsearch.engine.places import label_of, place_name


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
    assert place_name(path, page, heading) == name


def test_a_place_in_an_open_document_says_how_many_there_are() -> None:
    assert place_name("a.pdf", 3, "x", 40) == "p. 3 of 40"
    assert place_name("a.mbox", 3, "x", 40) == "message 3 of 40 (x)"
    assert place_name("a.xlsx", 3, "rows 2-9", 40) == "rows 2-9"


def test_a_page_with_a_printed_number_is_cited_by_both_numbers() -> None:
    assert place_name("a.pdf", 4, "", 212, label="iv") == "p. iv (4 of 212)"
    assert place_name("a.pdf", 4, "", label="iv", is_ocr=True) == "p. iv (4) (OCR)"
    assert label_of(("i", "ii", "1"), 3) == "1"
    assert label_of(("i", "ii", "1"), None) == label_of((), 3) == ""
