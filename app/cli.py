"""The command line: arguments in, exit code out. Each command and its options live in `app.commands`.

Exit codes: 0 done; 1 nothing was found; 2 wrong usage; 3 failed (stderr says why and what to do); 130 interrupted.
"""

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Iterable, Sequence
from copy import copy
from importlib import import_module
from typing import Any, NoReturn, Protocol, cast

from longsearch.app.options import Actions, Group, Option, Options
from longsearch.engine import __version__
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable

EXIT_OK, EXIT_NOTHING_FOUND, EXIT_USAGE, EXIT_CANNOT, EXIT_INTERRUPTED = 0, 1, 2, 3, 130

_DESCRIPTION = """\
Semantic search in a terminal over the long documents you keep.

  longsearch FOLDER            open the app over a folder; indexing goes on in the background
  longsearch                   open the app over all indexed folders
  longsearch demo              try it on sample notes; leaves nothing behind
  longsearch index FOLDER      index a folder in the foreground, with progress
  longsearch search QUERY      search from the command line
  longsearch similar FILE      find the documents most similar to a file
  longsearch where QUOTE       find the document and the page of a quotation
  longsearch verify DRAFT      check the quotations of a draft against your documents
  longsearch table QUESTIONS   ask each document each question; a table to keep
  longsearch compare A B       what is new, gone, changed or moved between two documents
  longsearch copies            documents that are copies or versions of one another
  longsearch marks             what you highlighted and noted in your documents
  longsearch text FILE         what longsearch read of a file
  longsearch basket            the passages that you keep as evidence; export them
  longsearch folders           list, name, add and forget indexed folders
  longsearch status            what is indexed, what is not, and why
"""
_EPILOG = "exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 failed, 130 interrupted"


_FIRST_STEPS = """\
No folder is indexed yet.

  longsearch FOLDER   open the app over a folder of yours; it can be searched while it is read
  longsearch demo     look around in twelve sample notes; leaves nothing behind
  longsearch --help   everything else
"""
"""The text that `longsearch` alone prints in a terminal before a folder is indexed."""


class Command(Protocol):
    """A module of `app.commands`."""

    HELP: str
    """A phrase that says what the command does."""
    OPTIONS: Options
    """Its options, arguments and actions."""

    def run(self, options: argparse.Namespace) -> int:
        """Run the command; return the exit code. Raises LongsearchError if the command fails."""


