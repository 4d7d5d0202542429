"""`longsearch marks`: what people highlighted and noted in documents, with page and colour; to be exported."""

import json
import textwrap
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from longsearch.app.commands.basket import FORMATS, write_out
from longsearch.app.options import FOLDER, JSON, option
from longsearch.engine.amounts import counted
from longsearch.engine.printable import condensed, printable

if TYPE_CHECKING:
    from longsearch.app.evidence.marks import Marked

HELP = "list the highlights, notes, comments and tracked changes in your documents"
OPTIONS = (
    *FOLDER,
    option("--to", "write them as the basket is exported, such as markdown", choices=FORMATS),
    option("-o --output", "write to a file, by its ending if no --to", default="", metavar="FILE"),
    JSON,
)


def run(options: Namespace) -> int:
    """Print the marks. Returns 0, or 1 if there are none."""
    from longsearch.app.evidence.marks import marks_in
    from longsearch.app.evidence.references import written
    from longsearch.app.search.scope import Scope
    from longsearch.engine.citing.forms import format_of

    found = list(marks_in(Scope.chosen(options.folder, options.everywhere)))
    if options.json:
        print(json.dumps({"marks": [to_json(one) for one in found]}, indent=2))
    elif not found:
        print("nobody has marked anything in these documents")
    elif options.to or options.output:
        text = written([one.evidence for one in found], options.to or format_of(options.output) or FORMATS[0])
        write_out(text, options.output, counted(len(found), "mark"))
    else:
        print(*_lines(found), sep="\n")
    return 0 if found else 1


def to_json(one: "Marked") -> dict[str, Any]:
    """Return a mark as the JSON object that the documentation describes."""
    mark, evidence = one.mark, one.evidence
    about = {name: getattr(evidence, name) for name in ("path", "folder", "title", "page", "page_label", "heading")}
    said = {"kind": mark.kind, "color": mark.color, "text": evidence.quote, "note": mark.note, "author": mark.author}
    return {**about, **said, "start": mark.start, "stop": mark.stop}


def _lines(found: "list[Marked]") -> list[str]:
    from longsearch.engine.citing.documents import page_words

    lines, path = [], ""
    for one in found:
        if one.evidence.path != path:
            lines += ["", printable(one.evidence.title)] if path else [printable(one.evidence.title)]
            path = one.evidence.path
            lines.append(f"  {printable(path)}")
        page = f"{page_words(one.evidence)}: " if one.evidence.page is not None else ""
        lines.append(f"  {page}{printable(condensed(one.evidence.note))}")
        words = printable(condensed(one.evidence.quote))
        lines += textwrap.wrap(words, 80, initial_indent="     > ", subsequent_indent="       ")
    return lines
