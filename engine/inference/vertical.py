"""Vertically chunked inference: V tokens through all layers, then the next V, the state carried on.

Memory is that of one slice however long the text is (Grantner et al., arXiv 2604.18199, section 3.2.3). A text no
longer than V goes through in one slice, which is the horizontal pass. Knows no text and no readout.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class RecurrentModel(Protocol):
    """What any family of recurrent models offers; the state's type is the family's own."""

    block_size: int
    """Q; slices of a multiple of it give bit for bit what one pass gives."""

    @property
    def device(self) -> torch.device:
        """Where it runs."""

    def initial_state(self, batch: int = 1) -> Any:
        """The state before anything was read."""

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """(batch, length) ids and a state -> (batch, length, d_model) hidden and the next state."""


@runtime_checkable
class ProbedModel(Protocol):
    """A model that reads probes (see `engine.models.probes`) in the same step as the text around them."""

    def step_probed(self, tokens: Tensor, mask: NDArray[np.bool_], state: Any) -> tuple[Tensor, Any]:
        """As `RecurrentModel.step`, where `mask` (batch, length) says which tokens are to leave no trace."""


def step_probed(model: RecurrentModel, tokens: Tensor, probes: NDArray[np.bool_], state: Any) -> tuple[Tensor, Any]:
    """As `model.step`, with tokens (where `probes` (batch, length) is true) that the others and the state forget."""
    if not probes.any():
        return model.step(tokens, state)
    if isinstance(model, ProbedModel):
        return model.step_probed(tokens, probes, state)
    return step_around_probes(model, tokens, probes, state)


def step_around_probes(
    model: RecurrentModel, tokens: Tensor, probes: NDArray[np.bool_], state: Any
) -> tuple[Tensor, Any]:
    """The same for any family: row by row, from probe to probe, with all of a row's probes in one batched step.

    Holds a state for each probe of a row at a time.
    """
    hidden, states = [], []
    for row, mask in enumerate(probes):
        of_row, own = _row_around_probes(model, tokens[row], mask, state.rows([row]))
        hidden.append(of_row)
        states.append(own)
    return torch.stack(hidden), _joined(states)


def _row_around_probes(
    model: RecurrentModel, tokens: Tensor, mask: NDArray[np.bool_], state: Any
) -> tuple[Tensor, Any]:
    """One row: tokens (length,) and a state of batch 1 -> hidden (length, d_model) and the next state."""
    at = np.flatnonzero(mask)
    states, parts = [], []
    for start, stop in zip([0, *(at + 1)], [*at, len(mask)], strict=True):
        if start < stop:
            text, state = model.step(tokens[None, start:stop], state)
            parts.append(text[0])
        states.append(state)
    if len(at):
        said, _ = model.step(tokens[at][:, None], _joined(states[:-1]))
        parts.append(said[:, 0])
    order = np.argsort(np.concatenate((np.flatnonzero(~mask), at)))
    return torch.cat(parts)[torch.from_numpy(order).to(tokens.device)], state


def _joined(states: Sequence[Any]) -> Any:
    """The rows of all states, as one batch."""
    tensors = [state.tensors() for state in states]
    return type(states[0]).from_tensors({name: torch.cat([t[name] for t in tensors]) for name in tensors[0]})
