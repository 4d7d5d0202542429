"""`longsearch table`: questions down, documents across, in each cell the sentence that answers best, with its page."""

import json
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.options import FOLDER, flag, option
from longsearch.engine.amounts import counted, so_far
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.app.evidence.tables import Table

HELP = "ask each of your documents each of your questions"
_KINDS = ("csv", "md", "xlsx", "html")
OPTIONS = (
    option("questions", "a text file with a question on each line; # begins a remark"),
    *FOLDER,
    option("--to", "the format (default: as the output's name ends, else csv)", choices=_KINDS),
    option(
        "-o --output",
        "the table. What its cells hold stays, so correct them by hand; empty ones are filled at each run",
        default="",
        metavar="FILE",
    ),
    option(
        "--values",
        "also write the numbers in the cells to a CSV file: value, unit and the words around",
        default="",
        metavar="FILE",
    ),
    flag("--json", "print one JSON object with the cells"),
)


def run(options: Namespace) -> int:
    """Fill the table. Returns 0, or 1 if every cell is empty. Ctrl+C keeps what was found."""
    from longsearch.app.evidence.tables import Table, columns_of, kept_beside, questions_in
    from longsearch.app.paths import expanded
    from longsearch.app.search.python_door import query_vector
    from longsearch.app.search.scope import Scope

    file = expanded(options.output).resolve() if options.output else None
    kind = options.to or (file.suffix.lower().lstrip(".") if file else "csv")
    if kind not in _KINDS:
        raise LongsearchError(f"a table cannot be written as {kind}", f"take --to {', '.join(_KINDS)}")
    if kind == "xlsx" and file is None and not options.json:
        raise LongsearchError("a workbook is no text to print", "name a file: -o table.xlsx")
    asked = expanded(options.questions)
    questions = questions_in(asked)
    scope = Scope.chosen(options.folder, options.everywhere)
    columns = columns_of(scope, filter(None, (asked, kept_beside(asked), file)))
    table = Table(questions, columns, file, kind, scope, query_vector)
    n_kept, n_open = len(table.cells), len(table.open_cells())
    began = time.monotonic()
    for left in table.fill():
        if sys.stderr.isatty():
            said = so_far(n_open - left, n_open, "cells", time.monotonic() - began)
            print(f"\r\x1b[K{said}", end="" if left else "\n", file=sys.stderr, flush=True)
    if options.values:
        expanded(options.values).write_bytes(table.values())
    _report(table, options, n_kept, file)
    return 0 if table.cells else 1


def _report(table: "Table", options: Namespace, n_kept: int, file: Path | None) -> None:
    """Print the table, or what became of it."""
    names = table.documents
    if options.json:
        cells = [
            {"question": question, "document": name, "text": table.cell(question, name) or None}
            for question in table.questions
            for name in names
        ]
        about = {"file": str(file) if file else None, "questions": list(table.questions), "documents": names}
        print(json.dumps({**about, "kept": n_kept, "cells": cells}, indent=2))
    elif file is None:
        print(table.text().decode(), end="")
    else:
        n_empty = len(table.questions) * len(names) - sum(
            (question, name) in table.cells for question in table.questions for name in names
        )
        size = f"{counted(len(table.questions), 'question')} by {counted(len(names), 'document')}"
        print(f"{printable(str(file))}: {size}; {len(table.cells) - n_kept} filled, {n_kept} kept, {n_empty} empty")
