"""Vertically chunked inference: V tokens pass through all layers, then the next V, and the state is carried on.

Memory is that of one slice, however long the text is (Grantner et al., arXiv 2604.18199, section 3.2.3). A text of up
to V tokens is read in one slice: the horizontal pass. Knows no text and no readout.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.models.recurrent import RecurrentModel


@runtime_checkable
class ProbedModel(Protocol):
    """A model that reads probes (see `engine.models.probes`) in the same step as the text around them."""

    def step_probed(self, tokens: Tensor, mask: NDArray[np.bool_], state: Any) -> tuple[Tensor, Any]:
        """As `RecurrentModel.step`. Tokens where `mask` (batch, length) is true leave no trace."""


def step_probed(model: RecurrentModel, tokens: Tensor, probes: NDArray[np.bool_], state: Any) -> tuple[Tensor, Any]:
    """As `model.step`. Tokens where `probes` (batch, length) is true are probes.

    The hidden states of other tokens, and the next state, are as if the probes were not there.
    """
    if not probes.any():
        return model.step(tokens, state)
    if isinstance(model, ProbedModel):
        return model.step_probed(tokens, probes, state)
    return step_around_probes(model, tokens, probes, state)


def step_around_probes(
    model: RecurrentModel, tokens: Tensor, probes: NDArray[np.bool_], state: Any
) -> tuple[Tensor, Any]:
    """As `step_probed`, for any family: row by row, from probe to probe, then all probes of the row in one batch.

    Holds a state for each probe of one row.
    """
    hidden, states = [], []
    for row, mask in enumerate(probes):
        of_row, after_row = _row_around_probes(model, tokens[row], mask, state.rows([row]))
        hidden.append(of_row)
        states.append(after_row)
    return torch.stack(hidden), joined(states)


def _row_around_probes(
    model: RecurrentModel, tokens: Tensor, mask: NDArray[np.bool_], state: Any
) -> tuple[Tensor, Any]:
    """Read one row: tokens (length,), a state of batch 1. Returns hidden (length, d_model) and the next state."""
    at = np.flatnonzero(mask)
    states, parts = [], []
    for start, stop in zip([0, *(at + 1)], [*at, len(mask)], strict=True):
        if start < stop:
            text, state = model.step(tokens[None, start:stop], state)
            parts.append(text[0])
        states.append(state)
    if len(at):
        answers, _ = model.step(tokens[at][:, None], joined(states[:-1]))
        parts.append(answers[:, 0])
    order = np.argsort(np.concatenate((np.flatnonzero(~mask), at)))
    return torch.cat(parts)[torch.from_numpy(order).to(tokens.device)], state


def joined(states: Sequence[Any]) -> Any:
    """Join the rows of several states into one batch."""
    tensors = [state.tensors() for state in states]
    return type(states[0]).from_tensors({name: torch.cat([t[name] for t in tensors]) for name in tensors[0]})
