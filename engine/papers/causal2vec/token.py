"""The contextual token of Causal2Vec (Lin et al., arXiv 2507.23386): a text in one vector, read before the text itself.

Equation 1: C = GELU(h W1') W2', where h is the mean of a bidirectional encoder's hidden states. C has the size of a
token's embedding, and stands at the text's start as a token (equation 2). Knows no files and no text.
"""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.errors import INCOMPLETE_MODEL, ModelError
from longsearch.engine.papers.causal2vec.encoder import BidirectionalEncoder


class ContextualToken(nn.Module):
    """The bidirectional encoder, W1 and W2 (no biases)."""

    def __init__(self, encoder: BidirectionalEncoder) -> None:
        """W1 = [I; -I] and W2 = [I, -I] at first. Then C = h, because GELU(x) - GELU(-x) = x."""
        super().__init__()
        self.encoder = encoder
        d_model = encoder.positions.shape[1]
        self.up = nn.Linear(d_model, 2 * d_model, bias=False)
        """W1 (2 d_model, d_model)."""
        self.down = nn.Linear(2 * d_model, d_model, bias=False)
        """W2 (d_model, 2 d_model)."""
        identity = torch.eye(d_model)
        with torch.no_grad():
            self.up.weight.copy_(torch.cat((identity, -identity)))
            self.down.weight.copy_(torch.cat((identity, -identity), dim=1))

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], d_model: int, n_heads: int) -> Self:
        """Take a checkpoint's `readout.*` tensors. Raises ModelError if they do not fit each other or the model."""
        n_layers = len({name.split(".")[2] for name in tensors if name.startswith("encoder.layers.")})
        if not n_layers or n_heads < 1 or d_model % n_heads:
            message = f"the contextual readout has {n_layers} layers of {n_heads} heads in its encoder"
            raise ModelError(message, INCOMPLETE_MODEL)
        up = tensors.get("encoder.layers.0.up.weight", torch.zeros(1, 0))
        made = cls(BidirectionalEncoder(d_model, n_heads, n_layers, len(up)))
        try:
            made.load_state_dict(dict(tensors))
        except RuntimeError as error:  # it names every missing tensor and every wrong shape
            reason = " ".join(str(error).partition("\n")[2].split())
            raise ModelError(f"the contextual readout's weights do not fit: {reason}", INCOMPLETE_MODEL) from None
        return made.eval().requires_grad_(False)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """Return C (batch, d_model) of texts, which are given as for `BidirectionalEncoder.forward`."""
        return self.project(self.encoder(embedded, mask))

    def project(self, h: Tensor) -> Tensor:
        """Return C (batch, d_model) of the encoder's means h (batch, d_model): equation 1."""
        projected: Tensor = self.down(F.gelu(self.up(h)))
        return projected
