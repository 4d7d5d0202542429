"""Figures in README, card and papers.md are those of the results that are kept as data (docs/results)."""

import hashlib
import json
import re

import pytest

from longsearch.engine.models.hub import bundled_model
from tests.results_tables import (
    DATA,
    ORIGIN,
    PAGES,
    QUOTING,
    REPOSITORY,
    TABLES,
    kept,
    kept_quotations,
    made_tables,
    outside_tables,
    percent,
    quotable,
    quoted,
    rewritten,
    tables,
)


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


@pytest.mark.parametrize("name", QUOTING)
def test_each_number_of_a_line_is_kept_as_data(name: str) -> None:
    there, known = quoted(page_of(name)), kept_quotations()[name]
    changed = [line for line in there if line not in known] + [line for line in known if line not in there]
    assert not changed, "measure them, then keep them: python -m tests.results_tables --quoted"
    assert there == known, "the lines have another order"


@pytest.mark.parametrize(
    ("before", "after"),
    [("finds 92;", "finds 93;"), ("**88.1**", "**87.4**"), ("1.7 %", "1.9 %"), ("262,144", "262,145"), (".57", ".56")],
)
def test_a_changed_number_of_a_line_is_seen(before: str, after: str) -> None:
    page = "It finds 92; **88.1** of MiniLM, 1.7 % of 262,144, and .57 (arXiv 2604.18199) of `K = 4` in Mamba2.\n"
    assert quoted(page) == [[page[:40], "92 88.1 1.7 262,144 .57"]]
    assert quoted(page.replace(before, after)) != quoted(page)


QUOTED = ("README.md", "assets/model/README.md", "docs/papers.md")
"""The pages whose every measured figure is kept as data."""
_FIGURE = re.compile(r"(?<![\w.])\d*\.\d+")
_CELL = re.compile(r"\|\s*[*+-]*[\d,]*\.?\d[^|]*(?=\|)")
_NOT_MEASURED = ("| what waits would take at full width |", "| formula |", "| | |\n| --- | --- |\n| shape |")
"""Tables of what the program and its model are."""


def page_of(name: str) -> str:
    return (REPOSITORY / name).read_text("utf-8")


@pytest.mark.parametrize("name", QUOTED[1:])
def test_each_table_with_figures_is_kept_as_data(name: str) -> None:
    tables_there = re.findall(r"(?:^\|.*\n)+", outside_tables(page_of(name)), re.MULTILINE)
    with_figures = [t for t in tables_there if any(_CELL.search(row[1:]) for row in t.splitlines()[2:])]
    assert not [t for t in with_figures if not t.startswith(_NOT_MEASURED)]


def test_each_table_of_the_papers_says_its_weights_data_seeds_and_interval() -> None:
    named = re.findall(r"<!-- table ([\w-]+)( and its origin)? -->", (REPOSITORY / "docs/papers.md").read_text("utf-8"))
    assert len(named) > 20
    assert all(says for _, says in named)
    assert all(table[part] for table in tables().values() for part in ORIGIN)


@pytest.mark.parametrize("name", QUOTED)
def test_each_decimal_figure_outside_the_tables_is_kept_as_data(name: str) -> None:
    said = json.loads(TABLES.read_text("utf-8"))["sentences"][name]
    listed = {figure for figures in said.values() for figure in figures}
    page = page_of(name)
    sections = re.split(r"(?m)^(?=#{2,3} )", page) if name == "docs/papers.md" else [page]
    found: set[str] = set()
    for section in sections:
        there = set(_FIGURE.findall(quotable(section)))
        in_tables = _FIGURE.findall(made_tables(page_of("docs/evaluation.md") if name == "README.md" else section))
        unknown = there - listed - set(in_tables)
        assert not unknown, "in no table of its section: measure it, or say in the sentences of tables.json what it is"
        found |= there
    assert len(found) > 5
    assert not listed - found, "no sentence has these any more"


def test_the_table_of_the_readme_has_the_figures_of_the_evaluation() -> None:
    head, *rows = tables()["seven-sets"]["rows"]
    systems = [rows[0], rows[2], rows[4]]
    assert [row[0].strip("*").split()[0] for row in systems] == ["longsearch,", "BM25", "MiniLM"]
    kgrag = tables()["kgrag"]["rows"]
    wanted = [[kgrag[number][1] for number in (1, 3, 5)]]
    wanted += [[row[head.index(column)] for row in systems] for column in ("mean", "stackfaq", "code_chunks")]
    lines = (REPOSITORY / "README.md").read_text("utf-8").splitlines()
    start = lines.index("| | longsearch | BM25 (words alone) | MiniLM with BM25 |")
    shown = [[cell.strip(" *") for cell in line.split("|")[2:-1]] for line in lines[start + 2 : start + 6]]
    assert shown == [[cell.strip("*") for cell in row] for row in wanted]
