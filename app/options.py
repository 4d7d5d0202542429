"""What commands take, as data: options, arguments and actions, and those that several commands share.

`app.cli` makes parsers of them. Imports nothing that `longsearch --help` would wait for.
"""

from argparse import SUPPRESS, ArgumentTypeError
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Option(NamedTuple):
    """An option of a command or, if its name has no dash, an argument."""

    names: Sequence[str]
    about: Mapping[str, Any]
    """What `add_argument` is told of it."""


class Group(NamedTuple):
    """Options that stand under a heading in `--help`."""

    title: str
    description: str
    options: Sequence[Option]


class Actions(NamedTuple):
    """Words of which one may follow a command, such as `longsearch folders forget`."""

    actions: Mapping[str, tuple[str, *tuple[Option, ...]]]
    """For each word what it does, and its options."""
    required: bool = False


Options = Sequence[Option | Group | Actions]


def option(names: str, help: str, **about: Any) -> Option:
    """Return an option by its names, such as "-o --output", and what else `add_argument` is to know of it."""
    return Option(names.split(), {"help": help, **about})


def flag(names: str, help: str, **about: Any) -> Option:
    """Return an option without a value: it is given or not."""
    return option(names, help, action="store_true", **about)


def positive(text: str) -> int:
    """Return the number in a text. Raises ArgumentTypeError if it is less than 1."""
    number = int(text)
    if number < 1:
        raise ArgumentTypeError("must be at least 1")
    return number


def n_shown(what: str) -> Option:
    """Return the option `-k` of a command that shows the best `what`."""
    return option("-k", f"{what} to show (default: 10)", type=positive, default=10, metavar="N")


JSON = flag("--json", "print one JSON object")
JSON_AGAIN = Option(JSON.names, {**JSON.about, "default": SUPPRESS})
"""`--json` behind an action: it may stand before the action too."""
YES = flag("-y --yes", "do not ask")
RESULTS = (n_shown("documents"), JSON)
FOLDER = (
    option(
        "folder",
        "an indexed folder, a folder inside one, or a store as lance:URI (default: this folder; outside any, all"
        " indexed folders)",
        nargs="?",
        default="",
    ),
    flag("--everywhere", "all indexed folders, wherever you are"),
)
FOLDER_OF_APP = option("folder", "the folder to search (default: all indexed folders)", nargs="?", default="")
MODEL = option(
    "--model",
    "read this folder with another model from now on: english, multilingual, a downloaded one or a folder; the old"
    " index answers until the new one is complete",
    metavar="NAME",
)
THINK = option(
    "--think",
    "let a generative model, which neither bundled model is, read each query on for K soft tokens (default: think in"
    " the config file, or as trained)",
    type=int,
    metavar="K",
)
"""Only models with the readout `generative` heed it."""
