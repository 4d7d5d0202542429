"""Reads a text with a model slice by slice, in one row. `engine.inference.slots` does this for many rows at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.models.recurrent import RecurrentModel


def run_vertically(
    model: RecurrentModel, ids: NDArray[np.int64], vertical_size: int, device: torch.device, state: Any = None
) -> Iterator[tuple[Tensor, Any]]:
    """Yield for each slice of `ids` (n_tokens,) its hidden states (length, d_model) and the state after it.

    Resumes from `state` if one is given. If `vertical_size` (V) is a multiple of the model's block size, the result is
    bit for bit that of one pass; otherwise it differs by rounding (about 1e-5 in float32).
    """
    state = model.initial_state() if state is None else state
    for start in range(0, len(ids), vertical_size):
        tokens = torch.from_numpy(ids[start : start + vertical_size]).to(device)
        with torch.inference_mode():  # inside the loop, or it would also hold in the caller at every yield
            hidden, state = model.step(tokens[None], state)
        yield hidden[0], state
