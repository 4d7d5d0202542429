"""The model being trained: a Mamba2 at any width, and the mean readout, with gradients into float32 weights.

Token ids in, unit vectors out. Knows no text, no teacher and no loss.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from engine.models.mamba2 import Mamba2, Mamba2State
from engine.models.matmamba import NestedMamba2
from engine.training.whole_text import fits, read_whole


@dataclass(frozen=True, slots=True)
class Rates:
    """Peak learning rates."""

    blocks: float = 1e-3
    embedding: float = 4e-4
    projection: float = 1e-4
    """At 2e-3 an identity was destroyed and the model fell far below its own start."""
    warm_up: float = 0.1
    """Share of the training in which rates rise; 300 hasty steps once cost ten minutes."""
    weight_decay: float = 0.01
    """Of the blocks' matrices."""


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


class Trainable(nn.Module, ABC):
    """What the loop trains: texts in, unit vectors out, and which of its weights change at which rate."""

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Where the weights are."""

    @abstractmethod
    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Unit vectors (batch, dim) of texts, each from an empty state."""

    @abstractmethod
    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """The dense weights to be trained that are not `matrices`, as groups of an optimiser."""

    def matrices(self) -> list[Tensor]:
        """Matrices of two dimensions whose updates are to be made orthogonal."""
        return []

    def sparse(self) -> list[Tensor]:
        """Weights whose gradients are sparse."""
        return []

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """All weights under their names in a checkpoint."""

    def trained(self) -> dict[str, Tensor]:
        """What a resumed run must be given back."""
        return self.state_dict()

    def load_trained(self, state: dict[str, Tensor]) -> None:
        """Take back what `trained` gave. Raises ValueError or RuntimeError where it is another model's."""
        self.load_state_dict(state)


class Student(Trainable):
    """vector = normalise(projection @ sum_i exp(token_log_weight_i) * hidden_i)."""

    def __init__(self, model: Mamba2, projection: Tensor, token_log_weight: Tensor, dtype: torch.dtype) -> None:
        """`model` float32; projection (dim, d_model); token_log_weight (vocabulary,); `dtype` of the products."""
        super().__init__()
        self.model = model.requires_grad_(True).train()
        self.projection = nn.Parameter(projection.float().clone())
        self.token_log_weight = nn.Parameter(token_log_weight.float().clone())
        self._nested = NestedMamba2(model, dtype)
        self.compiled = False
        """Whether short texts are read by compiled code: twice as fast, after a minute of compiling."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.projection.device

    def hidden(self, tokens: Tensor, state: Mamba2State | None, width: float) -> tuple[Tensor, Mamba2State]:
        """Hidden states (batch, length, d_model) of token ids (batch, length), and the next state."""
        return self._nested.step(self._embed(tokens), state, width)

    def _embed(self, tokens: Tensor) -> Tensor:
        # sparse: a step touches some thousand rows of the table, and its optimiser then updates only those
        return F.embedding(tokens, self.model.embeddings.weight, sparse=True)

    def weighted(self, hidden: Tensor, tokens: Tensor) -> Tensor:
        """Each token's part of the readout's sums, (batch, length, d_model)."""
        return hidden * self.token_log_weight[tokens].exp()[..., None]

    def project(self, sums: Tensor) -> Tensor:
        """Sums (..., d_model) -> unit vectors (..., dim)."""
        return F.normalize(sums @ self.projection.T, dim=-1)

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Unit vectors (batch, dim) of texts, each from an empty state."""
        hidden = self._read_whole(texts.tokens, width)
        if hidden is None:
            hidden, _ = self.hidden(texts.tokens, None, width)
        return self.project((self.weighted(hidden, texts.tokens) * texts.mask[..., None]).sum(1))

    def _read_whole(self, tokens: Tensor, width: float) -> Tensor | None:
        """Hidden states of texts short enough for the quick twin of `hidden`, else None."""
        config, nested = self.model.config, self._nested
        if not fits(config, tokens.shape[1]):
            return None
        hidden = read_whole(nested.parameters(width), config, self._embed(tokens), nested.dtype, self.compiled)
        return None if hidden is None else self.model.norm_f(hidden)

    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """The blocks' convolutions, norms, biases and decays; projection, token weights."""
        convolutions = [p for p in self._blocks() if p.dim() > 2]
        vectors = [p for p in self._blocks() if p.dim() < 2]
        return [
            {"params": convolutions, "lr": rates.blocks, "weight_decay": rates.weight_decay},
            {"params": vectors, "lr": rates.blocks, "weight_decay": 0.0},
            {"params": [self.projection], "lr": rates.projection, "weight_decay": 0.0},
            {"params": [self.token_log_weight], "lr": rates.embedding, "weight_decay": 0.0},
        ]

    def matrices(self) -> list[Tensor]:
        """The blocks' projections."""
        return [p for p in self._blocks() if p.dim() == 2]

    def _blocks(self) -> list[Tensor]:
        return [p for name, p in self.model.named_parameters() if not name.startswith("embeddings.")]

    def sparse(self) -> list[Tensor]:
        """The embedding."""
        return [self.model.embeddings.weight]

    def tensors(self) -> dict[str, Tensor]:
        """Hugging Face's names, and ours for the readout's."""
        tensors = {f"backbone.{name}": tensor for name, tensor in self.model.state_dict().items()}
        readout = {"readout.projection.weight": self.projection, "readout.token_log_weight": self.token_log_weight}
        return tensors | readout
