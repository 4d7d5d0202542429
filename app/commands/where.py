"""`longsearch where`: find the document and the page of a quotation."""

import json
import textwrap
import time
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from longsearch.app.options import FOLDER, JSON, n_shown, option
from longsearch.engine.amounts import counted
from longsearch.engine.places import place_of
from longsearch.engine.printable import condensed, printable

if TYPE_CHECKING:
    from longsearch.engine.types.results import Quotation

HELP = "find the document and the page of a quotation"
_SHOWN_CHARACTERS = 400
OPTIONS = (
    option("quote", "the words you remember, as nearly as you can; in one argument"),
    *FOLDER,
    n_shown("places"),
    JSON,
)


def run(options: Namespace) -> int:
    """Print where the quotation stands. Returns 0, or 1 if no document says it."""
    began = time.perf_counter()
    found, notes = places_of(options.quote, options.folder, options.everywhere, options.k)
    took_ms = (time.perf_counter() - began) * 1000
    if options.json:
        print(json.dumps(_to_json(options.quote, found, notes, took_ms), indent=2))
    else:
        print(*_lines(found, notes, took_ms), sep="\n")
    return 0 if found else 1


def places_of(quote: str, folder: str, is_everywhere: bool, k: int) -> "tuple[list[Quotation], list[str]]":
    """Return the places that say the quotation in the folder that a command is about, and notes for the person."""
    from longsearch.app.search.quoting import quotations
    from longsearch.app.search.scope import Scope

    return quotations(Scope.chosen(folder, is_everywhere), quote, k)


def _to_json(quote: str, found: "list[Quotation]", notes: list[str], took_ms: float) -> dict[str, Any]:
    """Return the places as the JSON object that the documentation describes."""
    places = [
        {
            "path": one.path,
            "folder": one.folder,
            "title": one.title,
            "page": one.page,
            "heading": one.heading,
            "page_label": one.page_label or None,
            "place": place_of(one.path, one),
            "start": one.start,
            "stop": one.stop,
            "text": one.text,
            "similarity": round(one.similarity, 4),
            "verbatim": one.is_verbatim,
        }
        for one in found
    ]
    return {"quote": quote, "took_ms": round(took_ms, 1), "note": "; ".join(notes), "places": places}


def title_and_place(one: "Quotation") -> str:
    """Name the document of a place, and the page or the like."""
    place = printable(place_of(one.path, one))
    return f"{printable(one.title)}{', ' if place else ''}{place}"


def said(one: "Quotation") -> list[str]:
    """Return the lines that show what the document says there."""
    text = printable(condensed(one.text))
    shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return textwrap.wrap(shown, 80, initial_indent="    > ", subsequent_indent="      ")


def _lines(found: "list[Quotation]", notes: list[str], took_ms: float) -> list[str]:
    from longsearch.app.paths import shown_path
    from longsearch.app.search.quoting import described

    lines = [f"({printable(note)})" for note in notes]
    for one in found:
        lines += [f"{title_and_place(one)}  ({described(one)})", f"    {printable(shown_path(one.path))}", *said(one)]
    total = counted(len(found), "place") if found else "nobody says this, not even with small changes"
    return [*lines, f"{total}, {took_ms:.0f} ms"]
