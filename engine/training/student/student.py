"""The models that are trained whole: a Mamba2 at any width under a readout, with gradients into float32 weights.

They turn token ids into unit vectors.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.arrays import Vectors
from longsearch.engine.models.batches import batches_by_length, padded_rows
from longsearch.engine.models.mamba2 import Mamba2, Mamba2State
from longsearch.engine.models.matmamba import NestedMamba2
from longsearch.engine.training.student.whole_text import fits, read_whole

_BATCH_TOKENS = 4096  # of texts that are read without gradients, with padding


class Schedule(Enum):
    """The curve of the rates: a rise during the warm-up, then a fall to the end of the run."""

    COSINE = "cosine"
    LINEAR = "linear"


@dataclass(frozen=True, slots=True)
class Rates:
    """Peak learning rates, their schedule, and weight decay."""

    blocks: float = 1e-3
    embedding: float = 4e-4
    projection: float = 1e-4
    """A rate of 2e-3 destroyed the initial identity, and the model fell far below its start."""
    warm_up: float = 0.1
    """Share of the training in which the rates rise. 300 steps at too high a rate once cost ten minutes."""
    weight_decay: float = 0.01
    """Weight decay of the blocks' matrices, or of LoRA's adapters."""
    schedule: Schedule = Schedule.COSINE


@dataclass(frozen=True, slots=True)
class Padded:
    """The texts of a batch, padded on the right. A recurrent model needs no mask: padding comes after the text."""

    tokens: Tensor
    """(batch, length) ids; padding has id 0."""
    mask: Tensor
    """(batch, length): 1.0 for a token, 0.0 for padding."""
    n_instruction: int = 0
    """Tokens of the instruction that stands in front of each text."""

    @classmethod
    def of(cls, rows: list[NDArray[np.int64]], device: str | torch.device, n_instruction: int = 0) -> "Padded":
        """Pad `rows` to the longest row."""
        tokens, mask = padded_rows(rows)
        return cls(torch.from_numpy(tokens).to(device), torch.from_numpy(mask).float().to(device), n_instruction)


class Trainable(nn.Module, ABC):
    """A model that the loop trains: it turns texts into unit vectors, and says which weights learn at which rate."""

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """The device of the weights."""

    @abstractmethod
    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, dim) of texts, each from an empty state."""

    @abstractmethod
    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """Return the dense trained weights except `matrices`, as parameter groups of an optimiser."""

    def matrices(self) -> list[Tensor]:
        """Return the two-dimensional matrices that Muon updates."""
        return []

    def sparse(self) -> list[Tensor]:
        """Return the weights with sparse gradients."""
        return []

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Return all weights by their names in a checkpoint."""

    def settings(self) -> dict[str, Any]:
        """Return what config.json must say of the readout, in its section `longsearch`."""
        return {}

    def tokenizer_settings(self) -> dict[str, Any]:
        """Return what tokenizer_config.json must say."""
        return {}

    def trained(self) -> dict[str, Tensor]:
        """Return the weights that a resumed run needs."""
        return self.state_dict()

    def load_trained(self, state: dict[str, Tensor]) -> None:
        """Load what `trained` returned. Raises ValueError or RuntimeError if it belongs to another model."""
        self.load_state_dict(state)


@torch.no_grad()
def read_all(student: Trainable, texts: Sequence[NDArray[np.int64]], width: float = 1.0) -> Vectors:
    """Return the unit vectors (n, dim) of texts, read in batches of similar length without gradients."""
    order = batches_by_length(np.array([len(text) for text in texts], np.int64), _BATCH_TOKENS)
    read = [student(Padded.of([texts[row] for row in rows.tolist()], student.device), width) for rows in order]
    vectors: Vectors = torch.cat(read).float().cpu().numpy()[np.argsort(np.concatenate(order))]
    return vectors


class WholeStudent(Trainable):
    """A Mamba2 all of whose weights are trained. A subclass adds the readout."""

    readout: str
    """Name of the readout in config.json."""

    def __init__(self, model: Mamba2, dtype: torch.dtype) -> None:
        """`model` is float32; matrix products are in `dtype`."""
        super().__init__()
        self.model = model.requires_grad_(True).train()
        self._nested = NestedMamba2(model, dtype)
        self.compiled = False
        """Whether compiled code reads short texts: twice as fast, after a minute of compiling."""

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.model.device

    def hidden(self, tokens: Tensor, state: Mamba2State | None, width: float) -> tuple[Tensor, Mamba2State]:
        """Return hidden states (batch, length, d_model) of token ids (batch, length), and the next state."""
        return self._nested.step(self.embed(tokens), state, width)

    def embed(self, tokens: Tensor) -> Tensor:
        """Return the embeddings (batch, length, d_model) of token ids (batch, length)."""
        # sparse: a step reads a few thousand rows of the table, and the optimiser updates only those
        return F.embedding(tokens, self.model.embeddings.weight, sparse=True)

    def read_embedded(self, embedded: Tensor, width: float) -> Tensor:
        """Return hidden states (batch, length, d_model) of whole texts given as embeddings of the same shape."""
        return self.read_layers(embedded, width)[0]

    def read_layers(self, embedded: Tensor, width: float) -> tuple[Tensor, list[Tensor]]:
        """Return what `read_embedded` does, and the hidden states after each layer, of the same shape.

        Uses `read_whole`, the fast twin of `NestedMamba2.step`, for texts that it can read. Of other texts, and where a
        decay overflows, the states after the layers are not kept: the list is empty.
        """
        config, nested = self.model.config, self._nested
        if fits(config, embedded.shape[1]):
            layers = read_whole(nested.parameters(width), config, embedded, nested.dtype, self.compiled)
            if layers is not None:
                return self.model.norm_f(layers[-1]), layers
        return nested.step(embedded, None, width)[0], []

    def settings(self) -> dict[str, Any]:
        """Return the name of the readout."""
        return {"readout": self.readout}

    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """Return the blocks' convolutions, norms, biases and decays."""
        convolutions = [p for p in self._blocks() if p.dim() > 2]
        vectors = [p for p in self._blocks() if p.dim() < 2]
        return [
            {"params": convolutions, "lr": rates.blocks, "weight_decay": rates.weight_decay},
            {"params": vectors, "lr": rates.blocks, "weight_decay": 0.0},
        ]

    def matrices(self) -> list[Tensor]:
        """Return the blocks' projections."""
        return [p for p in self._blocks() if p.dim() == 2]

    def _blocks(self) -> list[Tensor]:
        return [p for name, p in self.model.named_parameters() if not name.startswith("embeddings.")]

    def sparse(self) -> list[Tensor]:
        """Return the embedding."""
        return [self.model.embeddings.weight]

    def tensors(self) -> dict[str, Tensor]:
        """Return the backbone's weights by Hugging Face's names."""
        return {f"backbone.{name}": tensor for name, tensor in self.model.state_dict().items()}


