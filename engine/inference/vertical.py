"""Vertically chunked inference: V tokens through all layers, then the next V, the state carried on.

Memory is that of one slice however long the text is (Grantner et al., arXiv 2604.18199, section 3.2.3). A text no
longer than V goes through in one slice, which is the horizontal pass. Knows no text and no readout.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class RecurrentModel(Protocol):
    """What any family of recurrent models offers; the state's type is the family's own."""

    block_size: int

    def initial_state(self, batch: int = 1) -> Any:
        """The state before anything was read."""

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """(batch, length) ids and a state -> (batch, length, d_model) hidden and the next state."""


def run_vertically(
    model: RecurrentModel, ids: NDArray[np.int64], vertical_size: int, device: torch.device, state: Any = None
) -> Iterator[tuple[Tensor, Any]]:
    """Yield, slice by slice, the hidden states (length, d_model) of `ids` (n_tokens,) and the state after them.

    Goes on from `state` if one is given. `vertical_size` (V) is best a multiple of the model's block size: then the
    result is bit for bit that of one pass; otherwise it differs by rounding (about 1e-5 in float32).
    """
    state = model.initial_state() if state is None else state
    for start in range(0, len(ids), vertical_size):
        tokens = torch.from_numpy(ids[start : start + vertical_size]).to(device)
        with torch.inference_mode():  # inside, or it would leak to the caller at every yield
            hidden, state = model.step(tokens[None], state)
        yield hidden[0], state
