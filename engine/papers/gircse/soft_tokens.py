"""Soft tokens: a model reads on in tokens of its own (GIRCSE, "Let LLMs Speak Embedding Languages", section 3).

A soft token is a distribution s over the vocabulary, and its embedding is d = sum_i s_i e_i (equations 5 and 6). The
paper's W is the language model's head. An embedder has none, so W = E A: the table E of token vectors times a square
matrix A, which has 80 times fewer weights of its own. b starts as the logarithm of each token's frequency.

`generate` carries the recurrent state from soft token to soft token, as the paper's key-value cache does: each costs
one step of one token, however long the text before it was.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from longsearch.engine.errors import INCOMPLETE_MODEL, ModelError

StepEmbedded = Callable[[Tensor, Any], tuple[Tensor, Any]]
"""As `Mamba2.step_embedded`: embeddings (n, 1, d_model) and a state -> hidden states of this shape, the next state."""


class SoftTokens(nn.Module):
    """The head that makes soft tokens: s = softmax(E A h + b)."""

    def __init__(self, mixing: Tensor, bias: Tensor) -> None:
        """mixing is A (d_model, d_model), bias is b (vocabulary,), both float32."""
        super().__init__()
        self.mixing = nn.Parameter(mixing)
        self.bias = nn.Parameter(bias)

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], d_model: int, vocabulary: int) -> "SoftTokens":
        """Take a checkpoint's `readout.*` tensors. Raises ModelError if one is missing or has the wrong shape."""
        for name, shape in (("mixing.weight", (d_model, d_model)), ("bias", (vocabulary,))):
            if name not in tensors:
                raise ModelError(
                    f"the weights lack readout.{name}, which the generative readout needs", INCOMPLETE_MODEL
                )
            if tensors[name].shape != shape:
                raise ModelError(f"readout.{name} is {tuple(tensors[name].shape)}, not {shape}", INCOMPLETE_MODEL)
        return cls(tensors["mixing.weight"], tensors["bias"]).requires_grad_(False)

    def tensors(self) -> dict[str, Tensor]:
        """Return the weights by their names in a checkpoint, without `readout.`."""
        return {"mixing.weight": self.mixing, "bias": self.bias}

    def distribution(self, hidden: Tensor, table: Tensor) -> Tensor:
        """Return s (n, vocabulary), float32, of hidden states (n, d_model). `table` is E (equation 5)."""
        logits = (hidden.float() @ self.mixing.T).to(table.dtype) @ table.T
        return torch.softmax(logits.float() + self.bias, dim=-1)

    def next(self, hidden: Tensor, table: Tensor) -> Tensor:
        """Return the embeddings d (n, d_model) of the soft tokens that follow hidden states (n, d_model)."""
        return self.distribution(hidden, table).to(table.dtype) @ table  # equation 6


def generate(step: StepEmbedded, table: Tensor, soft: SoftTokens, hidden: Tensor, state: Any, steps: int) -> Tensor:
    """Return the hidden states g_1 .. g_K of K = `steps` soft tokens, (n, K, d_model).

    `hidden` (n, d_model) is that of the last token read, `state` the state after it, and `table` the table E of token
    vectors. The tensors of `state` are not changed, so a stream can go on from it.
    """
    generated = [hidden[:, None][:, :0]]
    for _ in range(steps):
        read, state = step(soft.next(hidden, table)[:, None], state)
        hidden = read[:, 0]
        generated.append(read)
    return torch.cat(generated, dim=1)
