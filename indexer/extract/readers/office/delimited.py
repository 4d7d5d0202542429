"""Read comma-separated and tab-separated values. The separator is found, the encoding decoded; see `tables`."""

import csv
import re
from collections.abc import Iterator
from itertools import islice

from longsearch.indexer.extract.clean import clean_characters
from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.readers.office.tables import Tables
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText

_SEPARATORS = "\t;,|"
_ROWS_TRIED = 20
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*", re.IGNORECASE)
"""The first line of a file that says its separator to Excel."""
_MAX_FIELD_CHARACTERS = 1_000_000


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    return parse(decode(read_bytes(path)))


def parse(source: str) -> FileText:
    """Return the text of a table."""
    lines = clean_characters(source).split("\n")
    separator = separator_of(lines)
    if _SEPARATOR_LINE.fullmatch(lines[0]):
        lines = lines[1:]
    csv.field_size_limit(_MAX_FIELD_CHARACTERS)
    try:
        return _read(csv.reader(_with_ends(lines), delimiter=separator))
    except csv.Error:  # a quotation mark that never closes makes one field of the rest of the file
        return _read(csv.reader(_with_ends(lines), delimiter=separator, quoting=csv.QUOTE_NONE))


def separator_of(lines: list[str]) -> str:
    """Return the separator that splits the first rows into the most fields, and into equally many in most rows."""
    rows = [line for line in islice(lines, _ROWS_TRIED) if line.strip()]
    if rows and (said := _SEPARATOR_LINE.fullmatch(rows[0])):
        return said[1]
    best, most = ",", 0.0
    for separator in _SEPARATORS:
        try:
            counts = [len(fields) for fields in csv.reader(_with_ends(rows), delimiter=separator)]
        except csv.Error:
            continue
        usual = max(counts, key=counts.count, default=0)
        score = (usual - 1) * counts.count(usual) / max(1, len(counts))
        if score > most:
            best, most = separator, score
    return best


def _with_ends(lines: list[str]) -> Iterator[str]:
    return (f"{line}\n" for line in lines)


def _read(rows: Iterator[list[str]]) -> FileText:
    tables = Tables()
    tables.add(rows)
    return tables.file_text()
