"""What differs between a quotation and a document, and what is only print."""

import pytest

from longsearch.engine.citing.wording import Difference, differences, whole_words


@pytest.mark.parametrize(
    ("draft", "document"),
    [
        ("the valve stayed open", "The val­ve stay-\ned “open”"),
        ("the models have two-year terms", "the models12 have two-\nyear terms"),
        ("in this design. The valve", "in this design.12 The valve"),
        ("as was said before the fire", "as was said [3, 4] before the fire"),
        ("the data base of names", "the database of names"),
        ("弁は開いたまま", "弁は開い\nたまま"),
        ("fell by −5 % to 1,5", "fell by -5% to 1.5"),
        ("Brooks found four of Codd’s properties", "Brooks[Bro86, p3] found four of Codd’s (Codd 1990) properties"),
        ("as Lakshmanan found, it is", "as Lakshmanan found (Lakshmanan, Sadri, and Subramanian 1996), it is"),
        ("forms a column. Each row", "forms a column.\n\n2. Each row"),
        ("are values. Several variables", "are values.\nˆ Several variables"),
    ],
)
def test_what_only_print_does_is_no_difference(draft: str, document: str) -> None:
    assert differences(draft, document) == []


@pytest.mark.parametrize(
    ("draft", "document", "ours", "theirs"),
    [
        ("fell by 5 degrees", "fell by −5 degrees", "5", "−5"),
        ("a share of 5 in all", "a share of 5% in all", "5", "5%"),
        ("the valve failed again", "the valve failed (in May 1979) again", "", "in May 1979"),
        ("the valve failed again", "the valve failed 2. again", "", "2"),
        ("they failed times before", "they failed 9 times before", "", "9"),
        ("Python is used here", "Python3 is used here", "Python", "Python3"),
        ("弁は開いたまま", "弁は閉じたまま", "開 い", "閉 じ"),
    ],
)
def test_a_number_with_its_sign_and_every_other_word_counts(draft: str, document: str, ours: str, theirs: str) -> None:
    assert differences(draft, document) == [Difference(ours, theirs)]


def test_a_footnote_between_two_pages_is_no_difference_and_within_a_page_it_is() -> None:
    document = "the valve stayed\n\n1 See the report of 1979.\n\nopen for two hours"
    page = document.index("open")
    assert differences("the valve stayed open for two hours", document, [page]) == []
    assert len(differences("the valve stayed open for two hours", document)) == 1
    divided = "the reactor's infor-\n1 See the report.\nmation was lost"
    assert differences("the reactor's information was lost", divided, [divided.index("mation")]) == []


def test_a_place_grows_to_whole_words() -> None:
    text = "they were unable to start the pumps."
    start = text.index("able")
    assert text[slice(*whole_words(text, start, text.index("s.")))] == "unable to start the pumps"
