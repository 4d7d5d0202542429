"""Writes kept passages as CSV, a row for each passage. Pure."""

import csv
import io
from collections.abc import Sequence

from longsearch.engine.citing.documents import cited_documents, paragraphs, plain
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.printable import printable

COLUMNS = ("quote", "page", "title", "authors", "year", "path", "heading", "note", "doi", "arxiv", "citekey", "link")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(evidence: Sequence[Evidence]) -> str:
    """Return a header and the rows, in the order of the passages. Authors are separated by semicolons."""
    keys = {one.id: document.key for document in cited_documents(evidence) for one in document.passages}
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for one in evidence:
        texts = (
            "\n\n".join(paragraphs(one.quote)),
            "" if one.page is None else str(one.page),
            plain(one.title),
            "; ".join(map(plain, one.authors)),
            plain(one.year),
            printable(one.path),
            plain(one.heading),
            plain(one.note),
            plain(one.doi),
            plain(one.arxiv),
            keys[one.id],
            one.link,
        )
        rows.writerow(map(_as_text, texts))
    return file.getvalue()


def _as_text(text: str) -> str:
    """Return a cell that no spreadsheet runs: a document may begin with "=" on purpose."""
    return f"'{text}" if text.startswith(_FORMULA) else text
