"""Figures of the generated tasks in README, card and pages are those of the results that are kept as data."""

import hashlib
import json

import pytest

from longsearch.engine.models.hub import bundled_model
from tests.results_tables import DATA, PAGES, REPOSITORY, kept, percent, rewritten


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_of_a_page_are_those_of_the_data(name: str) -> None:
    page = (REPOSITORY / name).read_text("utf-8")
    assert page == rewritten(page, kept()), "rewrite them: python -m tests.results_tables"


def test_the_results_are_of_the_weights_that_ship() -> None:
    weights = hashlib.sha256((bundled_model() / "model.safetensors").read_bytes()).hexdigest()
    assert json.loads(DATA.read_text("utf-8"))["weights"] == weights, "run the tasks again with the new weights"


def test_a_changed_result_makes_a_page_stale() -> None:
    page = "<!-- acc@1 of needle: 256 -->\n<!-- end -->\n"
    results = {"needle-256": {"words": {"acc@1": 0.5, "n_queries": 50.0}}}
    fresh = rewritten(page, results)
    assert "| words alone | 50 |" in fresh
    results["needle-256"]["words"]["acc@1"] = 0.6
    assert rewritten(fresh, results) != fresh


SENTENCES: list[tuple[str, str]] = [
    (
        "README.md",
        "search finds {needles-262144 hybrid}; by meaning alone {needles-262144 meaning},"
        " by words alone {needles-262144 words}",
    ),
    (
        "assets/model/README.md",
        "by meaning holds the fact for {needles-262144 meaning} questions, by words for {needles-262144 words},"
        " by both for {needles-262144 hybrid}",
    ),
    (
        "docs/evaluation.md",
        "for {needles-262144 hybrid} of 100 questions by hybrid, {needles-262144 meaning} by meaning,"
        " {needles-262144 words} by words",
    ),
    (
        "docs/papers.md",
        "hybrid finds {needle-own-256 hybrid}, {needle-own-1024 hybrid} and {needle-own-4096 hybrid} of 100",
    ),
    (
        "docs/papers.md",
        "for {needle-own-256 document} of 100 at 256 tokens, {needle-own-1024 document} at 1,024"
        " and {needle-own-4096 document} at 4,096",
    ),
    (
        "docs/papers.md",
        "lose a little with length too: {needle-own-256 passages}, {needle-own-1024 passages}"
        " and {needle-own-4096 passages}",
    ),
]
"""Page, and a sentence of it, in which {task system} stands for a figure."""


@pytest.mark.parametrize(("name", "sentence"), SENTENCES)
def test_a_figure_in_a_sentence_is_that_of_the_data(name: str, sentence: str) -> None:
    results = kept()
    for task, systems in results.items():
        for system in systems:
            sentence = sentence.replace(f"{{{task} {system}}}", percent(results, task, system))
    assert "{" not in sentence, "no such result"
    assert sentence in (REPOSITORY / name).read_text("utf-8")
