"""Lists of references, tables of contents and indexes are recognised, and texts are not."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from longsearch.engine import furniture
from longsearch.engine.furniture import Furniture, furniture_in, kind_of

_FOUND = re.findall(
    r"^===== (\w+): (.+)\n((?:(?!=====).*\n)+)",
    Path(__file__).with_name("furniture.txt").read_text("utf-8"),
    re.MULTILINE,
)
SAMPLES = {f"{kind} - {name}": (kind, text.strip()) for kind, name, text in _FOUND}
"""Made-up lists in the styles of many languages, and texts that are a little like them."""


@pytest.mark.parametrize("name", SAMPLES)
def test_a_list_of_any_style_is_told_from_a_text(name: str) -> None:
    kind, text = SAMPLES[name]
    assert str(kind_of(text, furniture_in(text)) or "nothing") == kind


def test_in_a_passage_of_both_only_the_list_is_furniture() -> None:
    prose = "Salt slows the sprouting of barley, and rinsing the grain restores most of the loss.\n\nReferences\n\n"
    text = prose + SAMPLES["references - APA"][1]
    parts = furniture_in(text)
    assert kind_of(text, parts) is Furniture.REFERENCES
    assert min(start for (start, _), _ in parts) >= len(prose) - len("References\n\n")


_LINES = """
1. Salt ..... 3|2.1 Rinsing . . . . ix|Barley, 4, 12|grain 7 ff.|The grain sprouts.|Contents|# Notes|a | b | c|Tides…1
2 Tides · · · · 9 |   |Marsh 30|- [Ebb](#ebb)|3 Harbours|What then?
"""


@example(["2.1 Rinsing . . . . ix"])
@given(st.lists(st.sampled_from([*_LINES.replace("\n", "|").split("|"), "a" * 130 + " 5", "x\ty\tz\tw"]), max_size=8))
def test_a_text_that_is_told_quickly_to_list_nothing_lists_nothing(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = furniture_in(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(furniture, "_may_list", lambda text: True)
        assert furniture_in(text) == found
