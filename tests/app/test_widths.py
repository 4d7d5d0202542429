"""Which width a MatMamba model runs at: a table of moments and choices, and the settings that decide it for good."""

from dataclasses import replace

import pytest

from longsearch.app.models.widths import (
    Choice,
    Moment,
    choices_to_json,
    describe_choices,
    describe_narrow,
    width_of_documents,
    width_of_queries,
)
from longsearch.app.settings.reading import current
from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.progress import IndexProgress

NESTED = (1.0, 0.5, 0.25, 0.125)
M = 1_000_000
MAINS = Moment(NESTED, tokens_per_s=10_000.0)
BATTERY = replace(MAINS, is_on_battery=True)


@pytest.mark.parametrize(
    ("moment", "width", "reason"),
    [
        (Moment((1.0,), asked=0.5, n_tokens_waiting=900 * M), 1.0, "the model has no other"),
        (MAINS, 1.0, "little waits to be read"),
        (replace(MAINS, n_tokens_waiting=199_999, tokens_per_s=1.0), 1.0, "little waits to be read"),
        (replace(MAINS, n_tokens_waiting=5 * M), 1.0, "5.0M tokens wait, 8 min of reading"),
        (replace(MAINS, n_tokens_waiting=6 * M), 1.0, "6.0M tokens wait, 10 min of reading"),
        (replace(MAINS, n_tokens_waiting=40 * M), 0.5, "40.0M tokens wait, 1 h 7 min of reading at full width"),
        (replace(MAINS, n_tokens_waiting=300 * M), 0.25, "300M tokens wait, 8 h 20 min of reading at full width"),
        (replace(MAINS, n_tokens_waiting=9_000 * M), 0.25, "9.0G tokens wait, 10 d 10 h of reading at full width"),
        (replace(BATTERY, n_tokens_waiting=5 * M), 1.0, "5.0M tokens wait, 8 min of reading on battery"),
        (
            replace(BATTERY, n_tokens_waiting=9 * M),
            0.5,
            "9.0M tokens wait, 15 min of reading at full width on battery",
        ),
        (
            replace(BATTERY, n_tokens_waiting=40 * M),
            0.25,
            "40.0M tokens wait, 1 h 7 min of reading at full width on battery",
        ),
        (
            replace(MAINS, n_tokens_waiting=5 * M, tokens_per_s=900.0),
            0.5,
            "5.0M tokens wait, 1 h 33 min of reading at full width",
        ),
        (replace(MAINS, widths=(1.0, 0.5), n_tokens_waiting=9_000 * M), 0.5, None),
        (replace(MAINS, n_tokens_waiting=9 * M, tokens_per_s=None), 1.0,
            "the speed of this machine is not measured yet"),
        (replace(BATTERY, n_tokens_waiting=9_000 * M, is_on_gpu=True), 1.0, "a GPU reads fast enough"),
        (replace(MAINS, asked=1.0, n_tokens_waiting=9_000 * M), 1.0, "asked for"),
        (replace(MAINS, asked=0.125), 0.125, "asked for"),
        (replace(MAINS, asked=0.125, widths=(1.0, 0.5)), 0.5, "1/8 was asked for, the model has no such width"),
    ],
)  # fmt: skip
def test_the_width_of_documents(moment: Moment, width: float, reason: str | None) -> None:
    found = width_of_documents(moment)
    assert found.width == width
    assert reason in (None, found.reason)


def test_documents_are_never_read_at_an_eighth_unless_it_is_asked_for() -> None:
    for tokens_per_s in (0.5, 50.0, 5_000.0, 500_000.0):
        for n_tokens in (0, M, 1_000 * M, 10**12):
            for is_on_battery in (False, True):
                moment = Moment(NESTED, None, False, is_on_battery, n_tokens, tokens_per_s)
                assert width_of_documents(moment).width >= 0.25


def test_more_to_read_never_makes_the_width_larger() -> None:
    for start in (MAINS, BATTERY):
        widths = [width_of_documents(replace(start, n_tokens_waiting=n * M)).width for n in range(0, 600, 5)]
        assert widths == sorted(widths, reverse=True)
        assert set(widths) == {1.0, 0.5, 0.25}


@pytest.mark.parametrize(
    ("moment", "width", "reason"),
    [
        (MAINS, 1.0, "no query was slow yet"),
        (replace(MAINS, query_s=0.008), 1.0, "a query takes 8 ms"),
        (replace(MAINS, query_s=0.25), 1.0, "a query takes 250 ms"),
        (replace(MAINS, query_s=0.3), 0.5, "a query takes 300 ms at full width"),
        (replace(MAINS, query_s=0.5), 0.25, "a query takes 500 ms at full width"),
        (replace(MAINS, query_s=9.0), 0.25, "a query takes 9000 ms at full width"),
        (replace(MAINS, query_s=9.0, asked=1.0), 1.0, "asked for"),
        (replace(MAINS, asked=0.25), 1.0, "no query was slow yet"),  # asked for documents; queries cost little
        (Moment((1.0,), query_s=9.0), 1.0, "the model has no other"),
    ],
)
def test_the_width_of_queries(moment: Moment, width: float, reason: str) -> None:
    assert width_of_queries(moment) == Choice(width, reason)


@pytest.mark.parametrize(
    ("text", "width"),
    [("", None), ("auto", None), ("1", 1.0), ("1/2", 0.5), ("0.5", 0.5), (".25", 0.25), ("1/8", 0.125), (" 1/4", 0.25)],
)  # fmt: skip
def test_a_width_is_asked_for_as_a_fraction_or_a_decimal(text: str, width: float | None) -> None:
    assert current("width", environment={"LONGSEARCH_WIDTH": text}).width == width
    assert current("width", environment={}).width is None


@pytest.mark.parametrize("text", ["0", "2", "1/3", "half", "-1", "nan", "1/0"])
def test_another_width_is_refused_with_the_ones_that_are_possible(text: str) -> None:
    with pytest.raises(LongsearchError, match="LONGSEARCH_WIDTH") as caught:
        current("width", environment={"LONGSEARCH_WIDTH": text})
    assert caught.value.hint == "set it to auto, 1, 1/2, 1/4 or 1/8"


def test_the_daemon_reads_again_only_with_permission() -> None:
    for text, allowed in (("", False), ("0", False), ("1", True)):
        assert current("deepen", environment={"LONGSEARCH_DEEPEN": text}).deepen == allowed
    with pytest.raises(LongsearchError, match="LONGSEARCH_DEEPEN"):
        current("deepen", environment={"LONGSEARCH_DEEPEN": "maybe"})


def test_choices_are_told_in_words() -> None:
    choices = choices_to_json(NESTED, Choice(0.5, "much waits"), Choice(1.0, "a query takes 8 ms"))
    assert choices["has_others"]
    assert describe_choices(choices) == "1/2 for documents (much waits), 1 for queries (a query takes 8 ms)"


def test_narrow_documents_are_reported_with_advice() -> None:
    progress = IndexProgress(3, 3, 0, 0, 0, 90, 90, "", 0.0)
    assert describe_narrow(progress, "/papers") == ""
    said = describe_narrow(replace(progress, n_narrow=1), "/papers")
    assert said.startswith("1 document was read at part of the model's width")
    assert said.endswith("longsearch index /papers --deepen")
    assert describe_narrow(replace(progress, n_narrow=1200), "/papers").startswith("1,200 documents were")
