"""`longsearch copies`: the documents that are copies or versions of one another, and what each holds alone."""

import json
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from longsearch.app.options import FOLDER, JSON
from longsearch.engine.amounts import counted
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.app.evidence.versions import Version

HELP = "list documents that are copies or versions of one another"
OPTIONS = (*FOLDER, JSON)


def run(options: Namespace) -> int:
    """Print the groups. Returns 0, or 1 if there are none."""
    from longsearch.app.evidence.versions import groups
    from longsearch.app.search.scope import Scope

    rows = []
    for group in groups(Scope.chosen(options.folder, options.everywhere)):
        rows.append([_row(one) for one in group])
        if not options.json:
            print(*_lines(group), "", sep="\n")
    if options.json:
        print(json.dumps({"groups": rows}, indent=2))
    else:
        print(counted(len(rows), "group") if rows else "no two documents say nearly the same")
    return 0 if rows else 1


def _row(one: "Version") -> dict[str, Any]:
    hit = one.hit
    about = {"path": hit.path, "also_at": list(hit.also_at), "folder": hit.folder, "title": hit.title}
    return {**about, "alone": one.n_alone}


def _lines(group: "list[Version]") -> list[str]:
    from longsearch.app.paths import shown_path

    lines = []
    for number, one in enumerate(group):
        alone = f"{counted(one.n_alone, 'sentence')} of its own" if one.n_alone else "nothing of its own"
        lines.append(("  " if number else "") + f"{printable(shown_path(one.hit.path))}: {alone}")
        lines += [f"    the same bytes: {printable(shown_path(path))}" for path in one.hit.also_at]
    return lines
