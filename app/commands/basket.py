"""`longsearch basket`: list, add, annotate, remove and export the passages that are kept as evidence."""

import json
import sys
import textwrap
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.commands.asking import is_confirmed
from longsearch.app.options import FOLDER, JSON, JSON_AGAIN, YES, Actions, option
from longsearch.engine.amounts import counted
from longsearch.engine.printable import condensed, printable

if TYPE_CHECKING:
    from longsearch.engine.citing.evidence import Evidence

HELP = "list the passages that you keep as evidence; add, annotate, remove or export them"
_EMPTY = "the basket is empty; in the app, Space puts a passage into it"
FORMATS = ("markdown", "csv", "csl", "bibtex")
"""The names in `engine.citing.forms.FORMATS`, which is not imported here because it takes time."""
_SHOWN_CHARACTERS = 300
_PASSAGE = "the number of a passage in the list, or its id"
OPTIONS = (
    Actions(
        {
            "list": ("list the passages in the basket (the same as `longsearch basket`)", JSON_AGAIN),
            "add": (
                "find a quotation in an indexed folder, and put the nearest place into the basket",
                option("quote", "the words to keep, as they stand in the document; in one argument"),
                *FOLDER,
                option("--note", "a note on the passage", default="", metavar="TEXT"),
            ),
            "note": (
                "write a note to a passage, instead of the one it has",
                option("passage", _PASSAGE),
                option("note", "the note; an empty one removes it"),
            ),
            "remove": ("remove passages from the basket", option("passage", _PASSAGE, nargs="+")),
            "clear": ("remove all passages from the basket", YES),
            "undo": ("take the last change of the basket back",),
            "highlight": (
                "write the passages as highlights into copies of their PDFs",
                option("passage", f"{_PASSAGE} (default: all)", nargs="*"),
                option(
                    "-o --output",
                    "where to write NAME.marked.pdf (default: this folder)",
                    default=".",
                    metavar="FOLDER",
                ),
            ),
            "export": (
                "print the passages as Markdown, CSV, CSL-JSON or BibTeX",
                option("passage", f"{_PASSAGE} (default: all)", nargs="*"),
                option("--format", "default: by the ending of --output, else markdown", choices=FORMATS),
                option("-o --output", "write to a file, instead of printing", default="", metavar="FILE"),
            ),
        }
    ),
    JSON,
)


def run(options: Namespace) -> int:
    """Do the action. Returns 0; 1 if there is nothing to do it to, or if the person does not confirm."""
    match options.action:
        case "add":
            return _add(options)
        case "note":
            return _note(options.passage, options.note)
        case "remove":
            return _remove(options.passage)
        case "clear":
            return _clear(options.yes)
        case "undo":
            return _undo()
        case "highlight":
            return _highlight(options.passage, Path(options.output))
        case "export":
            return _export(options)
    return _list(options.json)


def _list(as_json: bool) -> int:
    from longsearch.app.evidence.places import placed
    from longsearch.app.user_data.basket import Basket

    found = placed(Basket().content().passages)
    if as_json:
        print(json.dumps({"passages": [_to_json(one.evidence, one.state.value) for one in found]}, indent=2))
    elif not found:
        print(_EMPTY)
    for number, one in enumerate(() if as_json else found, start=1):
        print(*_lines(number, one.evidence, one.state.value), sep="\n")
    return 0 if found else 1


def _to_json(one: "Evidence", state: str) -> dict[str, Any]:
    """Return a passage as the JSON object that the documentation describes."""
    return {**one.to_json(), "state": state or "same"}


def _lines(number: int, one: "Evidence", state: str) -> list[str]:
    page = f", p. {one.page}" if one.page is not None else ""
    lines = [f"{number:>3}. {printable(one.title)}{page}", f"     {printable(one.path)}"]
    text = printable(condensed(one.quote))
    text = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    lines += textwrap.wrap(text, 80, initial_indent="     > ", subsequent_indent="       ")
    lines += [f"     note: {printable(condensed(one.note))}"] if one.note else []
    return [*lines, f"     ({state})"] if state else lines


