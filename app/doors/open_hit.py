"""`longsearch open-hit N`: open a hit of the last search."""

from argparse import ArgumentParser, Namespace

from longsearch.engine.printable import printable

HELP = "open the Nth document that the last search or similar on the command line listed"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch open-hit`."""
    parser.add_argument("number", type=int, metavar="N", help="the number before the document in the list")


def run(options: Namespace) -> int:
    """Open the document in the viewer, at the hit's page. Returns 0. Raises LongsearchError if there is no such hit."""
    from longsearch.app.output.last_hits import hit
    from longsearch.app.viewer import open_in_viewer

    print(printable(open_in_viewer(*hit(options.number))))
    return 0
