"""Shared by several commands: parsers of actions, such as `longsearch folders forget`, options, a question."""

import sys
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable

MODEL: dict[str, Any] = {
    "metavar": "NAME",
    "help": "read this folder with another model from now on: english, multilingual, a downloaded one or a folder; the"
    " old index answers until the new one is complete",
}
"""What `--model` is, for `add_argument`."""
THINK: dict[str, Any] = {
    "type": int,
    "metavar": "K",
    "help": "let a generative model, which neither bundled model is, read each query on for K soft tokens (default:"
    " think in the config file, or as trained)",
}
"""What `--think` is: only models with the readout `generative` heed it."""


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


def take_over(root: Path) -> None:
    """Offer the index of a folder that is away and whose files are in `root`: nothing would be read again."""
    from longsearch.app.paths import in_shell, index_paths

    if not index_paths():
        return  # the module below takes as long to import as all of the app
    from longsearch.app.folders.moving import move, moved_from

    for known, _ in moved_from(root):
        told = f"{printable(str(root))} has the files of {printable(known.name)}, which is away"
        if not sys.stdin.isatty():
            command = f"longsearch folders move {in_shell(known.root)} {in_shell(root)}"
            print(f"note: {told}; to take its index over instead of reading all again: {command}", file=sys.stderr)
        elif input(f"{told}. Take its index over? [Y/n] ").strip().lower() in {"", "y", "yes"}:
            move(known, root)
        return


def is_confirmed(question: str, unasked: str) -> bool:
    """Ask the person, who must say yes; otherwise say that nothing was changed.

    Raises LongsearchError with the message `unasked` where nobody can be asked.
    """
    if not sys.stdin.isatty():
        raise LongsearchError(unasked, "add --yes: without a terminal nobody can be asked")
    if input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}:
        return True
    print("nothing was changed")
    return False
