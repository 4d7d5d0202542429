"""Which indexes the tables of a store have, and when they are made."""

from typing import Any

from longsearch.engine.index.lance.address import errors_explained
from longsearch.engine.index.lance.tables import Tables

LEAST_PASSAGES = 50_000
"""A smaller store has no index of vectors: every vector is compared, which is exact."""
_LEAST_ROWS = 2_000  # a smaller table is scanned as fast
_PARTITIONS = 16
ALL_PARTITIONS = 4_096
"""So many are searched at most: all. LanceDB makes more than were asked for where they would be large. Among 1,000,000
invented passages, 16 held 83 % of the 20 nearest."""
_BITS = 4  # of a coordinate (RaBitQ): the best 1,000 hold all 20 nearest; with one bit 92 % of them
_SCALAR = {"passages": ("id", "content_id"), "text_parts": ("content_id",), "document_vectors": ("content_id",)}


def keep_indexes(tables: Tables, n_passages: int, dim: int) -> None:
    """Make the indexes that are missing, and bring the others up to date with the rows."""
    from lancedb.index import BTree, IvfRq

    with errors_explained(tables.uri):
        for name, columns in {**_SCALAR, "postings": ("term", "bucket")}.items():
            table = tables.open(name)
            there = _indexed(table)
            if table.count_rows() >= _LEAST_ROWS:
                for column in columns:
                    if column not in there:
                        table.create_index(column, config=BTree())
        table = tables.open("passages")
        if n_passages >= LEAST_PASSAGES and dim and "vector" not in _indexed(table):
            table.create_index("vector", config=IvfRq(distance_type="dot", num_partitions=_PARTITIONS, num_bits=_BITS))
    for name in (*_SCALAR, "postings"):
        tables.tidy(name)


def has_vector_index(table: Any) -> bool:
    """Whether the vectors of a table of passages have an index."""
    return "vector" in _indexed(table)


def _indexed(table: Any) -> set[str]:
    return {column for index in table.list_indices() for column in index.columns}
