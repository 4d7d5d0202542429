"""Trains a model for the `contextual` readout: Causal2Vec (Lin et al., arXiv 2507.23386) on a Mamba2.

The student reads [instruction; C; text; EOS] (equation 2). A text's vector is the hidden states of C and of EOS, one
after the other. The bidirectional encoder that C comes from starts as layers of all-MiniLM-L6-v2.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.errors import ModelError
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.papers.causal2vec.encoder import MAX_TOKENS, BidirectionalEncoder, EncoderLayer
from longsearch.engine.papers.causal2vec.token import ContextualToken
from longsearch.engine.training.papers.eos import EosStudent, states_at, with_eos
from longsearch.engine.training.student.student import Padded, Rates


class ContextualStudent(EosStudent):
    """A Mamba2 with the contextual readout: normalise([hidden state of C; hidden state of EOS])."""

    readout = "contextual"

    def __init__(
        self,
        model: Mamba2,
        token: ContextualToken,
        eos_id: int,
        eos_token: str,
        dtype: torch.dtype,
        train_encoder: bool = True,
    ) -> None:
        """`model` and `token` are float32; `eos_id` is the id of `eos_token`; matrix products are in `dtype`.

        Without `train_encoder` the encoder stays as it is; W1 and W2 always learn.
        """
        super().__init__(model, eos_id, eos_token, dtype)
        self.token = token.requires_grad_(True).train()
        self.token.encoder.requires_grad_(train_encoder)
        self._trains_encoder = train_encoder

    def settings(self) -> dict[str, Any]:
        """Return the readout's name, the length of the vectors and the heads of the encoder."""
        heads = self.token.encoder.layers[0].n_heads
        return super().settings() | {"dim": 2 * self.model.config.d_model, "encoder_heads": heads}

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, 2 d_model) of texts, each from an empty state."""
        return F.normalize(torch.cat(self.states(texts, width), dim=1), dim=-1)

    def states(self, texts: Padded, width: float = 1.0) -> tuple[Tensor, Tensor]:
        """Return the hidden states of C and of EOS, (batch, d_model) each."""
        first = texts.n_instruction
        tokens, ends = with_eos(texts, self.eos_id)
        embedded = self.embed(tokens)
        C = self.contextual(embedded[:, first:-1], texts.mask[:, first:])
        hidden = self.read_embedded(torch.cat((embedded[:, :first], C[:, None], embedded[:, first:]), 1), width)
        return hidden[:, first].float(), states_at(hidden, ends + 1).float()

    def contextual(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """Return C (batch, d_model) of texts: embedded (batch, length, d_model), mask (batch, length)."""
        embedded, mask = embedded[:, :MAX_TOKENS].float(), mask[:, :MAX_TOKENS]
        if self._trains_encoder:
            return self.token(embedded, mask)  # type: ignore[no-any-return]
        with torch.no_grad():
            h = self.token.encoder(embedded, mask)
        return self.token.project(h)

    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """Return the backbone's groups, and the encoder at the rate of projections, unless it is frozen."""
        encoder = [p for p in self.token.encoder.parameters() if p.requires_grad]
        own = [{"params": encoder, "lr": rates.projection, "weight_decay": 0.0}] if encoder else []
        return [*super().groups(rates), *own]

    def matrices(self) -> list[Tensor]:
        """Return the backbone's matrices, W1 and W2."""
        return [*super().matrices(), self.token.up.weight, self.token.down.weight]

    def tensors(self) -> dict[str, Tensor]:
        """Return all weights: the backbone's by Hugging Face's names, and the readout's by our own."""
        return super().tensors() | {f"readout.{name}": tensor for name, tensor in self.token.state_dict().items()}


@torch.no_grad()
def encoder_from(bert: Any, layers: Sequence[int]) -> BidirectionalEncoder:
    """Return an encoder made of `layers` of `bert`, a transformers BertModel.

    Raises ModelError if it has no such layers.
    """
    c, e = bert.config, bert.embeddings
    if not layers or not all(0 <= layer < c.num_hidden_layers for layer in layers):
        raise ModelError(f"the teacher has no layers {list(layers)}", f"its layers are 0 to {c.num_hidden_layers - 1}")
    made = BidirectionalEncoder(c.hidden_size, c.num_attention_heads, len(layers), c.intermediate_size)
    positions = e.position_embeddings.weight[1 : 1 + MAX_TOKENS]  # position 0 is [CLS]
    mean = positions.mean(0)
    # our table holds BERT's sums after its first norm: what a position adds before it is multiplied by its usual scale
    sums = e.word_embeddings.weight + mean + e.token_type_embeddings.weight[0]
    made.positions[: len(positions)] = (positions - mean) * e.LayerNorm.weight / sums.std(dim=1).mean()
    for layer, source in zip(made.layers, layers, strict=True):
        _copy(layer, bert.encoder.layer[source])  # type: ignore[arg-type]
    return made


def _copy(layer: EncoderLayer, bert_layer: Any) -> None:
    attention = bert_layer.attention
    pairs = (
        (layer.query, attention.self.query), (layer.key, attention.self.key), (layer.value, attention.self.value),
        (layer.output, attention.output.dense), (layer.attention_norm, attention.output.LayerNorm),
        (layer.up, bert_layer.intermediate.dense), (layer.down, bert_layer.output.dense),
        (layer.mlp_norm, bert_layer.output.LayerNorm),
    )  # fmt: skip
    for ours, theirs in pairs:
        ours.load_state_dict(theirs.state_dict())
