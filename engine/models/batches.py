"""Texts of unequal length in one batch: pads them, and groups those of similar length. Knows no model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def padded_rows(rows: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return ids (n, longest) with zeros to the right of each row, and which of them are no padding."""
    ids = np.zeros((len(rows), max(1, *map(len, rows))), np.int64)
    mask = np.zeros(ids.shape, np.bool_)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = True
    return ids, mask


def batches_by_length(lengths: NDArray[np.int64], batch_tokens: int) -> list[NDArray[np.int64]]:
    """Group rows of similar length into batches of about `batch_tokens` tokens with padding."""
    order = np.argsort(lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and (stop + 1 - start) * lengths[order[stop]] <= batch_tokens:
            stop += 1
        batches.append(order[start:stop])
        start = stop
    return batches
