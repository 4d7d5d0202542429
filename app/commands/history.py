"""`longsearch history`: list the queries that were asked in the app, or forget them."""

import json
import time
from argparse import Namespace

from longsearch.app.commands.asking import is_confirmed
from longsearch.app.options import JSON, JSON_AGAIN, YES, Actions
from longsearch.engine.amounts import counted, duration
from longsearch.engine.printable import condensed, printable

HELP = "list the queries that you asked in the app, or forget them"

OPTIONS = (
    Actions(
        {
            "list": ("list the queries, newest first (the same as `longsearch history`)", JSON_AGAIN),
            "clear": ("forget all queries", YES),
        }
    ),
    JSON,
)


def run(options: Namespace) -> int:
    """Do the action. Returns 0; 1 if there is no query, or if the person does not confirm."""
    return _clear(options.yes) if options.action == "clear" else _list(options.json)


def _list(as_json: bool) -> int:
    from longsearch.app.user_data.history import History

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
    from longsearch.app.user_data.history import History

    history = History()
    n_queries = len(history.queries())
    question = f"Forget {counted(n_queries, 'query', 'queries')}?"
    if n_queries and not is_sure and not is_confirmed(question, "forget the history?"):
        return 1
    n_queries = history.clear()
    print(f"{counted(n_queries, 'query', 'queries')} forgotten" if n_queries else "the history is empty")
    return 0 if n_queries else 1