COMMANDS = (
    "open",
    "index",
    "search",
    "similar",
    "where",
    "verify",
    "table",
    "compare",
    "copies",
    "marks",
    "text",
    "basket",
    "history",
    "saved",
    "news",
    "restore",
    "export",
    "import",
    "check",
    "folders",
    "move",
    "status",
    "config",
    "doctor",
    "daemon",
    "eval",
    "model",
    "bench",
    "completion",
    "man",
    "mcp",
    "skill",
    "serve",
    "uninstall",
    "demo",
    "open-hit",
)
"""The commands, in the order of `longsearch --help`. Each is a module of `app.commands`."""
_TELL_MISTAKES_THEMSELVES = frozenset({"open", "index", "config", "doctor", "completion"})
"""Commands that say by themselves what is wrong with the config file, or do not need it."""
_MODULES = {"open-hit": "open_hit", "import": "import_"}
"""Modules whose names are not those of their commands."""
_ALIASES = {"like": "similar"}
"""Older names of commands. They still work, but `--help` does not list them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code of the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a ? for each character that its encoding lacks, and no traceback
    arguments = _with_command(sys.argv[1:] if argv is None else argv)
    if not arguments and _can_open_all():
        arguments = ["open"]
    # import only the module of the command that is run; only --help needs them all
    parser = build_parser(arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS)
    options = parser.parse_args(arguments)
    if options.command is None:
        print(_FIRST_STEPS, end="") if not arguments and _is_terminal() else parser.print_help()
        return EXIT_OK
    try:
        if options.command not in _TELL_MISTAKES_THEMSELVES:
            _tell_mistakes()
        exit_code: int = options.run(options)
        sys.stdout.flush()
        return exit_code
    except (LongsearchError, KeyboardInterrupt, OSError) as error:
        return _failed(error)
    finally:  # which of the person's own files were damaged, if any was read
        user_file = sys.modules.get("longsearch.app.user_data.user_file")
        while user_file is not None and user_file.told:
            print(f"longsearch: {printable(user_file.told.pop(0))}", file=sys.stderr)


def _failed(error: LongsearchError | KeyboardInterrupt | OSError) -> int:
    """Say why a command failed. Returns the exit code."""
    if isinstance(error, KeyboardInterrupt):
        below = "\n" if sys.stderr.isatty() else ""  # a terminal shows ^C behind the progress
        print(f"{below}longsearch: interrupted; what was done is kept", file=sys.stderr)
        return EXIT_INTERRUPTED
    if isinstance(error, LongsearchError):
        print(f"longsearch: {printable(error.message)}", file=sys.stderr)
        if error.hint:
            print(f"  hint: {printable(error.hint)}", file=sys.stderr)
        return EXIT_CANNOT
    with contextlib.suppress(OSError):  # Python would write at exit what stdout still buffers, and fail once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # `longsearch search … | head`
        return EXIT_OK
    reason = f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror}"
    print(f"longsearch: {printable(reason)}", file=sys.stderr)  # such as a full disk, a log that may not be written
    return EXIT_CANNOT


def _tell_mistakes() -> None:
    """Say what is wrong with the config file. The command goes on with the rest of it."""
    from longsearch.app.settings.reading import read

    problems = read().problems
    for problem in problems[:1]:
        more = f"; {len(problems) - 1} more: longsearch config check" if problems[1:] else ""
        print(f"longsearch: {printable(problem.message)} ({printable(problem.hint)}{more})", file=sys.stderr)


def _can_open_all() -> bool:
    """Whether `longsearch` alone opens the app: in a terminal, once a folder is indexed. Otherwise it prints help."""
    if not _is_terminal():
        return False
    from longsearch.app.paths import index_paths
    from longsearch.app.settings.reading import current

    return bool(index_paths() or current().folders)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _with_command(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the name of a command in front, unless they begin with an option.

    A folder in front means `open`, and so does `--model` where no command follows it. If the first word is no folder
    and other words follow, it is a misspelt command: exit with 2.
    """
    if arguments and arguments[0].split("=")[0] == "--model":
        n = 1 if "=" in arguments[0] else 2
        option, rest = arguments[:n], arguments[n:]
        return [rest[0], *option, *rest[1:]] if rest and rest[0] in COMMANDS else ["open", *arguments]
    if not arguments or arguments[0].startswith("-"):
        return list(arguments)
    first, *rest = arguments
    first = _ALIASES.get(first, first)
    if first == "eval":  # its options, --help included, are for its own parser
        return [first, "--", *rest]
    if first in COMMANDS:
        return [first, *rest]
    if rest and not rest[0].startswith("-") and not os.path.isdir(first):  # noqa: PTH112
        from difflib import get_close_matches

        near = get_close_matches(first, COMMANDS, n=1)
        what = f"{near[0]}?" if near else f'to search for it: longsearch search "{" ".join(arguments)}"'
        build_parser().error(f"'{first}' is neither a command nor a folder; {what}")
    return ["open", first, *rest]


class _Parser(argparse.ArgumentParser):
    """Takes options between a query and its folder, and makes errors safe to print.

    Errors repeat arguments, and a file name may hold control characters.
    """

    _is_mixing = False

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """As argparse does; arguments that it leaves over are tried once more, with options taken out first.

        argparse fills an optional folder with nothing as soon as it meets an option behind the query.
        """
        before = copy(namespace)
        found, left = super().parse_known_args(args, namespace)
        if not left or self._is_mixing or any(a.nargs in (argparse.PARSER, argparse.REMAINDER) for a in self._actions):
            return found, left
        self._is_mixing = True
        try:
            found, left = self.parse_known_intermixed_args(args, before)
        finally:
            self._is_mixing = False
        if left:  # said here, with the usage of the command, not with that of the whole program
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return found, left


def build_parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of the command line, for the commands with these names."""
    parser = _Parser(
        "longsearch", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"longsearch {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name in names:
        command = cast(Command, import_module(f"longsearch.app.commands.{_MODULES.get(name, name)}"))
        added = _add_parser(commands, name, command.HELP, command.OPTIONS)
        added.set_defaults(run=command.run)
        added.epilog = getattr(command, "EPILOG", None)
    return parser


def _add_parser(
    commands: "argparse._SubParsersAction[Any]", name: str, text: str, options: Options
) -> argparse.ArgumentParser:
    """Add the parser of a command, or of an action of one, with its options. Return it."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    for part in options:
        match part:
            case Option(names, about):
                parser.add_argument(*names, **about)
            case Group(title, description, grouped):
                group = parser.add_argument_group(title, description)
                for names, about in grouped:
                    group.add_argument(*names, **about)
            case Actions(actions, required):
                added = parser.add_subparsers(dest="action", metavar="ACTION", required=required)
                for action, (what, *inside) in actions.items():
                    _add_parser(added, action, what, inside)
    return parser


if __name__ == "__main__":
    sys.exit(main())
