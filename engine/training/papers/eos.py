"""Trains a model for the `eos` readout: a text's vector is the hidden state of an EOS token after its last token.

This is equation 1 of Grantner et al. (arXiv 2604.18199). A model with the mean readout can go on with this one: its
backbone is kept, and a token of its vocabulary serves as EOS.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.training.student.student import Padded, WholeStudent


class EosStudent(WholeStudent):
    """A Mamba2 with the eos readout: normalise(hidden state of the EOS token after the text)."""

    readout = "eos"

    def __init__(self, model: Mamba2, eos_id: int, eos_token: str, dtype: torch.dtype) -> None:
        """`model` is float32; `eos_id` is the id of `eos_token`; matrix products are in `dtype`."""
        super().__init__(model, dtype)
        self.eos_id, self.eos_token = eos_id, eos_token

    def tokenizer_settings(self) -> dict[str, Any]:
        """Return which token is EOS."""
        return {"eos_token": self.eos_token}

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, d_model) of texts, each from an empty state."""
        tokens, at = with_eos(texts, self.eos_id)
        hidden = self.read_embedded(self.embed(tokens), width)
        return F.normalize(states_at(hidden, at).float(), dim=-1)


def with_eos(texts: Padded, eos_id: int) -> tuple[Tensor, Tensor]:
    """Return token ids (batch, length + 1) with EOS after each text, and where each EOS stands, (batch,)."""
    lengths = texts.mask.sum(1).long()
    tokens = F.pad(texts.tokens, (0, 1))
    tokens[torch.arange(len(tokens), device=tokens.device), lengths] = eos_id
    return tokens, lengths


def states_at(hidden: Tensor, places: Tensor) -> Tensor:
    """Return from hidden (batch, length, d_model) the state (batch, d_model) at one place (batch,) of each text."""
    return hidden[torch.arange(len(places), device=places.device), places]