def _add(options: Namespace) -> int:
    from longsearch.app.commands.where import places_of
    from longsearch.app.evidence.places import quotation_hit, with_content
    from longsearch.app.user_data.basket import Basket
    from longsearch.engine.citing.evidence import evidence_of

    found, notes = places_of(options.quote, options.folder, options.everywhere, k=1)
    for note in notes:
        print(f"note: {printable(note)}", file=sys.stderr)
    if not found:
        print("nobody says this, not even with small changes")
        return 1
    hit = quotation_hit(found[0])
    one = with_content(evidence_of(hit, hit.passages[0], added_at=time.time()))
    basket = Basket()
    is_new = basket.add(one)
    if options.note and is_new:
        basket.annotate(one.id, options.note)
    page = f", p. {one.page}" if one.page is not None else ""
    print(f"{printable(one.title)}{page}: {'in the basket' if is_new else 'in the basket already'}")
    return 0


def _note(name: str, note: str) -> int:
    from longsearch.app.user_data.basket import Basket, chosen

    basket = Basket()
    one = chosen(basket.content().passages, name)
    basket.annotate(one.id, " ".join(note.split()))
    print(f"{printable(one.title)}: the note is {'written' if note.strip() else 'removed'}")
    return 0


def _remove(names: list[str]) -> int:
    from longsearch.app.user_data.basket import Basket, chosen

    basket = Basket()
    passages = basket.content().passages
    n_removed = basket.remove([chosen(passages, name).id for name in names])
    print(f"{counted(n_removed, 'passage')} removed; to take it back: longsearch basket undo")
    return 0


def _clear(is_sure: bool) -> int:
    from longsearch.app.user_data.basket import Basket

    basket = Basket()
    n_passages = len(basket.content().passages)
    if not n_passages:
        print("the basket is empty")
        return 1
    if not is_sure and not is_confirmed(f"Remove {counted(n_passages, 'passage')}?", "clear the basket?"):
        return 1
    print(f"{counted(basket.clear(), 'passage')} removed; to take it back: longsearch basket undo")
    return 0


def _undo() -> int:
    from longsearch.app.user_data.basket import Basket

    undone = Basket().undo()
    print(f"taken back: {undone}" if undone else "there is nothing to take back")
    return 0 if undone else 1


def _highlight(names: list[str], folder: Path) -> int:
    from longsearch.app.evidence.highlighting import highlight
    from longsearch.app.user_data.basket import Basket, chosen

    passages = Basket().content().passages
    if not passages:
        print(_EMPTY, file=sys.stderr)
    copies, notes = highlight([chosen(passages, name) for name in names] or passages, folder)
    for note in notes:
        print(f"note: {printable(note)}", file=sys.stderr)
    for copy, n_passages in copies:
        print(f"{printable(str(copy))}: {counted(n_passages, 'passage')} highlighted")
    return 0 if copies else 1


def _export(options: Namespace) -> int:
    from longsearch.app.evidence.references import exported
    from longsearch.app.user_data.basket import Basket, chosen
    from longsearch.engine.citing.forms import format_of

    passages = Basket().content().passages
    wanted = [chosen(passages, name) for name in options.passage] or passages
    if not wanted:
        print(_EMPTY, file=sys.stderr)
        return 1
    text, notes = exported(wanted, options.format or format_of(options.output) or FORMATS[0])
    for note in notes:
        print(f"note: {printable(note)}", file=sys.stderr)
    write_out(text, options.output, counted(len(wanted), "passage"))
    return 0


def write_out(text: str, file: str, what: str) -> None:
    """Write `text`, which holds so many of `what`, to a file; print it if none is named."""
    if file:
        Path(file).write_text(text, "utf-8")
        print(f"{what} written to {printable(file)}", file=sys.stderr)
    else:
        print(text, end="")
