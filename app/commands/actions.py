"""Shared by commands that have actions, such as `longsearch folders forget`: parsers, `--json`, a question."""

import sys
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Mapping

from longsearch.engine.errors import LongsearchError


def add_actions(
    parser: ArgumentParser, actions: Mapping[str, str], required: bool = False
) -> dict[str, ArgumentParser]:
    """Add the actions, named by what they do, to the parser of a command. Return the parser of each."""
    added = parser.add_subparsers(dest="action", metavar="ACTION", required=required)
    return {
        name: added.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        for name, text in actions.items()
    }


def add_json(parser: ArgumentParser, *actions: ArgumentParser) -> None:
    """Add `--json` to a command and to its actions: it may stand before the action or after it."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    for action in actions:
        action.add_argument("--json", action="store_true", default=SUPPRESS, help="print one JSON object")


def is_confirmed(question: str, unasked: str) -> bool:
    """Ask the person, who must say yes; otherwise say that nothing was changed.

    Raises LongsearchError with the message `unasked` where nobody can be asked.
    """
    if not sys.stdin.isatty():
        raise LongsearchError(unasked, "say --yes where nobody can be asked")
    if input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}:
        return True
    print("nothing was changed")
    return False
