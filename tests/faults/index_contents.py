"""Reads all that an index holds about its files, so that a test can compare two indexes of one folder."""

from pathlib import Path
from typing import Any

import numpy as np

from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.store import documents, vectors


def index_contents(path: Path) -> dict[str, dict[str, Any]]:
    """Return the status and the document of each file, by path. Leaves out ids: they depend on the order of work."""
    with open_index(path) as index:
        held = {status.path: (status, index.document_of(status.path)) for status in index.files()}
        return {
            name: {"status": status} | ({} if document_id is None else _document(index, document_id))
            for name, (status, document_id) in held.items()
        }


def assert_same(found: dict[str, dict[str, Any]], undisturbed: dict[str, dict[str, Any]], atol: float) -> None:
    """Raise AssertionError if the two differ; vectors may differ by `atol` (0: they must be equal bit for bit)."""
    assert found.keys() == undisturbed.keys()
    for name, expected in undisturbed.items():
        for field, value in expected.items():
            if isinstance(value, np.ndarray):
                np.testing.assert_allclose(found[name][field], value, rtol=0, atol=atol, err_msg=f"{name}: {field}")
            elif (
                field == "excerpts" and atol
            ):  # four bits per coordinate: a value between two steps may be rounded to either
                assert [len(packed) for packed in found[name][field]] == [len(packed) for packed in value], name
            else:
                assert found[name][field] == value, (name, field)


def count_rows(path: Path) -> dict[str, int]:
    """Return the number of rows of each table that would show doubled or orphaned rows."""
    tables = ("files", "contents", "text_parts", "passages", "words_docsize", "embeddings")
    tables += ("passage_vectors_rowids", "document_vectors_rowids", "excerpt_vectors")
    with open_index(path) as index:
        return {table: int(index.db.execute(f"SELECT count(*) FROM {table}").get) for table in tables}


def _document(index: Index, document_id: int) -> dict[str, Any]:
    text = index.text(document_id)
    joined = "passages LEFT JOIN excerpt_vectors ON passage_id = id"
    sql = f"SELECT vectors FROM {joined} WHERE content_id = ? ORDER BY id"
    excerpts = [packed or b"" for (packed,) in index.db.execute(sql, (document_id,))]
    of_passages, of_document = vectors.of_passages(index.db, document_id), vectors.of_document(index.db, document_id)
    return {
        # not the title: a document without one has the name under which its file was first read
        "text": (text.text, text.page_starts, text.headings),
        "passages": documents.passages(index.db, document_id),
        "passage vectors": of_passages,
        "excerpts": excerpts,
        "document vector": of_document,
    }
