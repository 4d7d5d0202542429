"""A small bidirectional encoder: layers of a BERT over the token table of the model that it serves, mean-pooled.

It is the "lightweight BERT-style model" of Causal2Vec (Lin et al., arXiv 2507.23386, section 3.1). It has no token
table of its own, so one layer of 384 channels takes 1.8M weights. `engine.training.papers.contextual` copies the
layers from all-MiniLM-L6-v2. Knows no files and no text.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

MAX_TOKENS = 512
"""Tokens of a text that are read; the paper's encoder reads as many."""
_NORM_EPS = 1e-12  # as in BERT


class BidirectionalEncoder(nn.Module):
    """Turns the embeddings of a text's tokens into one vector, the mean of the last layer's hidden states."""

    def __init__(self, d_model: int, n_heads: int, n_layers: int, d_mlp: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(MAX_TOKENS, d_model))
        """What a position adds to the embedding at it. The mean of all positions is in the embeddings already."""
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_mlp) for _ in range(n_layers))

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """Return means (batch, d_model) of texts: embedded (batch, length, d_model), length at most `MAX_TOKENS`.

        mask (batch, length) is not 0 for tokens and 0 for padding. The mean of a text without tokens is 0.
        """
        hidden = embedded + self.positions[: embedded.shape[1]]
        is_token = mask > 0
        seen = (is_token | ~is_token.any(1, keepdim=True))[:, None, None]  # a row without tokens sees its padding
        for layer in self.layers:
            hidden = layer(hidden, seen)
        sums = (hidden * is_token[..., None]).sum(1)
        mean: Tensor = sums / is_token.sum(1, keepdim=True).clamp(min=1)
        return mean


class EncoderLayer(nn.Module):
    """One layer of BERT (Devlin et al. 2019): attention to all tokens, then an MLP; a norm follows each sum."""

    def __init__(self, d_model: int, n_heads: int, d_mlp: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))
        self.attention_norm = nn.LayerNorm(d_model, _NORM_EPS)
        self.up = nn.Linear(d_model, d_mlp)
        self.down = nn.Linear(d_mlp, d_model)
        self.mlp_norm = nn.LayerNorm(d_model, _NORM_EPS)

    def forward(self, hidden: Tensor, seen: Tensor) -> Tensor:
        """Take hidden (batch, length, d_model) and which tokens are seen, (batch, 1, 1, length) bool."""
        projections = (self.query, self.key, self.value)
        q, k, v = (p(hidden).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for p in projections)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).flatten(-2)
        hidden = self.attention_norm(hidden + self.output(mixed))
        normed: Tensor = self.mlp_norm(hidden + self.down(F.gelu(self.up(hidden))))
        return normed
