"""`longsearch export`: write what a person owns into one file, for another computer."""

from argparse import Namespace

from longsearch.app.options import option

HELP = "write your basket, saved searches, queries, settings and themes into one file, for another computer"
OPTIONS = (option("file", "the file to write, which must not be there"),)


def run(options: Namespace) -> int:
    """Write the file. Returns 0."""
    from longsearch.app.paths import expanded, in_shell
    from longsearch.app.user_data.moving import export_to

    names = export_to(expanded(options.file))
    print(f"wrote {', '.join(names)} into {in_shell(options.file)}")
    print(f"on the other computer: longsearch import {in_shell(options.file)}")
    print("the index of a folder moves by itself: longsearch folders export FOLDER FILE")
    return 0
