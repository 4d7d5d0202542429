"""xLSTM as an encoder: takes tokens and a state, returns hidden states and the next state.

It has mLSTM blocks only, as xLSTM 7B. The architecture is that of Beck et al., arXiv 2503.13427; the recurrence is in
`engine.papers.recurrent.mlstm`. Modules have the names of Hugging Face's checkpoints (NX-AI/xLSTM-7b). Knows no files,
text or vectors.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.models.embedding import token_table
from longsearch.engine.models.mamba2 import RMSNorm
from longsearch.engine.models.other_families import XLSTMConfig
from longsearch.engine.models.recurrent import LayerState, RecurrentModel
from longsearch.engine.papers.recurrent.mlstm import Memory, mlstm_scan

# always float32: these parameters are small, and gates are exponentiated
_GATES = ("igate_preact.weight", "fgate_preact.weight", "gate_preact.bias")
XLSTM_FLOAT32 = ("norm.weight", "norm_mlstm.weight", "norm_ffn.weight", *_GATES)


@dataclass(frozen=True, slots=True)
class XLSTMState(LayerState):
    """The state that passes from one slice to the next, in float32. Its size does not depend on the tokens read."""

    C: tuple[Tensor, ...]
    """For each layer the matrix memory, (batch, heads, key_dim, value_dim)."""
    n: tuple[Tensor, ...]
    """For each layer the normaliser of the memory, (batch, heads, key_dim)."""
    m: tuple[Tensor, ...]
    """For each layer the log of the scale of C and n, (batch, heads)."""


class XLSTM(RecurrentModel):
    """The whole model: an embedding, `n_layers` blocks, and a final norm if the checkpoint has one."""

    def __init__(self, config: XLSTMConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = token_table(config.vocab_size, config.d_model)
        self.blocks = nn.ModuleList(XLSTMBlock(config) for _ in range(config.n_layers))
        self.out_norm = RMSNorm(config.d_model, config.norm_eps) if config.final_norm else nn.Identity()
        self.block_size = config.block_size

    def initial_state(self, batch: int = 1) -> XLSTMState:
        """See `RecurrentModel`."""
        c = self.config
        shapes = ((c.key_dim, c.value_dim), (c.key_dim,), ())
        return XLSTMState(
            *(
                tuple(torch.zeros(batch, c.n_heads, *shape, device=self.device) for _ in range(c.n_layers))
                for shape in shapes
            )
        )

    def step(self, tokens: Tensor, state: XLSTMState) -> tuple[Tensor, XLSTMState]:
        """See `RecurrentModel`."""
        hidden = self.embeddings(tokens).float()  # the residual stream stays float32
        memories = []
        for block, C, n, m in zip(self.blocks, state.C, state.n, state.m, strict=True):
            hidden, memory = block(hidden, Memory(C, n, m), self.block_size)
            memories.append(memory)
        return self.out_norm(hidden), XLSTMState(*zip(*memories, strict=True))


class XLSTMBlock(nn.Module):
    """One layer: hidden + mLSTM(norm(hidden)), then the same with a gated feed-forward network."""

    def __init__(self, config: XLSTMConfig) -> None:
        super().__init__()
        self.norm_mlstm = RMSNorm(config.d_model, config.norm_eps)
        self.mlstm_layer = MLSTMLayer(config)
        self.norm_ffn = RMSNorm(config.d_model, config.norm_eps)
        self.ffn = FeedForward(config)

    def forward(self, hidden: Tensor, memory: Memory, block_size: int) -> tuple[Tensor, Memory]:
        """Return hidden and the memory after the slice. Sums are in float32, products in the dtype of the weights."""
        mixed, memory = self.mlstm_layer(self.norm_mlstm(hidden), memory, block_size)
        hidden = hidden + mixed.float()
        return hidden + self.ffn(self.norm_ffn(hidden)).float(), memory


class MLSTMLayer(nn.Module):
    """Projections, capped gates, matrix memory, a norm for each head, output gate, projection."""

    def __init__(self, config: XLSTMConfig) -> None:
        super().__init__()
        self.config = c = config
        keys, values = c.n_heads * c.key_dim, c.n_heads * c.value_dim
        self.q = nn.Linear(c.d_model, keys, bias=False)
        self.k = nn.Linear(c.d_model, keys, bias=False)
        self.v = nn.Linear(c.d_model, values, bias=False)
        self.ogate_preact = nn.Linear(c.d_model, values, bias=False)
        self.igate_preact = nn.Linear(c.d_model, c.n_heads)
        self.fgate_preact = nn.Linear(c.d_model, c.n_heads)
        self.multihead_norm = HeadNorm(c)
        self.out_proj = nn.Linear(values, c.d_model, bias=False)

    def forward(self, x: Tensor, memory: Memory, block_size: int) -> tuple[Tensor, Memory]:
        """Take x (batch, length, d_model) float32; return the mixed tokens, of the same shape, and the memory."""
        c, rounded = self.config, x.to(self.q.weight.dtype)
        # 1. project to queries, keys, values (batch, length, heads, dim) and gates (batch, length, heads)
        q, k, v = (linear(rounded).unflatten(-1, (c.n_heads, -1)) for linear in (self.q, self.k, self.v))
        i, f = (self._capped(gate(x)) for gate in (self.igate_preact, self.fgate_preact))
        # 2. write to the memory and read from it
        h, memory = mlstm_scan(q, k, v, i, F.logsigmoid(f), memory, c.eps, block_size)
        # 3. normalise each head, gate and project
        gate = self.ogate_preact(x.to(self.ogate_preact.weight.dtype)).sigmoid()
        return self.out_proj(gate * self.multihead_norm(h).to(gate.dtype)), memory

    def _capped(self, preactivation: Tensor) -> Tensor:
        cap = self.config.gate_cap
        return cap * torch.tanh(preactivation / cap)


class HeadNorm(nn.Module):
    """A layer norm of each head's output, without a bias, in float32."""

    def __init__(self, config: XLSTMConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.n_heads * config.value_dim))
        self.eps = config.norm_eps

    def forward(self, h: Tensor) -> Tensor:
        """Take h (batch, length, heads, value_dim); return (batch, length, heads * value_dim)."""
        return F.layer_norm(h, h.shape[-1:], eps=self.eps).flatten(-2) * self.weight


class FeedForward(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, config: XLSTMConfig) -> None:
        super().__init__()
        self.proj_up_gate = nn.Linear(config.d_model, config.d_ffn, bias=False)
        self.proj_up = nn.Linear(config.d_model, config.d_ffn, bias=False)
        self.proj_down = nn.Linear(config.d_ffn, config.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the same shape in the dtype of the weights."""
        x = x.to(self.proj_up.weight.dtype)
        y: Tensor = self.proj_down(F.silu(self.proj_up_gate(x)) * self.proj_up(x))
        return y
