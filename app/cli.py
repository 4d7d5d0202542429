"""The command line: arguments in, exit code out. Each command lives in `app.commands`; nothing heavy is loaded here.

Exit codes: 0 done; 1 nothing was found; 2 wrong usage; 3 it cannot be done (stderr says why and what to do);
130 interrupted.
"""

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import NoReturn

from engine import __version__
from engine.errors import LongsearchError
from engine.printable import printable

EXIT_OK, EXIT_NOTHING_FOUND, EXIT_USAGE, EXIT_CANNOT, EXIT_INTERRUPTED = 0, 1, 2, 3, 130

_DESCRIPTION = """\
Semantic search in a terminal over the long documents you keep.

  longsearch FOLDER            open the app over a folder; indexing goes on behind it
  longsearch index FOLDER      index in the foreground, with progress
  longsearch search QUERY      search from the command line
  longsearch like FILE         find the documents that are like a file
  longsearch status            what is indexed, and what is not, and why
"""
_DAEMON_ACTIONS = {
    "start": "start it in the background, where none runs",
    "stop": "have it end after the step it is in",
    "status": "say what it watches, and whether it holds the model in memory",
    "pause": "stop indexing; queries go on",
    "resume": "go on indexing",
    "install": "have the system start it now and at every login (systemd or launchd)",
    "uninstall": "stop it, and have the system start it no more",
    "run": "run it in the foreground",
}
_EPILOG = "exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 cannot be done, 130 interrupted"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the process's exit code."""
    _write_any_text()
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = build_parser()
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        _open_unless_mistyped(parser, arguments)
    if arguments[:1] == ["eval"]:  # whose options, --help among them, are its own
        arguments.insert(1, "--")
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return EXIT_OK
    try:
        status = int(import_module(f"app.commands.{options.command}").run(options))
        sys.stdout.flush()
        return status
    except LongsearchError as error:
        print(f"longsearch: {printable(error.message)}", file=sys.stderr)
        if error.hint:
            print(f"  hint: {printable(error.hint)}", file=sys.stderr)
        return EXIT_CANNOT
    except KeyboardInterrupt:
        print("longsearch: interrupted; what was done is kept", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # `longsearch search … | head`
        _write_no_more()
        return EXIT_OK
    except OSError as error:  # a full disk behind `>`, a log that may not be written
        _write_no_more()
        what = f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror}"
        print(f"longsearch: {printable(what)}", file=sys.stderr)
        return EXIT_CANNOT


def _write_any_text() -> None:
    """A terminal of few characters gets a ? for each of the others, and no traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _write_no_more() -> None:
    """What stdout still holds goes nowhere: at the end Python would try to write it again, and say so."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_unless_mistyped(parser: argparse.ArgumentParser, arguments: list[str]) -> None:
    """Let `longsearch FOLDER` open the app; what is no folder, with words behind it, is a command misspelt."""
    if len(arguments) > 1 and not arguments[1].startswith("-") and not os.path.isdir(arguments[0]):  # noqa: PTH112
        near = get_close_matches(arguments[0], COMMANDS, n=1)
        parser.error(f"'{arguments[0]}' is neither a command nor a folder" + (f"; {near[0]}?" if near else ""))
    arguments.insert(0, "open")


