"""`longsearch history`: list the queries that were asked in the app, or forget them."""

import json
import sys
import time
from argparse import SUPPRESS, ArgumentParser, Namespace

from longsearch.engine.amounts import counted, duration
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import condensed, printable

HELP = "list the queries that you asked in the app, or forget them"


def add_options(parser: ArgumentParser) -> None:
    """Add the actions of `longsearch history`, and their options."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    text = "list the queries, newest first (the same as `longsearch history`)"
    listing = actions.add_parser("list", help=text, description=f"{text[0].upper()}{text[1:]}.")
    listing.add_argument("--json", action="store_true", default=SUPPRESS, help="print one JSON object")
    clearing = actions.add_parser("clear", help="forget all queries", description="Forget all queries.")
    clearing.add_argument("-y", "--yes", action="store_true", help="do not ask")


def run(options: Namespace) -> int:
    """Do the action. Returns 0; 1 if there is no query, or if the person does not confirm."""
    return _clear(options.yes) if options.action == "clear" else _list(options.json)


def _list(as_json: bool) -> int:
    from longsearch.app.kept.history import History

    queries = History().queries()
    if as_json:
        rows = [
            {
                "query": one.query,
                "mode": one.mode.value,
                "instruction": one.instruction,
                "folder": one.root,
                "asked_at": one.asked_at,
            }
            for one in queries
        ]
        print(json.dumps({"queries": rows}, indent=2))
    elif not queries:
        print("the history is empty")
    for one in () if as_json else queries:
        ago = duration(max(time.time() - one.asked_at, 0))
        print(f"{printable(condensed(one.query))}  ({ago} ago, {printable(one.root) or 'all folders'})")
    return 0 if queries else 1


def _clear(is_sure: bool) -> int:
    from longsearch.app.kept.history import History

    history = History()
    n_queries = len(history.queries())
    if not is_sure and n_queries:
        if not sys.stdin.isatty():
            raise LongsearchError("forget the history?", "say --yes where nobody can be asked")
        if input(f"Forget {counted(n_queries, 'query', 'queries')}? [y/N] ").strip().lower() not in {"y", "yes"}:
            print("nothing was changed")
            return 1
    n_queries = history.clear()
    print(f"{counted(n_queries, 'query', 'queries')} forgotten" if n_queries else "the history is empty")
    return 0 if n_queries else 1
