"""`longsearch man`: print the manual page, made of the parser of the command line."""

import argparse
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator

from longsearch.engine import __version__

HELP = "print the manual page"
_FILES = (
    ("$XDG_DATA_HOME/longsearch/indexes/", "the indexes, one for each folder"),
    ("$XDG_DATA_HOME/longsearch/daemon.log", "the log of a daemon that was started in the background"),
    (".longsearchignore", "what to leave out of a folder, in the syntax of .gitignore"),
)
EPILOG = "To read it: longsearch man | man -l -"
OPTIONS = ()


def run(options: Namespace) -> int:
    """Print the page in roff. Returns 0.

    To install it: longsearch man > ~/.local/share/man/man1/longsearch.1
    """
    from longsearch.app.cli import build_parser

    print(page(build_parser()))
    return 0


def page(parser: ArgumentParser) -> str:
    """Return the manual page of a parser with commands, in the man macros of roff."""
    about, *examples = (parser.description or "").strip().splitlines()
    lines = [
        f'.TH LONGSEARCH 1 "" "longsearch {__version__}" "User Commands"',
        ".SH NAME",
        "longsearch \\- semantic search in a terminal over your own long documents",
        ".SH SYNOPSIS",
        ".B longsearch",
        "[\\fIFOLDER\\fR | \\fICOMMAND\\fR ...]",
        ".SH DESCRIPTION",
        _escaped(about),
        *_examples(examples),
        ".SH OPTIONS",
        *_options(parser),
        ".SH COMMANDS",
    ]
    for name, command in subcommands(parser).items():
        lines += [f".SS longsearch {_escaped(name)}", *_command(command)]
    lines += [".SH EXIT STATUS", _escaped((parser.epilog or "").removeprefix("exit codes: ") + ".")]
    lines += [".SH FILES", *(line for path, text in _FILES for line in (".TP", _bold(path), _escaped(text)))]
    return "\n".join(lines)


def _examples(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines such as "longsearch FOLDER    open the app" as paragraphs with a tag."""
    for line in lines:
        command, _, meaning = line.strip().partition("  ")
        if meaning:
            yield from (".TP", _bold(command), _escaped(meaning))


def _command(parser: ArgumentParser) -> Iterator[str]:
    """Yield what a command does, its usage and its options, and the same of the commands inside it."""
    yield _escaped(parser.description or "")
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    yield from (".PP", ".nh", ".ad l", _bold(usage), ".ad", ".hy")
    yield from _options(parser)
    if parser.epilog:
        yield from (".PP", _escaped(parser.epilog))
    for name, inner in subcommands(parser).items():
        yield from (".TP", _bold(f"{parser.prog.split()[-1]} {name}"), ".RS", *_command(inner), ".RE")


def _options(parser: ArgumentParser) -> Iterator[str]:
    """Yield each argument with its help, as a paragraph with a tag."""
    for written, meaning in arguments(parser):
        yield from (".TP", _bold(written), _escaped(meaning))


def subcommands(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """Return the commands inside a command, with their parsers."""
    inner = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(inner[0]) if inner else {}


def arguments(parser: ArgumentParser) -> Iterator[tuple[str, str]]:
    """Yield each argument as `--help` writes it, such as `-k N`, and its meaning. `--help` itself is left out."""
    formatter = parser._get_formatter()
    for action in parser._actions:
        is_known = isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
        if not is_known and action.help not in (None, argparse.SUPPRESS):
            yield formatter._format_action_invocation(action), formatter._expand_help(action)


def _bold(text: str) -> str:
    return f"\\fB{_escaped(text)}\\fR"


def _escaped(text: str) -> str:
    """Return text that roff prints as it is: backslashes and hyphens are escaped, and no line is a request."""
    flat = re.sub(r"\s+", " ", text).strip().replace("\\", "\\(rs").replace("-", "\\-")
    return f"\\&{flat}" if flat.startswith((".", "'")) else flat
