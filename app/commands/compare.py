"""`longsearch compare A B`: which passages are new, gone, changed or moved, side by side."""

import json
import textwrap
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from longsearch.app.commands.text import read_file
from longsearch.app.options import JSON, option
from longsearch.engine.amounts import counted
from longsearch.engine.places import place_of
from longsearch.engine.printable import condensed, printable

if TYPE_CHECKING:
    from longsearch.app.commands.text import ReadFile
    from longsearch.engine.citing.comparing import Change
    from longsearch.engine.sentences import Span

HELP = "say what is new, gone, changed or moved between two documents"
_SIGNS = {"new": "+", "gone": "-", "changed": "≠", "moved": "↷"}
OPTIONS = (
    option("first", "a document of any format, indexed or not"),
    option("second", "another, such as its newer version, or the same text in another format"),
    JSON,
)


def run(options: Namespace) -> int:
    """Print the differences. Returns 0 if the two say the same, else 1."""
    from longsearch.app.evidence.versions import difference
    from longsearch.app.paths import expanded

    first, second = (read_file(expanded(file).resolve(), fresh=False) for file in (options.first, options.second))
    changes, n_same = difference(first.document, second.document)
    if options.json:
        rows = [_row(change, first, second) for change in changes]
        print(
            json.dumps(
                {"first": str(first.path), "second": str(second.path), "same": n_same, "changes": rows}, indent=2
            )
        )
    else:
        for change in changes:
            print(*_lines(_row(change, first, second)), "", sep="\n")
        counts = [(kind, sum(one.kind.value == kind for one in changes)) for kind in _SIGNS]
        told = ", ".join(f"{n} {kind}" for kind, n in counts if n)
        print(f"{counted(n_same, 'sentence')} the same" + (f"; passages: {told}" if told else ""))
    return 1 if changes else 0


def _row(change: "Change", first: "ReadFile", second: "ReadFile") -> dict[str, Any]:
    """Return a change as the JSON object that the documentation describes."""
    from longsearch.engine.citing.wording import differences

    sides = {"first": _side(change.first, first), "second": _side(change.second, second)}
    differing = []
    if change.kind.value == "changed" and sides["first"] and sides["second"]:
        found = differences(sides["first"]["text"], sides["second"]["text"])
        differing = [{"first": one.draft, "second": one.document} for one in found]
    return {"kind": change.kind.value, **sides, "differences": differing}


def _side(span: "Span | None", read: "ReadFile") -> dict[str, Any] | None:
    if span is None:
        return None
    place = read.document.place_at(span[0])
    text = condensed(read.document.text[slice(*span)])
    return {"page": place.page, "place": place_of(str(read.path), place), "text": text}


def _lines(row: dict[str, Any]) -> list[str]:
    from longsearch.engine.citing.wording import Difference

    lines = []
    for side, mark in (("first", "<"), ("second", ">")):
        if own := row[side]:
            place = f" ({printable(own['place'])})" if own["place"] else ""
            lines += textwrap.wrap(
                printable(own["text"]) + place, 80, initial_indent=f"  {mark} ", subsequent_indent="    "
            )
    words = [f"      {printable(Difference(one['first'], one['second']).shown)}" for one in row["differences"]]
    return [f"{_SIGNS[row['kind']]} {row['kind']}", *lines, *words]
