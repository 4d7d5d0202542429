"""`longsearch news`: print the new passages that answer the saved searches."""

import json
import sys
import textwrap
from argparse import Namespace

from longsearch.app.options import JSON, flag, option
from longsearch.engine.amounts import counted
from longsearch.engine.printable import condensed, printable

HELP = "print the new passages that answer your saved searches"
_SHOWN_CHARACTERS = 300
OPTIONS = (
    option("name", "one saved search only (default: all)", nargs="?", default=""),
    flag("--seen", "note that you have looked at them"),
    JSON,
)


def run(options: Namespace) -> int:
    """Print the news. Returns 0 if there are any, else 1."""
    from longsearch.app.commands.saved import to_json
    from longsearch.app.evidence.saving import renew
    from longsearch.app.folders.listing import indexed_folders
    from longsearch.app.models import query_vectors as vectors
    from longsearch.app.user_data.saved import SavedSearches

    searches = SavedSearches()
    wanted = {searches.named(options.name).name} if options.name else {one.name for one in searches.all()}
    folders = indexed_folders()
    for note in renew(folders, vectors.from_anywhere) if folders and wanted else ():
        print(f"note: {printable(note)}", file=sys.stderr)
    found = [one for one in searches.all() if one.name in wanted]
    n_new = sum(len(one.news) for one in found)
    if options.json:
        print(json.dumps({"n_new": n_new, "searches": [to_json(one) for one in found]}, indent=2))
    else:
        for one in found:
            lines = [f"{printable(one.name)}: {counted(len(one.news), 'passage')} new"] if one.news else []
            for new in one.news:
                page = f", p. {new.page}" if new.page is not None else ""
                lines += [f"  {printable(new.title)}{page}", f"     {printable(new.path)}"]
                text = printable(condensed(new.text))[:_SHOWN_CHARACTERS]
                lines += textwrap.wrap(text, 80, initial_indent="     > ", subsequent_indent="       ")
            print("\n".join(lines), end="\n" if lines else "")
        if not n_new:
            print("nothing new" if found else "no search is saved; to save one: longsearch saved add NAME QUERY")
    for one in found if options.seen else ():
        searches.look(one.name)
    return 0 if n_new else 1
