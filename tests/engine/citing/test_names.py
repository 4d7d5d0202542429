"""Lines of authors and of where they work."""

import pytest

from longsearch.engine.citing.names import is_names_alone


@pytest.mark.parametrize(
    "text",
    [
        "Mike Burrows, Google Inc.",
        "Satoshi Nakamoto satoshin@gmx.com www.bitcoin.org",
        "Jeffrey Dean and Sanjay Ghemawat",
        "Butler W. Lampson",
        "Jacob Gorm Hansen†, Eric Jul†\nUniversity of Cambridge Computer Laboratory\n{jacobg,eric}@diku.dk",
        "Institut für Informatik, Universität Zürich",
        "THE JOURNAL OF VALVES",
        "The Chubby Lock Service for Loosely-Coupled Distributed Systems",
        "3",
    ],
)
def test_names_titles_and_addresses_are_no_sentence(text: str) -> None:
    assert is_names_alone(text)


@pytest.mark.parametrize(
    "text",
    [
        "Raft is a consensus algorithm for managing a replicated log.",
        "Bigtable relies on Chubby.",
        "Die Katze sitzt auf dem Dach der Kirche.",
        "THE LEASE ENDS IN MAY.",
        "弁は二時間のあいだ開いたままだった。",
        "3.1. Column headers are values, not variable names",
    ],
)
def test_a_sentence_is_one(text: str) -> None:
    assert not is_names_alone(text)
