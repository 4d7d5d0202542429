"""`longsearch text`: print what longsearch read of a file, from the index or fresh."""

import json
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from longsearch.app.options import JSON, flag, option
from longsearch.engine.amounts import counted
from longsearch.engine.errors import LongsearchError
from longsearch.engine.places import place_of
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.engine.types.documents import DocumentText

HELP = "print what longsearch read of a file"


class ReadFile(NamedTuple):
    """A file as longsearch read it. No dataclass: `dataclasses` takes 10 ms to import."""

    path: Path
    document: "DocumentText"
    is_indexed: bool
    """Whether it comes from an index; else it was read just now."""
    missing: str
    """Which part could not be read and why, or ""."""
    hint: str


OPTIONS = (
    option("file", "a document, inside or outside an indexed folder"),
    option("--page", "only this page: its number in the file, or its printed number", default=""),
    flag("--fresh", "read the file now, even if it is in an index"),
    JSON,
)


def run(options: Namespace) -> int:
    """Print the text. Returns 0, or 1 if the file holds none."""
    from longsearch.app.paths import expanded

    found = read_file(expanded(options.file).resolve(), options.fresh)
    numbers = _chosen(found.document, options.page)
    if options.json:
        print(json.dumps(_to_json(found, numbers), indent=2))
    else:
        print("\n\n".join(printable(text, keep="\n").strip("\n") for _, text in _pages(found.document, numbers)))
    return 0 if found.document.text else 1


def read_file(file: Path, fresh: bool) -> ReadFile:
    """Return the file's text from the index that holds it, or read it now. Raises LongsearchError."""
    known = None if fresh else _from_index(file)
    if known is not None:
        return known
    from longsearch.app.search.outside import read_now

    extraction = read_now(file)
    return ReadFile(file, extraction.document, False, extraction.partial_reason, extraction.hint)


def _from_index(file: Path) -> ReadFile | None:
    from longsearch.app.paths import find_index, index_path
    from longsearch.engine.index.opening import open_index
    from longsearch.engine.store import documents, files

    try:
        root, _ = find_index(file.parent)
    except LongsearchError:
        return None
    with open_index(index_path(root)) as index:
        document_id = files.document_of(index.db, file.relative_to(root).as_posix())
        if document_id is None:
            return None
        missing, hint = documents.missing(index.db, document_id)
        return ReadFile(file, documents.text(index.db, document_id), True, missing, hint)


def _chosen(document: "DocumentText", wanted: str) -> list[int]:
    """Return the numbers of the pages to print, from 1; [] for the whole text. Raises LongsearchError."""
    if not wanted:
        return []
    printed = [number for number, label in enumerate(document.page_labels, start=1) if label == wanted]
    if printed:
        return printed
    n_pages = len(document.page_starts)
    if wanted.isdecimal() and 0 < int(wanted) <= n_pages:
        return [int(wanted)]
    raise LongsearchError(
        f"there is no page {wanted}", f"it has pages 1 to {n_pages}" if n_pages else "it has no pages"
    )


def _pages(document: "DocumentText", numbers: list[int]) -> list[tuple[int | None, str]]:
    """Return (number, text) of each page, or of the chosen ones; a document without pages is one without number."""
    starts = [*document.page_starts, len(document.text)]
    if not document.page_starts:
        return [(None, document.text)]
    wanted = numbers or range(1, len(starts))
    return [(number, document.text[starts[number - 1] : starts[number]]) for number in wanted]


def _to_json(found: ReadFile, numbers: list[int]) -> dict[str, Any]:
    """Return the JSON object that the documentation describes."""
    from dataclasses import replace

    document, path = found.document, str(found.path)
    labels = dict(enumerate(document.page_labels, start=1))
    return {
        "path": printable(path),
        "title": printable(document.title),
        "from": "index" if found.is_indexed else "file",
        "missing": printable(found.missing),
        "pages": [
            {
                "page": number,
                "page_label": labels.get(number or 0) or None,
                "ocr": number in document.ocr_pages,
                "text": text,
            }
            for number, text in _pages(document, numbers)
        ],
        "headings": [
            {
                "level": heading.level,
                "title": heading.title,
                "start": heading.start,
                "place": place_of(path, replace(document.place_at(heading.start), heading=heading.title)),
            }
            for heading in document.headings
        ],
    }


def examine(options: Namespace) -> int:
    """Print what `longsearch doctor FILE` says of how the file is read. Returns 0, or 3 if it cannot be read."""
    from longsearch.app.paths import expanded

    file = expanded(options.file).resolve()
    told = {"file": str(file), **_examined(file)}
    if options.json:
        print(json.dumps(told, indent=2))
    else:
        for name, value in told.items():
            print(f"{name:9} {printable(str(value))}")
    return 3 if "failed" in told else 0


def _examined(file: Path) -> dict[str, str | int]:
    """Read a file now, and return how: by which reader, what it holds, what is missing. Raises LongsearchError."""
    from longsearch.indexer.extract.formats import adapter_of, format_of, reader_version

    if not file.is_file():
        raise LongsearchError(f"{file} is not a file", "name a document; without one, the installation is checked")
    kind = format_of(file.name)
    reader = " ".join(adapter_of(file.name)) or (
        f"{kind.value}, version {reader_version(file.name)}" if kind else "none"
    )
    began = time.perf_counter()
    try:
        found = read_file(file, fresh=True)
    except LongsearchError as error:
        return {"reader": reader, "failed": error.message, "hint": error.hint}
    document, took = found.document, f"{time.perf_counter() - began:.1f} s"
    told: dict[str, str | int] = {"reader": reader, "took": took, "title": document.title or "none of its own"}
    told |= {"text": counted(len(document.text), "character"), "pages": len(document.page_starts)}
    told["headings"] = len(document.headings)
    if document.page_labels:
        told["labels"] = f"{document.page_labels[0]} to {document.page_labels[-1]}"
    if document.n_scanned:
        told["scanned"] = f"{counted(document.n_scanned, 'page')} without text, which OCR could read"
    return told | {"missing": found.missing or "nothing", "hint": found.hint}
