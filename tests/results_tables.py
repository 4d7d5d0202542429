"""Writes the tables of results in the pages, from results that are kept as data (docs/results).

    python -m tests.results_tables FILE…    take results of `longsearch eval --json` into the data
    python -m tests.results_tables          rewrite the tables of all pages
    python -m tests.results_tables --quoted    keep the numbers of all lines that quote, after you have measured them

A test fails while a page is stale. A table stands between two comments, of which the last is `<!-- end -->`. The first
is `<!-- acc@1 of needle-own: 256 1024 -->` or `<!-- acc@1 by depth of needle-own-1024 -->` for the generated tasks of
long.json; a figure is missing where nothing was measured. It is `<!-- table NAME -->` for a table of tables.json, and
`<!-- table NAME and its origin -->` where weights, data, seeds and interval stand below it. Of most of these tables
no raw output was kept: they were taken down from the pages. quoted.json has the numbers of each line outside tables
of this kind, of the README, the cards and docs/papers.md: no number of a sentence changes unseen.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
DATA = REPOSITORY / "docs" / "results" / "long.json"
TABLES = DATA.with_name("tables.json")
LINES = DATA.with_name("quoted.json")
PAGES = ("README.md", "assets/model/README.md", "docs/evaluation.md", "docs/papers.md")
CARDS = tuple(f"assets/{name}/README.md" for name in ("model", "multilingual", "reader"))
QUOTING = ("README.md", *CARDS, "docs/papers.md")
"""The pages whose every number is kept."""
ROWS = {
    "meaning": "meaning",
    "passages": "passages and their excerpts alone",
    "document": "the document's own vector",
    "hybrid": "hybrid",
    "words": "words alone",
    "bm25": "BM25 over passages of 120 words",
}
_FIFTHS = ("first fifth", "second", "third", "fourth", "last")
ORIGIN = ("weights", "data", "seeds", "interval")
_KEPT = re.compile(r"<!-- (table ([\w-]+)( and its origin)?) -->\n.*?<!-- end -->", re.DOTALL)
_MADE = re.compile(r"<!-- (?:table|acc@1) .*?<!-- end -->", re.DOTALL)
_NO_NUMBERS = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)\n]*\)|arXiv \d\S+|\[arXiv [^\]\n]*", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)")
_BEGINNING = 40  # characters, by which a line is known
_TABLE = re.compile(r"<!-- (acc@1 (?:of ([\w-]+): ([\d ]+)|by depth of ([\w-]+))) -->\n.*?<!-- end -->", re.DOTALL)

Results = dict[str, dict[str, dict[str, float]]]
"""Task, system, and of it: the share of queries whose first document is right, its interval, and the queries."""


def kept() -> Results:
    """Return the results that are kept as data."""
    results: Results = json.loads(DATA.read_text("utf-8"))["results"]
    return results


def rewritten(page: str, results: Results) -> str:
    """Return the page with its tables made anew."""

    def table(place: re.Match[str]) -> str:
        if place[4]:
            tasks = [f"{place[4]}-fifth-{fifth}" for fifth in range(1, 6)]
            head = [f"Acc@1 in {place[4]}, the fact in the", *_FIFTHS]
        else:
            lengths = place[3].split()
            tasks = [f"{place[2]}-{length}" for length in lengths]
            head = [f"Acc@1 in {place[2]} of so many tokens", *(f"{int(length):,}" for length in lengths)]
        rows = [head, ["queries", *(_cell(results, task, "n_queries") for task in tasks)]]
        for system, name in ROWS.items():
            if any(system in results.get(task, {}) for task in tasks):
                rows.append([name, *(_cell(results, task, system) for task in tasks)])
        return _between(place[1], _markdown(rows))

    def kept_table(place: re.Match[str]) -> str:
        about = tables()[place[2]]
        origin = f"\n\n{origin_of(about)}" if place[3] else ""
        return _between(place[1], _markdown(about["rows"]) + origin)

    return _KEPT.sub(kept_table, _TABLE.sub(table, page))


def tables() -> dict[str, dict[str, Any]]:
    """Return the tables of tables.json: of each its rows, the first of which is its head, and its origin."""
    found: dict[str, dict[str, Any]] = json.loads(TABLES.read_text("utf-8"))["tables"]
    return found


def made_tables(page: str) -> str:
    """Return the tables of a page that are made of the data."""
    return " ".join(_MADE.findall(page))


def outside_tables(page: str) -> str:
    """Return a page without its tables that are made of the data."""
    return _MADE.sub("", page)


def quotable(page: str) -> str:
    """Return the text of a page in which numbers are quoted: without tables of the data, code and addresses."""
    return _NO_NUMBERS.sub("", outside_tables(page))


def quoted(page: str) -> list[list[str]]:
    """Return the beginning and the numbers of each quotable line that has any."""
    lines = quotable(page).splitlines()
    return [[line[:_BEGINNING], " ".join(numbers)] for line in lines if (numbers := _NUMBER.findall(line))]


def kept_quotations() -> dict[str, list[list[str]]]:
    """Return what `quoted` gave for each page of QUOTING when its numbers were last kept."""
    lines: dict[str, list[list[str]]] = json.loads(LINES.read_text("utf-8"))
    return lines


def keep_quotations() -> None:
    """Keep the numbers of all lines as they are now."""
    pages = {name: quoted((REPOSITORY / name).read_text("utf-8")) for name in QUOTING}
    LINES.write_text(_a_line_each(pages), "utf-8")


def _a_line_each(pages: dict[str, list[list[str]]]) -> str:
    """Write JSON with each line of a page on a line of its own, so that a diff shows what changed."""
    parts = (
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n]"
        for name, lines in pages.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"


def origin_of(table: dict[str, Any]) -> str:
    """Return the line below a table."""
    said = "; ".join(f"{name}: {table[name]}" for name in ORIGIN)
    return f"*{said[0].upper()}{said[1:]}.*"


def _markdown(rows: list[list[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(row)} |") for row in lines)


def _between(first: str, text: str) -> str:
    return f"<!-- {first} -->\n{text}\n<!-- end -->"


def percent(results: Results, task: str, system: str) -> str:
    """Return Acc@1 in per cent, as the pages write it."""
    return f"{100 * results[task][system]['acc@1']:.0f}"


def _cell(results: Results, task: str, system: str) -> str:
    found = results.get(task, {})
    if system == "n_queries":
        return f"{next(iter(found.values()))['n_queries']:.0f}" if found else ""
    return percent(results, task, system) if system in found else ""


def take(paths: list[str]) -> None:
    """Take the results of these files into the data; those of the same task and system are replaced."""
    data = json.loads(DATA.read_text("utf-8"))
    for path in paths:
        for record in json.loads(Path(path).read_text("utf-8"))["results"]:
            accuracy = record["metrics"]["hit@1"]
            figures = {"acc@1": accuracy["mean"], "low": accuracy["low"], "high": accuracy["high"]}
            data["results"].setdefault(record["dataset"], {})[record["system"]] = {
                **{name: round(value, 4) for name, value in figures.items()},
                "n_queries": record["n_queries"],
            }
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1:] != ["--quoted"]:
        take(sys.argv[1:])
    for name in PAGES:
        page = REPOSITORY / name
        page.write_text(rewritten(page.read_text("utf-8"), kept()), "utf-8")
    if sys.argv[1:] == ["--quoted"]:
        keep_quotations()
