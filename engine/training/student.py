"""The model being trained: a Mamba2 at any width, and the mean readout, with gradients into float32 weights.

Token ids in, unit vectors out. Knows no text, no teacher and no loss.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from engine.models.mamba2 import Mamba2, Mamba2State
from engine.models.matmamba import NestedMamba2


@dataclass(frozen=True, slots=True)
class Padded:
    """Texts of a batch, padded on the right: a recurrent model needs no mask to leave padding out."""

    tokens: Tensor
    """(batch, length) ids; padding is id 0."""
    mask: Tensor
    """(batch, length) 1.0 where a token is, 0.0 in the padding."""

    @classmethod
    def of(cls, rows: list[NDArray[np.int64]], device: str | torch.device) -> "Padded":
        """Pad `rows` to the longest of them."""
        tokens = np.zeros((len(rows), max(1, max(len(row) for row in rows))), np.int64)
        mask = np.zeros(tokens.shape, np.float32)
        for i, row in enumerate(rows):
            tokens[i, : len(row)] = row
            mask[i, : len(row)] = 1
        return cls(torch.from_numpy(tokens).to(device), torch.from_numpy(mask).to(device))


class Student(nn.Module):
    """vector = normalise(projection @ sum_i exp(token_log_weight_i) * hidden_i)."""

    def __init__(self, model: Mamba2, projection: Tensor, token_log_weight: Tensor, dtype: torch.dtype) -> None:
        """`model` float32; projection (dim, d_model); token_log_weight (vocabulary,); `dtype` of the products."""
        super().__init__()
        self.model = model.requires_grad_(True).train()
        self.projection = nn.Parameter(projection.float().clone())
        self.token_log_weight = nn.Parameter(token_log_weight.float().clone())
        self._nested = NestedMamba2(model, dtype)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.projection.device

    def hidden(self, tokens: Tensor, state: Mamba2State | None, width: float) -> tuple[Tensor, Mamba2State]:
        """Hidden states (batch, length, d_model) of token ids (batch, length), and the next state."""
        # sparse: a step touches some thousand rows of the table, and its optimiser then updates only those
        embedded = F.embedding(tokens, self.model.embeddings.weight, sparse=True)
        return self._nested.step(embedded, state, width)

    def weighted(self, hidden: Tensor, tokens: Tensor) -> Tensor:
        """Each token's part of the readout's sums, (batch, length, d_model)."""
        return hidden * self.token_log_weight[tokens].exp()[..., None]

    def project(self, sums: Tensor) -> Tensor:
        """Sums (..., d_model) -> unit vectors (..., dim)."""
        return F.normalize(sums @ self.projection.T, dim=-1)

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Unit vectors (batch, dim) of texts, each from an empty state."""
        hidden, _ = self.hidden(texts.tokens, None, width)
        return self.project((self.weighted(hidden, texts.tokens) * texts.mask[..., None]).sum(1))
