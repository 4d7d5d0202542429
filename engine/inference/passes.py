"""One streaming pass over a document's tokens, for each readout: hidden states slice by slice, vectors as they finish.

Knows no text: token ids and the passages' borders in tokens come in, unit vectors and resumable states go out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from engine.inference.checkpoints import PassState, to_bytes
from engine.inference.readouts import MeanHead, RunningMeans, unit
from engine.inference.vertical import run_vertically
from engine.models.mamba2 import Mamba2, Mamba2State


@dataclass(frozen=True, slots=True)
class EmbeddedPart:
    """A step of a pass: the vectors finished since the step before."""

    first_passage: int
    vectors: NDArray[np.float32]
    """(n, dim) of passages first_passage .. first_passage + n - 1; n may be 0."""
    n_tokens_done: int
    """Tokens of the document read so far."""
    checkpoint: Callable[[], bytes]
    """The state to go on from, serialised when called (a few megabytes)."""
    document_vector: NDArray[np.float32]
    """(dim,) of all that was read so far: in the last part, the document's."""


def mean_pass(
    model: Mamba2,
    head: MeanHead,
    ids: NDArray[np.int64],
    borders: NDArray[np.int64],
    vertical_size: int,
    resume: PassState | None,
) -> Iterator[EmbeddedPart]:
    """Sums of hidden states, a part for each vertical slice. ids (n_tokens,); borders (n_passages, 2) in tokens."""
    means = RunningMeans(head, borders)
    if resume:
        means.position, means.n_finished = resume.n_tokens_done, resume.n_passages_done
        means.total, means.open = resume.sums
    rest = ids[means.position :]
    if resume and not len(rest):  # the state of the last part: only the document's vector is left to tell
        nothing = head.vectors(means.total[None])[:0]
        yield EmbeddedPart(means.n_finished, nothing, means.position, partial(to_bytes, resume), means.document())
    slices = run_vertically(model, rest, vertical_size, head.projection.device, resume.model if resume else None)
    for hidden, state in slices:
        first, start = means.n_finished, means.position
        vectors = means.push(hidden, torch.from_numpy(ids[start : start + len(hidden)]).to(hidden.device))
        done = PassState(state, means.position, means.n_finished, (means.total, means.open))
        yield EmbeddedPart(first, vectors, means.position, partial(to_bytes, done), means.document())


def eos_pass(
    model: Mamba2,
    eos_id: int,
    ids: NDArray[np.int64],
    borders: NDArray[np.int64],
    vertical_size: int,
    resume: PassState | None,
) -> Iterator[EmbeddedPart]:
    """What EOS says after a passage's last token, a part for each passage; that EOS itself is not carried on."""
    device = model.embeddings.weight.device
    eos = torch.tensor([[eos_id]], device=device)
    state, position, first = (
        (resume.model, resume.n_tokens_done, resume.n_passages_done) if resume else (model.initial_state(), 0, 0)
    )
    stops = [int(stop) for stop in borders[first:, 1]]
    for index, stop in enumerate([*stops, len(ids)], start=first):
        is_passage = index < len(borders)
        if position == stop and not is_passage and index > first:
            return  # the last passage ended the document
        state = _read(model, ids[position:stop], vertical_size, device, state)
        position = stop
        with torch.inference_mode():
            vector = unit(model.step(eos, state)[0][0])
        done = PassState(state, position, index + is_passage, ())
        yield EmbeddedPart(index, vector[:is_passage], position, partial(to_bytes, done), vector[0])


def _read(
    model: Mamba2, ids: NDArray[np.int64], vertical_size: int, device: torch.device, state: Mamba2State
) -> Mamba2State:
    """The state after `ids`."""
    for _, state_after in run_vertically(model, ids, vertical_size, device, state):
        state = state_after
    return state
