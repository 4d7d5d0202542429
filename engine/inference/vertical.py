"""Vertically chunked inference: V tokens pass through all layers, then the next V; the state is carried between them.

Memory does not depend on the length of the text (Grantner et al., arXiv 2604.18199, section 3.2.3). A text of at most V
tokens is one slice, which is the horizontal pass. Knows no text and no readout.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class RecurrentModel(Protocol):
    """The interface of every family of recurrent models; each family has a state type of its own."""

    block_size: int
    """Q. Slices of a multiple of Q give the result of one pass to 2e-6, other slices to about 1e-5 (float32)."""

    @property
    def device(self) -> torch.device:
        """The device of the weights."""

    def initial_state(self, batch: int = 1) -> Any:
        """The state before the first token."""

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """ids (batch, length) and a state -> hidden (batch, length, d_model) and the next state."""


@runtime_checkable
class ProbedModel(Protocol):
    """A model that reads probes (see `engine.models.probes`) in one step with the text around them."""

    def step_probed(self, tokens: Tensor, mask: NDArray[np.bool_], state: Any) -> tuple[Tensor, Any]:
        """As `RecurrentModel.step`; tokens where `mask` (batch, length) is true leave no trace in the state."""


def step_probed(model: RecurrentModel, tokens: Tensor, probes: NDArray[np.bool_], state: Any) -> tuple[Tensor, Any]:
    """As `model.step`; tokens where `probes` (batch, length) is true leave no trace in other tokens or the state."""
    if not probes.any():
        return model.step(tokens, state)
    if isinstance(model, ProbedModel):
        return model.step_probed(tokens, probes, state)
    return step_around_probes(model, tokens, probes, state)


def step_around_probes(
    model: RecurrentModel, tokens: Tensor, probes: NDArray[np.bool_], state: Any
) -> tuple[Tensor, Any]:
    """`step_probed` for any family: read each row from probe to probe, then all probes of the row as one batch.

    Memory holds one state for each probe of a row.
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
    """Read one row: tokens (length,) and a state of batch 1 -> hidden (length, d_model) and the next state."""
    at = np.flatnonzero(mask)
    states, parts = [], []
    for start, stop in zip([0, *(at + 1)], [*at, len(mask)], strict=True):
        if start < stop:
            text, state = model.step(tokens[None, start:stop], state)
            parts.append(text[0])
        states.append(state)
    if len(at):
        answers, _ = model.step(tokens[at][:, None], _joined(states[:-1]))  # (n_probes, 1, d_model)
        parts.append(answers[:, 0])
    order = np.argsort(np.concatenate((np.flatnonzero(~mask), at)))
    return torch.cat(parts)[torch.from_numpy(order).to(tokens.device)], state


def _joined(states: Sequence[Any]) -> Any:
    """One state whose batch holds the rows of all states."""
    tensors = [state.tensors() for state in states]
    return type(states[0]).from_tensors({name: torch.cat([t[name] for t in tensors]) for name in tensors[0]})