class Student(WholeStudent):
    """A Mamba2 with the mean readout: normalise(projection @ sum_i exp(token_log_weight_i) * hidden_i)."""

    readout = "mean"

    def __init__(self, model: Mamba2, projection: Tensor, token_log_weight: Tensor, dtype: torch.dtype) -> None:
        """`model` is float32; projection (dim, d_model); token_log_weight (vocabulary,); products are in `dtype`."""
        super().__init__(model, dtype)
        self.projection = nn.Parameter(projection.float().clone())
        self.token_log_weight = nn.Parameter(token_log_weight.float().clone())

    def weighted(self, hidden: Tensor, tokens: Tensor) -> Tensor:
        """Return each token's term of the readout's sum, (batch, length, d_model)."""
        return hidden * self.token_log_weight[tokens].exp()[..., None]

    def project(self, sums: Tensor) -> Tensor:
        """Turn sums (..., d_model) into unit vectors (..., dim)."""
        return F.normalize(sums @ self.projection.T, dim=-1)

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, dim) of texts, each from an empty state."""
        return self.with_layers(texts, width)[0]

    def with_layers(self, texts: Padded, width: float = 1.0) -> tuple[Tensor, list[Tensor]]:
        """Return unit vectors (batch, dim) of texts, and what `read_layers` does."""
        hidden, layers = self.read_layers(self.embed(texts.tokens), width)
        return self.project((self.weighted(hidden, texts.tokens) * texts.mask[..., None]).sum(1)), layers

    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """Return the backbone's groups, the projection and the token weights."""
        return [
            *super().groups(rates),
            {"params": [self.projection], "lr": rates.projection, "weight_decay": 0.0},
            {"params": [self.token_log_weight], "lr": rates.embedding, "weight_decay": 0.0},
        ]

    def tensors(self) -> dict[str, Tensor]:
        """Return all weights: the backbone's by Hugging Face's names, and the readout's by our own."""
        readout = {"readout.projection.weight": self.projection, "readout.token_log_weight": self.token_log_weight}
        return super().tensors() | readout
