"""Headings of PDFs without bookmarks are found by the size of their type."""

from collections.abc import Callable

from longsearch.indexer.extract.pdf.headings import HeadingsByType
from longsearch.indexer.extract.pdf.layout import Line
from longsearch.indexer.extract.reader import Extraction
from tests.indexer.pdf_writing import Line as Written
from tests.indexer.pdf_writing import content, lines_of, pdf

PROSE = "The keeper of the light wrote down each ship that passed the point in a storm."


def page(*large: tuple[str, float], n_lines: int = 20, size: float = 10.0) -> list[Line]:
    """Lines in larger type, each with space around it, and the text below them."""
    top = [Line(text, 72, 300, 760 - 40 * at, 760 - 40 * at, height) for at, (text, height) in enumerate(large)]
    return [*top, *(Line(PROSE, 72, 500, 500 - 12 * at, 500 - 12 * at, size) for at in range(n_lines))]


def found(*pages: list[Line], title: str = "") -> list[tuple[int, str, int]]:
    headings = HeadingsByType()
    for index, lines in enumerate(pages):
        headings.add(index, lines)
    return headings.entries(title)


def test_lines_in_larger_type_are_headings_and_the_larger_of_them_above_the_smaller() -> None:
    pages = page(("The lighthouse", 18)), page(("Ships that passed", 14)), page(("The warm wall", 18))
    assert found(*pages) == [(1, "The lighthouse", 0), (2, "Ships that passed", 1), (1, "The warm wall", 2)]


def test_the_number_of_a_heading_tells_its_level() -> None:
    pages = page(("1 Ships", 14)), page(("1.1 Lost boats", 14), ("1.1.2. In March", 14))
    assert found(*pages) == [(1, "1 Ships", 0), (2, "1.1 Lost boats", 1), (3, "1.1.2. In March", 1)]


def test_formulas_numbers_addresses_and_lines_of_the_contents_are_no_headings() -> None:
    odd = (
        "0.05 0.1 0.15",
        "x = a + b",
        "∑ f(x) dx",
        "jectives of the primal",
        "ada@example.org wrote",
        "Ships . . . . 12",
    )
    assert found(page(("1 Ships", 14)), *(page((text, 14)) for text in odd), page(("2 Boats", 14))) == [
        (1, "1 Ships", 0),
        (1, "2 Boats", 7),
    ]


def test_a_short_form_with_a_number_and_words_with_hyphens_are_headings_and_a_measure_is_none() -> None:
    words = "2.6 API", "4. Proof-of-Work", "Fail-overs", "0.05 MHZ", "2.5 GHz", "RPC"
    pages = [page(("1 Ships", 14)), *(page((text, 14)) for text in words)]
    assert [title for _, title, _ in found(*pages)] == ["1 Ships", "2.6 API", "4. Proof-of-Work", "Fail-overs"]


def test_what_many_pages_bear_is_no_heading() -> None:
    pages = [page(("Journal of Lights", 14), (f"{n} Keeper{n * 'i'}s", 14)) for n in range(1, 5)]
    assert [title for _, title, _ in found(*pages)] == ["1 Keeperis", "2 Keeperiis", "3 Keeperiiis", "4 Keeperiiiis"]


def test_the_title_and_the_names_below_it_are_no_headings() -> None:
    first = page(("On Lights", 20), ("Ada Vik and Bo Lund", 13), ("1 Ships", 14))
    assert found(first, page(("2 Boats", 14)), title="On Lights") == [(1, "1 Ships", 0), (1, "2 Boats", 1)]


def test_a_heading_of_two_lines_is_one_and_two_numbers_are_two() -> None:
    lines = page(("1 Ships that passed", 14), n_lines=10)
    below = lines[0]._replace(text="in a storm", baseline=lines[0].baseline - 16)
    other = below._replace(text="2 Boats", baseline=below.baseline - 16)
    assert found([lines[0], below, other, *lines[1:]]) == [(1, "1 Ships that passed in a storm", 0), (1, "2 Boats", 0)]


def test_a_single_heading_and_a_text_of_one_size_have_no_outline() -> None:
    assert found(page(("1 Ships", 14)), page()) == []
    assert found(page(), page()) == []
    assert found() == []


def test_the_outline_of_a_pdf_without_bookmarks_has_its_headings_where_they_stand(
    extract: Callable[..., Extraction],
) -> None:
    pages = [
        [Written(heading, 740, size=16), *lines_of("\n".join([PROSE] * 20), top=700)]
        for heading in ("1 The lighthouse", "2 Ships that passed")
    ]
    document = extract(pdf([content(page) for page in pages])).document
    assert [heading.title for heading in document.headings] == ["1 The lighthouse", "2 Ships that passed"]
    assert all(document.text[one.start :].startswith(one.title) for one in document.headings)
