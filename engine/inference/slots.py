"""Reads many documents with one model at once: one document a row; when it ends, the next one takes its row.

Every step reads about the same number of tokens, so memory grows neither with the number of documents nor with their
length. A row is padded, on its right, only in the last slice of its document, and the state after that slice is never
used: so padding needs no mask and cannot leak. Takes ids and borders, returns parts. Knows no text.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from engine.inference.borders import Borders
from engine.inference.passes import EmbeddedPart, Finished, Reading, Readout
from engine.inference.saved_states import PassState, to_bytes
from engine.inference.vertical import RecurrentModel, step_probed
from engine.models.state import LayerState

K = TypeVar("K")
_STEPS_COST = 16  # the fixed cost of a step is 1/16 of a full step: on a CPU, 6 of 100 ms for 1,024 tokens


@dataclass(frozen=True, slots=True)
class Document(Generic[K]):
    """A document to read."""

    key: K
    """The caller's name for the document."""
    ids: NDArray[np.int64]
    """(n_tokens,)"""
    borders: Borders
    resume: PassState | None = None


def rows_that_fit(most: int, state_bytes: int, free_bytes: int) -> int:
    """Return how many documents to read at once on a GPU: at most `most`, with states in an eighth of the free memory.

    A step holds the old states, the new states and, in each layer, the states that enter its blocks. One state of a 7B
    model is 268 MB.
    """
    return max(min(most, free_bytes // (8 * state_bytes)), 1)


def slice_length(left: Sequence[int], budget: int, block_size: int) -> int:
    """Return how many tokens of each row to read in the next step, when the documents have `left` tokens left.

    All rows together read at most `budget` tokens: V = budget / rows, rounded to a multiple of Q = `block_size`, at
    least Q. Within V the step is as long as possible while its padding costs less than another step would.
    """
    largest = min(max(budget // len(left) // block_size, 1) * block_size, max(left))

    def padding(length: int) -> int:
        return sum(max(length - n, 0) for n in left)

    length = bisect_right(range(1, largest + 1), budget // _STEPS_COST, key=padding)
    # whole blocks, or up to the end of a document, which then needs no further step
    return length if length == largest else max(length // block_size * block_size, *(n for n in left if n <= length))


def read_documents(
    model: RecurrentModel, readout: Readout, documents: Iterable[Document[K]], n_rows: int, budget: int
) -> Iterator[tuple[K, EmbeddedPart]]:
    """Read all documents, `n_rows` at once and about `budget` tokens a step; yield a part of each after every step.

    A document is taken from the iterable when a row becomes free. Documents may finish in another order than they
    arrive. The last part of each holds its document vector. Every document must have tokens.
    """
    waiting = _begun(readout, documents)
    slots = list(islice(waiting, n_rows))
    state = model.initial_state(max(len(slots), 1))
    for row, slot in enumerate(slots):
        _put_in(model, state, row, slot)
    while slots:
        if is_step := all(slot.n_left for slot in slots):
            finished, state = _step(model, readout, slots, state, budget)
        else:  # some documents resume at their end: only their document vector is missing
            finished = [Finished(slot.reading.document_vector[None][:0], []) for slot in slots]
        for row, (slot, found) in enumerate(zip(slots, finished, strict=True)):
            if not slot.n_left:  # its row will be overwritten
                yield slot.document.key, slot.part(found, state.rows([row]), 0)
            elif is_step:
                yield slot.document.key, slot.part(found, state, row)
        slots, state = _refilled(model, slots, state, waiting)


def _step(
    model: RecurrentModel, readout: Readout, slots: Sequence["_Slot[K]"], state: LayerState, budget: int
) -> tuple[list[Finished], LayerState]:
    """Run one step of all rows; return the vectors that each document finished, and the next state."""
    size = slice_length([slot.n_left for slot in slots], budget, model.block_size)
    tokens, probes = np.zeros((len(slots), size), np.int64), np.zeros((len(slots), size), np.bool_)
    lengths = [slot.fill(tokens[row], probes[row]) for row, slot in enumerate(slots)]
    ids = torch.from_numpy(tokens).to(model.device)
    with torch.inference_mode():  # never around a yield, or it would leak to the caller
        hidden, state = step_probed(model, ids, probes, state)
        return readout.take([slot.reading for slot in slots], hidden, ids, lengths), state


class _Slot(Generic[K]):
    """The document of a row, and how much of its stream the model has read."""

    def __init__(self, document: Document[K], reading: Reading) -> None:
        self.document = document
        self.reading = reading
        self._at = 0

    @property
    def n_left(self) -> int:
        return len(self.reading.stream) - self._at

    def fill(self, tokens: NDArray[np.int64], probes: NDArray[np.bool_]) -> int:
        """Write the next tokens and probes into a row; return how many tokens there were."""
        given = slice(self._at, self._at + len(tokens))
        length = min(len(tokens), self.n_left)
        tokens[:length] = self.reading.stream[given]
        if self.reading.probes is not None:
            probes[:length] = self.reading.probes[given]
        self._at += length
        return length

    def part(self, finished: Finished, state: LayerState, row: int) -> EmbeddedPart:
        reading, document = self.reading, self.document
        n_tokens, n_passages = reading.n_tokens_done, reading.n_passages_done
        return EmbeddedPart(
            n_passages - len(finished.vectors),
            finished.vectors,
            finished.excerpts,
            n_tokens,
            partial(_saved_state, state, row, document, n_tokens, n_passages, reading.sums),
            reading.document_vector,
            is_last=not self.n_left,
        )


def _begun(readout: Readout, documents: Iterable[Document[K]]) -> Iterator[_Slot[K]]:
    return (_Slot(d, readout.begin(d.ids, d.borders, d.resume)) for d in documents)


def _refilled(
    model: RecurrentModel, slots: list[_Slot[K]], state: LayerState, waiting: Iterator[_Slot[K]]
) -> tuple[list[_Slot[K]], LayerState]:
    """Return the rows of the next step: a new document replaces each finished one, as long as any are waiting."""
    kept = []
    for row, slot in enumerate(slots):
        if not slot.n_left:
            new = next(waiting, None)
            if new is None:
                continue
            slots[row] = new
            _put_in(model, state, row, new)
        kept.append(row)
    if len(kept) < len(slots):
        state = state.rows(kept)
    return [slots[row] for row in kept], state


def _put_in(model: RecurrentModel, state: LayerState, row: int, slot: _Slot[K]) -> None:
    """Overwrite one row of `state` with the state in which the document of the slot starts."""
    resume = slot.document.resume
    first = (resume.model if resume else model.initial_state()).tensors()
    with torch.inference_mode():
        for name, tensor in state.tensors().items():
            tensor[row] = first[name][0]


def _saved_state(
    state: LayerState,
    row: int,
    document: Document[K],
    n_tokens: int,
    n_passages: int,
    sums: tuple[torch.Tensor, ...],
) -> bytes:
    done = PassState(state.rows([row]), n_tokens, n_passages, sums)
    return to_bytes(done, document.ids, document.borders)