class _Parser(argparse.ArgumentParser):
    """Repeats what it was given in its errors: names of files, of which any may drive the terminal."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = _Parser(
        "longsearch", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"longsearch {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (help_text, add_arguments) in COMMANDS.items():
        command = commands.add_parser(name, help=help_text, description=help_text[0].upper() + help_text[1:] + ".")
        add_arguments(command)
    return parser


def _open(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", help="the folder to search")


def _index(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", help="the folder to index, with everything under it")
    what = "read files again that could not be read before, or only in part"
    command.add_argument("--retry-failed", action="store_true", help=what)
    command.add_argument(
        "--ocr",
        action="store_true",
        help="read scanned pages with tesseract, slowly, those found before too (language: LONGSEARCH_OCR=deu+eng)",
    )
    command.add_argument("-q", "--quiet", action="store_true", help="no progress, only the summary")


def _search(command: argparse.ArgumentParser) -> None:
    what = 'what you mean; "quoted phrases", -excluded words, in:PATH and type:pdf are kept to'
    command.add_argument("query", help=f"{what} (one that begins with - goes behind --)")
    command.add_argument("folder", nargs="?", default=".", help="an indexed folder, or one inside it (default: here)")
    command.add_argument("-k", type=_positive, default=10, metavar="N", help="documents to show (default: 10)")
    command.add_argument(
        "--mode",
        choices=("hybrid", "meaning", "words"),
        default="hybrid",
        help="match by words and meaning together (hybrid, the default), or by one of them",
    )
    command.add_argument(
        "--instruction", default="", metavar="TEXT", help="what kind of passage is looked for, in a sentence"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _like(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", help="a document, in an indexed folder or not")
    command.add_argument(
        "folder", nargs="?", default="", help="an indexed folder, or one inside it (default: the one FILE is in)"
    )
    command.add_argument("-k", type=_positive, default=10, metavar="N", help="documents to show (default: 10)")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _status(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", nargs="?", default=".", help="an indexed folder (default: here)")
    command.add_argument("--all", action="store_true", help="name every file, not only those with something to say")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _doctor(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _daemon(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    added = {
        name: actions.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        for name, what in _DAEMON_ACTIONS.items()
    }
    for name in ("start", "run"):
        added[name].add_argument(
            "--stay", action="store_true", help="watch every indexed folder, and do not end when there is nothing to do"
        )
    added["status"].add_argument("--json", action="store_true", help="print one JSON object")
    added["install"].add_argument("--print", action="store_true", help="print the file, and change nothing")


def _eval(command: argparse.ArgumentParser) -> None:
    command.add_argument("arguments", nargs=argparse.REMAINDER, help="DIR...; `longsearch eval --help` lists all")


def _model(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="the models on this machine", description="The models on this machine.")
    listing.add_argument("--json", action="store_true", help="print one JSON object")
    what = "fetch a model from the Hugging Face hub: configuration, tokenizer and safetensors of one commit"
    download = actions.add_parser("download", help=what, description=f"{what[0].upper()}{what[1:]}.")
    download.add_argument("name", metavar="NAME[@REVISION]", help="as on its page, ORG/NAME; the revision is optional")


def _bench(command: argparse.ArgumentParser) -> None:
    command.add_argument("--model", default="", metavar="M", help="a model's folder or name (default: the one in use)")
    command.add_argument("--width", type=_fraction, default=1.0, metavar="W", help="fraction of its heads to run")
    command.add_argument("--seconds", type=_seconds, default=8.0, metavar="S", help="to measure for (default: 8)")
    command.add_argument(
        "--long", action="store_true", help="also the memory of 8,000 to 1,000,000 tokens; takes minutes"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _completion(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell to print completions for")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _fraction(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError("must be above 0, and 1 at most")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 3600:
        raise argparse.ArgumentTypeError("must be above 0, and 3600 at most")
    return number


COMMANDS = {
    "open": ("open the app over a folder (what `longsearch FOLDER` does)", _open),
    "index": ("index a folder in the foreground; ends when all is current", _index),
    "search": ("search an indexed folder", _search),
    "like": ("find the documents that are most like a file, each compared as a whole", _like),
    "status": ("say how far each file of a folder has come, and why", _status),
    "doctor": ("say what this installation can do, and what is wrong with it", _doctor),
    "daemon": ("the process that watches and indexes behind the app", _daemon),
    "eval": ("measure retrieval on sets with relevance judgements", _eval),
    "model": ("list the models on this machine, or download one by its name", _model),
    "bench": ("measure how fast this machine reads, and what an hour of it is in pages", _bench),
    "completion": ("print a shell completion script", _completion),
}


if __name__ == "__main__":
    sys.exit(main())
