"""Reads many documents at once, one in each row of a batch. When a document ends, the next one takes its row.

Every step reads about the same number of tokens, however many documents are left and however long the longest is, so
memory does not grow with either. Only the last slice of a document is padded, on the right. Its state is not used
afterwards, so no mask is needed and nothing leaks into other documents. Knows no text: takes ids and borders, returns
parts.
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

from longsearch.engine.models.recurrent import LayerState, RecurrentModel
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.parts import EmbeddedPart
from longsearch.engine.readouts.reading import Finished, Reading, Readout, Slice
from longsearch.engine.readouts.saved_states import Ahead, PassState, to_bytes

K = TypeVar("K")
_OVERHEAD_DIVISOR = 16  # a step's overhead is 1/16 of the time of a full step: 6 of 100 ms on a CPU, at 1,024 tokens


@dataclass(frozen=True, slots=True)
class Document(Generic[K]):
    """A document to read."""

    key: K
    """The caller's own name for it."""
    ids: NDArray[np.int64]
    """(n_tokens,)"""
    borders: Borders
    resume: PassState | None = None


def rows_that_fit(most: int, state_bytes: int, free_bytes: int) -> int:
    """Return how many documents to read at once on a GPU: `most`, or fewer if their states exceed 1/8 of `free_bytes`.

    A step holds the old states, the new states, and in every layer the states at the start of each block. The state of
    a 7B model takes 268 MB.
    """
    return max(min(most, free_bytes // (8 * state_bytes)), 1)


def slice_length(left: Sequence[int], budget: int, block_size: int) -> int:
    """Choose how many tokens of each row the next step reads; the documents have `left` tokens to go.

    The step has at most `budget` tokens over all rows: V = budget / rows, a multiple of Q = `block_size`, at least Q.
    The length is the largest one within V whose padding costs no more than the overhead of another step.
    """
    largest = min(max(budget // len(left) // block_size, 1) * block_size, max(left))

    def padding(length: int) -> int:
        return sum(max(length - n, 0) for n in left)

    length = bisect_right(range(1, largest + 1), budget // _OVERHEAD_DIVISOR, key=padding)
    # whole blocks, or up to the end of a document, so that no remainder needs another step
    return length if length == largest else max(length // block_size * block_size, *(n for n in left if n <= length))


def read_documents(
    model: RecurrentModel, readout: Readout, documents: Iterable[Document[K]], n_rows: int, budget: int
) -> Iterator[tuple[K, EmbeddedPart]]:
    """Read all documents, `n_rows` at once, about `budget` tokens a step. Yields a part of each after every step.

    Takes the next document when a row is free, so documents may finish in another order. The last part of each has the
    vector of the document. Every document must have tokens.
    """
    waiting = _new_slots(readout, documents)
    slots = list(islice(waiting, n_rows))
    state, fresh = model.initial_state(max(len(slots), 1)), model.initial_state()
    for row, slot in enumerate(slots):
        _reset_row(fresh, state, row, slot)
    while slots:
        if is_step := all(slot.n_left for slot in slots):
            finished, state = _step(model, readout, slots, state, budget)
        else:  # some documents resume at their end, and lack only their own vector
            finished = [Finished(slot.reading.document_vector[None][:0], []) for slot in slots]
        for row, (slot, result) in enumerate(zip(slots, finished, strict=True)):
            if not slot.n_left:  # a copy of its state, since its row is about to be overwritten
                yield slot.document.key, slot.part(result, state.rows([row]), 0)
            elif is_step:
                yield slot.document.key, slot.part(result, state, row)
        slots, state = _refill(fresh, slots, state, waiting)


def _step(
    model: RecurrentModel, readout: Readout, slots: Sequence["_Slot[K]"], state: LayerState, budget: int
) -> tuple[list[Finished], LayerState]:
    """Run one step of all rows. Returns what each document finished, and the next state."""
    size = slice_length([slot.n_left for slot in slots], budget, model.block_size)
    tokens, probes = np.zeros((len(slots), size), np.int64), np.zeros((len(slots), size), np.bool_)
    lengths = [slot.fill(tokens[row], probes[row]) for row, slot in enumerate(slots)]
    ids = torch.from_numpy(tokens).to(model.device)
    with torch.inference_mode():  # not around a yield, or it would leak to the caller
        return readout.read(model, [slot.reading for slot in slots], Slice(ids, probes, lengths), state)


class _Slot(Generic[K]):
    """A row's document, and how much of its stream the model has read."""

    def __init__(self, document: Document[K], reading: Reading, ahead: Ahead) -> None:
        self.document = document
        self.reading = reading
        self._ahead = ahead
        self._at = 0

    @property
    def n_left(self) -> int:
        return len(self.reading.stream) - self._at

    def fill(self, tokens: NDArray[np.int64], probes: NDArray[np.bool_]) -> int:
        """Write the next tokens into a row. Returns how many there were."""
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
            partial(_saved_state, state, row, document, n_tokens, n_passages, reading.sums, self._ahead),
            reading.document_vector,
            is_last=not self.n_left,
        )


def _new_slots(readout: Readout, documents: Iterable[Document[K]]) -> Iterator[_Slot[K]]:
    return (_Slot(d, readout.begin(d.ids, d.borders, d.resume), readout.ahead) for d in documents)


def _refill(
    fresh: LayerState, slots: list[_Slot[K]], state: LayerState, waiting: Iterator[_Slot[K]]
) -> tuple[list[_Slot[K]], LayerState]:
    """Replace finished documents by new ones while there are any. Returns the rows of the next step and their state."""
    kept = []
    for row, slot in enumerate(slots):
        if not slot.n_left:
            new = next(waiting, None)
            if new is None:
                continue
            slots[row] = new
            _reset_row(fresh, state, row, new)
        kept.append(row)
    if len(kept) < len(slots):
        state = state.rows(kept)
    return [slots[row] for row in kept], state


def _reset_row(fresh: LayerState, state: LayerState, row: int, slot: _Slot[K]) -> None:
    """Overwrite one row of `state` with the state that the slot's document begins from: its own, or the `fresh` one."""
    resume = slot.document.resume
    first = (resume.model if resume else fresh).tensors()
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
    ahead: Ahead,
) -> bytes:
    done = PassState(state.rows([row]), n_tokens, n_passages, sums)
    return to_bytes(done, document.ids, document.borders, ahead)
