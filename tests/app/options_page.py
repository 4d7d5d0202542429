"""Writes the tables of docs/command-line.md that are made of the parser: all commands, and the options of each.

`python -m tests.app.options_page` rewrites the page, and a test fails while it is stale. A table stands between two
comments: `<!-- options of search -->` and `<!-- end -->`.
"""

import re
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from longsearch.app.cli import build_parser
from longsearch.app.commands.man import arguments, subcommands

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
_ELSEWHERE = {"open-hit": "editors.md#open-hit", "mcp": "agents.md", "eval": "evaluation.md#measure-it-yourself"}
"""The commands whose arguments another page describes."""
_TABLE = re.compile(r"<!-- (commands|options of ([\w-]+)) -->\n.*?<!-- end -->", re.DOTALL)


def rewritten(page: str) -> str:
    """Return the page with its tables made anew."""
    commands = subcommands(build_parser())

    def table(place: re.Match[str]) -> str:
        rows = _options(commands[place[2]]) if place[2] else _commands(commands)
        head = "| argument | meaning |" if place[2] else "| command | what it does |"
        return "\n".join([f"<!-- {place[1]} -->", head, "| --- | --- |", *rows, "<!-- end -->"])

    return _TABLE.sub(table, page)


def undescribed(page: str) -> set[str]:
    """Return the commands with arguments whose table the page lacks."""
    written = {place[2] for place in _TABLE.finditer(page)} | set(_ELSEWHERE)
    return {name for name, parser in subcommands(build_parser()).items() if [*_options(parser)]} - written


def _commands(commands: dict[str, ArgumentParser]) -> Iterator[str]:
    for name, parser in commands.items():
        yield _row(f"[`{name}`]({_ELSEWHERE.get(name, f'#{name}')})", _meaning(parser))


def _options(parser: ArgumentParser) -> Iterator[str]:
    """Yield a row for each argument; a command inside this one has a row, and its arguments follow."""
    for written, meaning in arguments(parser):
        yield _row(f"`{written}`", meaning)
    for name, inner in subcommands(parser).items():
        yield _row(f"**`{parser.prog.split()[-1]} {name}`**", _meaning(inner))
        yield from _options(inner)


def _meaning(parser: ArgumentParser) -> str:
    sentence = (parser.description or "").removesuffix(".")
    return sentence[:1].lower() + sentence[1:]


def _row(written: str, meaning: str) -> str:
    """Return a row. A bar would end the cell, and an asterisk would begin emphasis."""
    return f"| {written.replace('|', chr(92) + '|')} | {re.sub(r'([|*<])', chr(92) * 2 + chr(92) + '1', meaning)} |"


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
