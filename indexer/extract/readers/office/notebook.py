"""Extract the text of Jupyter notebooks: each cell a page; Markdown as it reads, code, and the beginning of outputs."""

import json
from collections.abc import Iterator
from typing import Any

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import clean_block
from longsearch.indexer.extract.readers import html, markdown
from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.limits import MAX_MARKUP_BYTES
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata, RawValue, limited

_MAX_OUTPUT_CHARACTERS = 1_000
"""Kept of each output: what a person looks at; the rest is data or a log."""
_HINT = "open it in Jupyter and save it again"
_SOURCE = "notebook metadata"


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    try:
        notebook = json.loads(decode(read_bytes(path)))
    except (ValueError, RecursionError) as error:
        raise ExtractionError("damaged or cut off: not the JSON of a notebook", _HINT) from error
    cells = list(_cells(notebook))
    if not cells:
        raise ExtractionError("not a notebook: it has no cells", _HINT)
    builder = TextBuilder()
    for cell in cells:
        builder.begin_page()
        _add(builder, cell)
    metadata = _metadata(notebook.get("metadata"))
    title = next((text for field, text, _ in metadata if field == "title"), "")
    return builder.file_text(title, metadata)


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:
    """Yield the cells of a notebook of format 4, or of 3, which has them in worksheets."""
    if not isinstance(notebook, dict):
        return
    for holder in (notebook, *_dicts(notebook.get("worksheets"))):
        yield from _dicts(holder.get("cells"))


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _joined(value: Any) -> str:
    """Return a text that is stored whole, or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _add(builder: TextBuilder, cell: dict[str, Any]) -> None:
    kind, source = cell.get("cell_type"), _joined(cell.get("source", cell.get("input")))
    if kind == "markdown" and len(source) < MAX_MARKUP_BYTES:
        text = markdown.parse(source)
        builder.include(text.text, text.headings)
    elif kind == "heading" and isinstance(level := cell.get("level"), int):
        builder.add_heading(min(max(level, 1), 6), source)
    else:
        builder.add(source)
    for output in _dicts(cell.get("outputs")):
        builder.add(_shown(output))


def _shown(output: dict[str, Any]) -> str:
    data = output.get("data")
    plain = _joined(data.get("text/plain")) if isinstance(data, dict) else ""
    error = ": ".join(filter(None, (_joined(output.get("ename")), _joined(output.get("evalue")))))
    page = _joined(data.get("text/html")) if isinstance(data, dict) and not plain else ""
    page = html.parse(page[:MAX_MARKUP_BYTES]).text if page else ""
    text = clean_block(plain or error or page or _joined(output.get("text")))
    return text if len(text) <= _MAX_OUTPUT_CHARACTERS else f"{text[:_MAX_OUTPUT_CHARACTERS]}…"


def _metadata(metadata: Any) -> RawMetadata:
    if not isinstance(metadata, dict):
        return ()
    found: list[RawValue] = [("title", _joined(metadata.get("title")), _SOURCE)]
    found += [("author", _joined(author.get("name")), _SOURCE) for author in _dicts(metadata.get("authors"))]
    return limited(found)
