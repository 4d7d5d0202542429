"""The notation of widths on the command line."""

from argparse import ArgumentTypeError

import pytest

from longsearch.engine.widths import as_decimals, as_fractions, mean_width, parse_width, parse_wish


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("1", 1.0),
        ("1/2", 0.5),
        ("0.5", 0.5),
        (".125", 0.125),
        ("4/8", 0.5),
        ("1,1/2,1/2,1", (1.0, 0.5, 0.5, 1.0)),
        ("0.25, 3/8", (0.25, 0.375)),
    ],
)
def test_a_width_is_a_decimal_or_a_fraction_or_one_for_each_layer(text, width):
    assert parse_width(text) == width
    assert parse_width(as_decimals(width)) == parse_width(as_fractions(width)) == width


@pytest.mark.parametrize("text", ["", "0", "2", "-1/2", "3/2", "1/0", "half", "nan", "inf", "1e-999999999", "1 / 2"])
def test_a_width_that_is_no_fraction_is_refused_with_an_example(text):
    with pytest.raises(ArgumentTypeError, match=r"write 0\.5, 1/2, or one for each layer: 1,1/2,1/2,1"):
        parse_width(text)


@pytest.mark.parametrize("text", ["1,", "1,,1", "1,8,1", "8,4,4,8"])
def test_the_layer_that_has_no_fraction_is_named_and_heads_are_no_fractions(text):
    with pytest.raises(ArgumentTypeError, match=r"'8?' in '.*' is not a fraction"):
        parse_width(text)


def test_a_width_is_written_with_decimals_or_with_fractions():
    mixed = (1.0, 0.5, 1 / 3, 0.125)
    assert as_decimals(0.5) == "0.5"
    assert as_decimals(mixed) == "1,0.5,0.333333,0.125"
    assert as_fractions(1.0) == "1"
    assert as_fractions(mixed) == "1,1/2,1/3,1/8"
    assert mean_width((1.0, 0.5)) == 0.75
    assert mean_width(0.25) == 0.25


@pytest.mark.parametrize(
    ("text", "wish"), [("auto", None), ("1/2", 0.5), (".25", 0.25), ("2/2", 1.0), ("0.125", 0.125)]
)
def test_a_wish_is_auto_or_one_of_the_four_widths(text, wish):
    assert parse_wish(text) == wish


@pytest.mark.parametrize("text", ["", "1/3", "0", "1,1/2", "half", "AUTO"])
def test_any_other_wish_is_refused(text):
    with pytest.raises(ArgumentTypeError, match="must be auto, 1, 1/2, 1/4 or 1/8"):
        parse_wish(text)
