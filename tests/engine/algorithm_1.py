"""Algorithm 1 of GIRCSE, the slow reference of the generative readout."""

import numpy as np
import torch
from numpy.typing import NDArray

from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.papers.gircse.readout import GenerativeReadout


def generated_from_scratch(encoder: Encoder, ids: NDArray[np.int64], steps: int | None = None) -> torch.Tensor:
    """Return G (K, d_model) by Algorithm 1 of GIRCSE, line by line: every step reads the whole sequence again."""
    model, reader = encoder.model, encoder.reader
    assert isinstance(model, Mamba2)
    assert isinstance(reader, GenerativeReadout)
    n_steps = reader.steps if steps is None else steps
    E = model.embeddings.weight
    W, b = E @ reader.soft.mixing, reader.soft.bias
    X, D = [E[token] for token in ids.tolist()], list[torch.Tensor]()
    with torch.inference_mode():
        for k in range(1, n_steps + 1):
            H, _ = model.step_embedded(torch.stack(X + D)[None], model.initial_state())
            h = H[0, len(X) + k - 2]  # the paper counts from 1
            s = torch.softmax(W @ h + b, dim=0)
            D.append((s[:, None] * E).sum(0))
        H, _ = model.step_embedded(torch.stack(X + D)[None], model.initial_state())
    return H[0, len(X) :]
