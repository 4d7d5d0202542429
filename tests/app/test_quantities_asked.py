"""Quantities in a query: `~120 mm` finds 12 cm, `>=40 kg` a range, "3 million" every spelling of it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.app.cli import main
from longsearch.engine.quantities import POINT, amounts, quantities
from longsearch.engine.query_language.query import parse, written
from longsearch.tui.text.highlight import Highlighter
from tests.app.made_folders import make_folder

TEXTS = {
    "plank.md": "The plank is 12 cm wide.",
    "beam.md": "Der Balken ist 0,35 m breit und wiegt 41,5 kg.",
    "sack.md": "A sack of 39.9 kg, bought for $3,000,000.",
    "ram.md": "The ram weighs 90 lb, the ewe 0.06 t; it was 4 °C.",
    "time.md": "It took 90 minutes in the 1990s, 12 in a row; 3,000,000 people saw it.",
    "tile.md": "The tile has 7 × 9 cm.",
}


@pytest.fixture
def notes(home: Path) -> Path:
    return make_folder(home / "notes", TEXTS)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("~120 mm", "plank"),
        ("120 mm", "plank"),
        (">=40 kg", "beam ram"),
        ("≥ 40kg", "beam ram"),
        ("<40 kg", "sack"),
        ("<=39.9 kg", "sack"),
        (">39.9 kg", "beam ram"),
        ("40..41 kg", "ram"),
        ("(~35 cm OR ~1.5 h)", "beam time"),
        ("it was -~1.5 h", "ram"),
        ("wide AND NOT >=1 g", "plank"),
        ("~4 degrees Celsius", "ram"),
        ("2.9..3.1 million $", "sack"),
        (">=$3M", "sack"),
        ("$2..4 million", "sack"),
        (">=€3M", ""),
        ("3 million", "sack time"),
        ("~70 mm", "tile"),
        ("70 mm", "tile"),
        ("~12 in", ""),
        ("~1990 s", ""),
        ("1992..2001", ""),
        ("85..95", "ram time"),
        ("2999990..3000010", "sack time"),
        ("the -1..10", "plank"),
    ],
)  # fmt: skip
def test_a_quantity_is_found_in_any_unit_and_a_range_by_values(
    notes: Path, capsys: pytest.CaptureFixture[str], query: str, found: str
) -> None:
    main(["search", query, str(notes), "--mode", "words", "--json"])
    hits = json.loads(capsys.readouterr().out)["results"]
    assert sorted(Path(hit["path"]).stem for hit in hits) == found.split()


@given(st.integers(1, 10**9), st.integers(1, 10**4))
def test_the_words_of_a_range_are_those_of_the_values_in_it(low: int, share: int) -> None:
    (said,) = quantities(f"It weighs {low * share / 1000:.4f} kg.")
    asked = amounts(f"{low}..{low * 2} kg")
    assert asked is not None
    assert len(asked.begins()) < 64
    is_begun = any(word.startswith(begin) for word in said.words() for begin in asked.begins())
    assert asked.has(said) is is_begun
    assert is_begun or not 1000 <= share <= 2000
    assert not is_begun or 999 <= share <= 2001


@pytest.mark.parametrize("query", [">1000", "≤ 3", "1000..9000", "9..3"])
def test_a_range_without_unit_that_cannot_be_looked_up_says_so(query: str) -> None:
    (note,) = parse(f"ewe {query.replace(' ', '')}").notes
    assert "without a unit a range needs both ends" in note


def test_a_range_is_written_as_it_was_understood_and_lights_what_it_found() -> None:
    query = parse("plank (~120 mm OR >= 40 kg) -<5 %")
    assert parse(written(query)).joined == query.joined
    assert [term.text for term in query.excluded] == ["<5 %"]
    assert query.meaning == "plank 120 mm 40 kg"
    text = "12 cm, 13 cm and 0.05 t"
    places = Highlighter(tuple(term for term in query.terms if term.is_range)).places(text)
    assert [text[slice(*place)] for place in places] == ["12 cm", "0.05 t"]


@pytest.mark.parametrize(
    "text",
    [
        "~3 people",
        ">=40",
        "~/notes 5 kg",
        "date:2012..2014 model",
        "a -> 5",
        "<b> 5 kg",
        "~$HOME 5",
        ">=$5.5.1",
        "€5..$10",
    ],
)
def test_what_only_resembles_a_range_is_words(text: str) -> None:
    assert not any(term.is_range for term in parse(text).terms)


def test_a_unit_in_capitals_that_another_has_is_that_other() -> None:
    milli, mega, loose = (next(next(quantities(text)).words()) for text in ("5 mW", "5 MW", "5 KG"))
    assert milli != mega
    assert loose == f"{POINT}g535000"
