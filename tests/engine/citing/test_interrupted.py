"""Quotations whose text goes on behind a figure, a table, a footnote or the end of a page."""

import pytest

from longsearch.engine.citing.interrupted import span_around

FIRST = "Much was said of the crew. The valve had failed nine"
SECOND = "times before the fire, and nobody had told the crew."
SAID = "The valve had failed nine times before the fire"
NO_PAGES: tuple[int, ...] = ()


@pytest.mark.parametrize(
    "between",
    [
        "Figure 3: The valve, seen from above.",
        "Valve\n\n10 20 30\n\nFig. 3. The valve.",
        "Table 2\n\nplant  failures\nA  9",
        "1 Smith says more of it.",
        "*This work was paid for by nobody.",
        "Abbildung 4: Das Ventil",
        "TABLE IV. FAILURES",
    ],
)
def test_a_figure_a_table_or_a_footnote_stands_in_the_way_of_a_quotation(between: str) -> None:
    text = f"{FIRST}\n\n{between}\n\n{SECOND}"
    span = span_around(SAID, text, NO_PAGES)
    assert span is not None
    said = text[slice(*span)]
    assert said.startswith("The valve had") and between in said and said.endswith("before the fire")


def test_a_word_may_be_divided_and_the_end_of_a_page_with_its_head_may_stand_between() -> None:
    text = "The valve had fai-\n\nThe Journal of Valves\n\nled nine times before the fire."
    page = text.index("The Journal")
    assert span_around(SAID, text, [page]) == (0, len(text) - 1)
    assert span_around(SAID, text, NO_PAGES) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{FIRST}\n\nThe crew slept well that day.\n\n{SECOND}", SAID),
        (f"{FIRST} Figure 3: The valve. {SECOND}", SAID),
        (f"{FIRST}\n\nFigure 3: The valve.\n\n{SECOND}", SAID.replace("nine", "seven")),
        (f"{FIRST} or ten\n\nFigure 3: The valve.\n\n{SECOND}", SAID),
        (f"{FIRST}\n\nFigure 3: The valve.\n\nor ten {SECOND}", SAID),
        (f"{FIRST}\n\n1. The crew slept well.\n\n{SECOND}", SAID),
        (f"{FIRST}\n\nFigure 3: {'word ' * 200}\n\n{SECOND}", SAID),
        ("", SAID),
        (FIRST, "…"),
    ],
)
def test_text_that_somebody_left_out_does_not(text: str, said: str) -> None:
    assert span_around(said, text, NO_PAGES) is None
