"""The forward pass of MiniLM (BERT), with positions and attention given from outside.

transformers offers neither another table of positions for a call, nor rotary positions, nor grouped distances for
BERT. A test holds this pass to that of transformers.
"""

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

Attention = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]
"""Mixes values by (q, k, v, keep): q, k and v (batch, heads, n, dim), keep (batch, 1, 1, n), False at padding; None: no
padding. Returns (batch, heads, n, dim)."""


def plain_attention(q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None) -> Tensor:
    """Return softmax(q k / sqrt(dim)) v over the tokens to keep."""
    return F.scaled_dot_product_attention(q, k, v, keep)


def mean_of(hidden: Tensor, mask: Tensor) -> Tensor:
    """Return the means (batch, d) of the hidden states (batch, n, d) of tokens, where mask (batch, n) is not 0."""
    weights = mask[..., None].to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1)


class Bert(nn.Module):
    """The weights of a BertModel of transformers, run by our own pass."""

    def __init__(self, model: Any) -> None:
        """`model`: a BertModel, which shares its weights with this one."""
        super().__init__()
        self.model = model
        self._heads = model.config.num_attention_heads

    @property
    def table(self) -> Tensor:
        """The model's positions (512, d)."""
        rows: Tensor = self.model.embeddings.position_embeddings.weight
        return rows

    def forward(self, tokens: Tensor, mask: Tensor, positions: Tensor | None, attention: Attention) -> Tensor:
        """Return the last hidden states (batch, n, d).

        tokens and mask (batch, n); positions (n, d) or (batch, n, d) are added to the tokens' vectors; None adds none.
        """
        *_, last = self.states(tokens, mask, positions, attention)
        return last

    def states(self, tokens: Tensor, mask: Tensor, positions: Tensor | None, attention: Attention) -> Iterator[Tensor]:
        """Yield what each layer reads, and last the last hidden states; each (batch, n, d)."""
        embeddings = self.model.embeddings
        x = embeddings.word_embeddings(tokens) + embeddings.token_type_embeddings.weight[0]
        x = embeddings.LayerNorm(x if positions is None else x + positions)
        keep = None if bool(mask.all()) else mask[:, None, None].bool()
        yield x
        for layer in self.model.encoder.layer:
            x = self._layer(layer, x, keep, attention)
            yield x

    def _layer(self, layer: Any, x: Tensor, keep: Tensor | None, attention: Attention) -> Tensor:
        projections = layer.attention.self
        q, k, v = (
            f(x).unflatten(-1, (self._heads, -1)).transpose(1, 2)
            for f in (projections.query, projections.key, projections.value)
        )  # (batch, heads, n, dim)
        mixed = attention(q, k, v, keep).transpose(1, 2).flatten(-2)
        after = layer.attention.output
        x = after.LayerNorm(after.dense(mixed) + x)
        inner = F.gelu(layer.intermediate.dense(x))
        out: Tensor = layer.output.LayerNorm(layer.output.dense(inner) + x)
        return out
