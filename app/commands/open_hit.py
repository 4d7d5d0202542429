"""`longsearch open-hit N`: open a hit of the last search."""

import subprocess
from argparse import Namespace

from longsearch.app.options import option
from longsearch.engine.printable import printable

HELP = "open the Nth document that the last search or similar on the command line listed"
OPTIONS = (option("number", "the number before the document in the list", type=int, metavar="N"),)


def run(options: Namespace) -> int:
    """Open the document at the hit's page and sentence. Returns 0. Raises LongsearchError if there is no such hit."""
    from longsearch.app.commands.last_hits import hit
    from longsearch.app.viewing.viewer import open_in_viewer

    opened = open_in_viewer(*hit(options.number))
    if opened.command:
        return subprocess.run(opened.command, check=False).returncode  # noqa: S603 - the person's own editor, no shell
    print(printable(opened.said.replace("copied: ", "run: ") if opened.copy else opened.said))
    return 0
