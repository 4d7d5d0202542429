"""Trains a model for the `generative` readout: a text's vector is the mean of the hidden states of K soft tokens.

This is GIRCSE, "Let LLMs Speak Embedding Languages" (section 3). The state after the text and its EOS is carried from
soft token to soft token, so gradients reach the layers through all of them. The table of token vectors learns from the
tokens of the text alone: through a soft token, every row of it would have a gradient in each step. The paper, which
trains LoRA adapters, does not train it at all.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.models.mamba2 import Mamba2, Mamba2State
from longsearch.engine.models.probes import Probes
from longsearch.engine.papers.gircse.soft_tokens import SoftTokens, generate
from longsearch.engine.training.papers.eos import EosStudent, states_at, with_eos
from longsearch.engine.training.student.student import Padded, Rates

SOFT_TOKENS = 5
"""K in training, as in the paper."""


class GenerativeStudent(EosStudent):
    """A Mamba2 with the generative readout: normalise((g_1 + ... + g_K) / K)."""

    readout = "generative"

    def __init__(
        self, model: Mamba2, eos: tuple[int, str], soft: SoftTokens, dtype: torch.dtype, steps: int = SOFT_TOKENS
    ) -> None:
        """`model` is float32; `eos` is the id and the text of EOS; `steps` is K; matrix products are in `dtype`."""
        super().__init__(model, *eos, dtype)
        self.soft = soft.requires_grad_(True)
        self.steps = steps
        self.is_new = False
        """Whether the head was not trained yet, so that b must be set by `count`."""

    def count(self, counts: Tensor) -> None:
        """Set b to the logarithm of the tokens' frequencies, if the head is new.

        counts (vocabulary,) says how often each token occurs in the texts of the training. Each counts once more.
        """
        if self.is_new:
            frequency = (counts.float() + 1) / (counts.sum() + len(counts))
            self.soft.bias.data.copy_(frequency.log())

    def refinements(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return the unit vectors z_1 .. z_K of texts, (batch, K, d_model): z_k is the mean of g_1 .. g_k."""
        hidden, state = self.read_to_end(texts, width)

        def step(embedded: Tensor, state: Mamba2State) -> tuple[Tensor, Mamba2State]:
            return self._nested.step(embedded, state, width)

        table = self.model.embeddings.weight.detach()
        generated = generate(step, table, self.soft, hidden, state, self.steps)
        return F.normalize(generated.float().cumsum(1), dim=-1)  # a sum has the direction of the mean

    def read_to_end(self, texts: Padded, width: float = 1.0) -> tuple[Tensor, Mamba2State]:
        """Return the hidden states (batch, d_model) of EOS after each text, and the states after it.

        The padding to the right of a text is read as probes, which leave no trace in its state.
        """
        tokens, at = with_eos(texts, self.eos_id)
        padding = torch.arange(tokens.shape[1], device=at.device) > at[:, None]
        mask = padding.cpu().numpy()
        probes = Probes.locate(mask, self.model.config.d_conv, at.device) if mask.any() else None
        hidden, state = self._nested.step(self.embed(tokens), None, width, probes)
        return states_at(hidden, at), state

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, d_model) of texts, each from an empty state: z_K."""
        return self.refinements(texts, width)[:, -1]

    def settings(self) -> dict[str, Any]:
        """Return the name of the readout, and K."""
        return super().settings() | {"soft_tokens": self.steps}

    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """Return the backbone's groups, A and b."""
        return [
            *super().groups(rates),
            {"params": [self.soft.mixing], "lr": rates.projection, "weight_decay": 0.0},
            {"params": [self.soft.bias], "lr": rates.embedding, "weight_decay": 0.0},
        ]

    def tensors(self) -> dict[str, Tensor]:
        """Return all weights: the backbone's by Hugging Face's names, and the readout's by our own."""
        return super().tensors() | {f"readout.{name}": tensor for name, tensor in self.soft.tensors().items()}


def new_soft_tokens(d_model: int, vocabulary: int) -> SoftTokens:
    """Return a head to start from. A is 0, so every soft token begins as the mean of all tokens by frequency; b is 0.

    With the identity as A, as in a language model whose two tables are one, the first soft tokens are words near the
    text, and the model reads them as its words: of 80 held-out pairs, MRR@10 was .89 at EOS, then .60 after 5 such soft
    tokens, and .80 after 5 mean ones. GIRCSE starts from a language model's trained head.
    """
    return SoftTokens(torch.zeros(d_model, d_model), torch.zeros(vocabulary))
