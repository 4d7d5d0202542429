"""What several commands ask the person: whether to take an index over, whether to go on."""

import sys
from pathlib import Path

from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable


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
