"""Builds batches of tensors on the device of the training, from a library that lies there whole."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longsearch.engine.training.reader.library import Library
from longsearch.engine.training.reader.sampling import HARD_LIMIT, Rows

MOST_SENTENCES = 48
"""Sentences of a window that are told apart; further ones count with the last."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Queries and windows as tensors, padded at their ends. A window's sentences are numbered from 0."""

    number: Tensor
    """(batch,): the number of each query in the library."""
    query: Tensor
    """(batch, query length) word pieces."""
    query_mask: Tensor
    """(batch, query length): False where padded."""
    window: Tensor
    """(batch, window length) word pieces."""
    window_mask: Tensor
    """(batch, window length): False where padded."""
    sentence: Tensor
    """(batch, window length): the sentence of each token; 0 where padded."""
    n_sentences: int
    """The number of sentences that any window of the batch may have."""
    right: Tensor
    """(batch, sentences): whether a sentence answers."""
    doubtful: Tensor
    """(batch, sentences): whether a sentence has the answer's words and may answer."""
    answer_token: Tensor
    """(batch,): the place in the window of the answer's first token, or -1."""
    answers: Tensor
    """(batch,): whether the window holds the query's right sentences."""
    kind: Tensor
    """(batch,): the kind of row, see `sampling`."""


class Shelf:
    """A library on a device."""

    def __init__(self, library: Library, device: str) -> None:
        def there(array: np.ndarray) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(device)

        self.library, self.device = library, device
        self._tokens = there(library.tokens.astype(np.int32))
        sizes = np.diff(library.sentence_start)
        self._sentence_of = there(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        self._start = there(library.sentence_start.astype(np.int64))
        self._query_tokens = there(library.query_tokens.astype(np.int32))
        self._query_start = there(library.query_start.astype(np.int64))
        self._right = there(library.right.astype(np.int64))
        self._doubtful = there(library.doubtful.astype(np.int64))
        self._answer_token = there(library.answer_token.astype(np.int64))

    def batch(self, rows: Rows) -> Batch:
        """Return the tensors of `rows`."""
        queries, windows = rows.lengths(self.library)
        sentences = (rows.runs[:, 1] - rows.runs[:, 0] + rows.runs[:, 3] - rows.runs[:, 2]).max()
        packed = np.concatenate([rows.query[:, None], rows.runs, rows.answers[:, None], rows.kind[:, None]], 1)
        whole = torch.from_numpy(packed)
        whole = whole.pin_memory().to(self.device, non_blocking=True) if self.device != "cpu" else whole
        n = min(int(sentences), MOST_SENTENCES)
        return self._assembled(whole, _rounded(int(queries.max())), _rounded(int(windows.max())), n)

    def _assembled(self, rows: Tensor, query_length: int, window_length: int, n: int) -> Batch:
        query, first, stop, second, end, answers, kind = rows.unbind(1)
        answers = answers > 0
        at = torch.arange(query_length, device=rows.device) + self._query_start[query][:, None]
        query_mask = at < self._query_start[query + 1][:, None]
        place = torch.arange(window_length, device=rows.device)[None]
        length = (self._start[stop] - self._start[first])[:, None]
        rest = (self._start[end] - self._start[second])[:, None]
        mask = place < (length + rest).clamp(max=HARD_LIMIT)
        index = torch.where(
            place < length, self._start[first][:, None] + place, self._start[second][:, None] + place - length
        )
        index = index.clamp(max=len(self._tokens) - 1)
        gap = (second - stop)[:, None]
        local = self._sentence_of[index].long() - first[:, None] - torch.where(place < length, 0, gap)
        number = torch.arange(n, device=rows.device)[None]
        whole = first[:, None] + number + torch.where(number < (stop - first)[:, None], 0, gap)
        runs = self._right[query]
        right = ((whole[..., None] >= runs[:, None, :, 0]) & (whole[..., None] < runs[:, None, :, 1])).any(2)
        token = self._answer_token[query]
        found = (index == token[:, None]) & mask & (token >= 0)[:, None] & answers[:, None]
        return Batch(
            query, self._query_tokens[at.clamp(max=len(self._query_tokens) - 1)].long() * query_mask, query_mask,
            self._tokens[index].long() * mask, mask, (local.clamp(0, n - 1)) * mask, n, right & answers[:, None],
            (whole[..., None] == self._doubtful[query][:, None]).any(2),
            torch.where(found.any(1), found.long().argmax(1), -1), answers, kind,
        )  # fmt: skip


def _rounded(length: int) -> int:
    return -(-max(length, 1) // 8) * 8
