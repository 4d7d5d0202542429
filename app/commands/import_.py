"""`longsearch import`: put in place what `longsearch export` wrote on another computer."""

from argparse import Namespace

from longsearch.app.options import option

HELP = "put in place what `longsearch export` wrote; what is here now can be restored"
OPTIONS = (option("file", "a file that export wrote"),)


def run(options: Namespace) -> int:
    """Put it in place. Returns 0."""
    from longsearch.app.paths import expanded
    from longsearch.app.user_data.moving import import_from
    from longsearch.engine.printable import printable

    names = import_from(expanded(options.file))
    print(f"took {printable(', '.join(names))}")
    print("what was here before: longsearch restore; your settings and themes as NAME.before")
    return 0
