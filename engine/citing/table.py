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
    keys = {passage.id: document.key for document in cited_documents(evidence) for passage in document.passages}
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for passage in evidence:
        texts = (
            "\n\n".join(paragraphs(passage.quote)),
            "" if passage.page is None else str(passage.page),
            plain(passage.title),
            "; ".join(map(plain, passage.authors)),
            plain(passage.year),
            printable(passage.path),
            plain(passage.heading),
            plain(passage.note),
            plain(passage.doi),
            plain(passage.arxiv),
            keys[passage.id],
            passage.link,
        )
        rows.writerow(map(as_text, texts))
    return file.getvalue()


def as_text(text: str) -> str:
    """Return a cell that no spreadsheet runs: a document may begin with "=" on purpose."""
    return f"'{text}" if text.startswith(_FORMULA) else text
