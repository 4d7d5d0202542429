"""xLSTM 7B (Beck et al., arXiv 2503.13427) as an encoder: tokens and a state in, hidden states and the next state out.

All blocks are mLSTM blocks. Modules have the names of Hugging Face's checkpoints (NX-AI/xLSTM-7b). Knows no files, text
or vectors.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.models.embedding import token_table
from longsearch.engine.models.mamba2 import RMSNorm
from longsearch.engine.models.ops.mlstm import Memory, mlstm_scan
from longsearch.engine.models.state import LayerState
from longsearch.engine.models.xlstm_config import XLSTMConfig

# always float32: they are small, and gates are exponentiated
_GATES = ("igate_preact.weight", "fgate_preact.weight", "gate_preact.bias")
XLSTM_FLOAT32 = ("norm.weight", "norm_mlstm.weight", "norm_ffn.weight", *_GATES)


@dataclass(frozen=True, slots=True)
class XLSTMState(LayerState):
    """The state carried from one slice to the next, float32; its size does not depend on how many tokens were read."""

    C: tuple[Tensor, ...]
    """Per layer, the matrix memory (batch, heads, key_dim, value_dim)."""
    n: tuple[Tensor, ...]
    """Per layer, the normaliser of the memory (batch, heads, key_dim)."""
    m: tuple[Tensor, ...]
    """Per layer, the log of the scale of C and n (batch, heads)."""


class XLSTM(nn.Module):
    """The stack: embedding, `n_layers` of mLSTM and feed-forward, and a final norm if the checkpoint has one."""

    def __init__(self, config: XLSTMConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = token_table(config.vocab_size, config.d_model)
        self.blocks = nn.ModuleList(XLSTMBlock(config) for _ in range(config.n_layers))
        self.out_norm = RMSNorm(config.d_model, config.norm_eps) if config.final_norm else nn.Identity()
        self.block_size = config.block_size

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.embeddings.weight.device

    def initial_state(self, batch: int = 1) -> XLSTMState:
        """The state before the first token."""
        c = self.config
        shapes = ((c.key_dim, c.value_dim), (c.key_dim,), ())
        return XLSTMState(
            *(
                tuple(torch.zeros(batch, c.n_heads, *shape, device=self.device) for _ in range(c.n_layers))
                for shape in shapes
            )
        )

    def step(self, tokens: Tensor, state: XLSTMState) -> tuple[Tensor, XLSTMState]:
        """Read a slice of any length. tokens (batch, length) integers -> hidden (batch, length, d_model) float32."""
        hidden = self.embeddings(tokens).float()  # the residual stream stays float32
        memories = []
        for block, C, n, m in zip(self.blocks, state.C, state.n, state.m, strict=True):
            hidden, memory = block(hidden, Memory(C, n, m), self.block_size)
            memories.append(memory)
        return self.out_norm(hidden), XLSTMState(*zip(*memories, strict=True))


class XLSTMBlock(nn.Module):
    """hidden + mLSTM(norm(hidden)), then the same with a gated feed-forward network."""

    def __init__(self, config: XLSTMConfig) -> None:
        super().__init__()
        self.norm_mlstm = RMSNorm(config.d_model, config.norm_eps)
        self.mlstm_layer = MLSTMLayer(config)
        self.norm_ffn = RMSNorm(config.d_model, config.norm_eps)
        self.ffn = FeedForward(config)

    def forward(self, hidden: Tensor, memory: Memory, block_size: int) -> tuple[Tensor, Memory]:
        """Residual in float32; the products in the dtype of the weights."""
        mixed, memory = self.mlstm_layer(self.norm_mlstm(hidden), memory, block_size)
        hidden = hidden + mixed.float()
        return hidden + self.ffn(self.norm_ffn(hidden)).float(), memory


class MLSTMLayer(nn.Module):
    """Projections, capped gates, the matrix memory, a norm per head, output gate, projection."""

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
        """x (batch, length, d_model) float32 -> mixed, of the same shape, and the memory after the last token."""
        c, rounded = self.config, x.to(self.q.weight.dtype)
        q, k, v = (linear(rounded).unflatten(-1, (c.n_heads, -1)) for linear in (self.q, self.k, self.v))
        i, f = (self._capped(gate(x)) for gate in (self.igate_preact, self.fgate_preact))  # (batch, length, heads)
        h, memory = mlstm_scan(q, k, v, i, F.logsigmoid(f), memory, c.eps, block_size)
        gate = self.ogate_preact(x.to(self.ogate_preact.weight.dtype)).sigmoid()
        return self.out_proj(gate * self.multihead_norm(h).to(gate.dtype)), memory

    def _capped(self, preactivation: Tensor) -> Tensor:
        cap = self.config.gate_cap
        return cap * torch.tanh(preactivation / cap)


class HeadNorm(nn.Module):
    """Layer norm of each head's output, without a bias, in float32."""

    def __init__(self, config: XLSTMConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.n_heads * config.value_dim))
        self.eps = config.norm_eps

    def forward(self, h: Tensor) -> Tensor:
        """(batch, length, heads, value_dim) -> (batch, length, heads * value_dim)."""
        return F.layer_norm(h, h.shape[-1:], eps=self.eps).flatten(-2) * self.weight


class FeedForward(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, config: XLSTMConfig) -> None:
        super().__init__()
        self.proj_up_gate = nn.Linear(config.d_model, config.d_ffn, bias=False)
        self.proj_up = nn.Linear(config.d_model, config.d_ffn, bias=False)
        self.proj_down = nn.Linear(config.d_ffn, config.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Same shape, in the dtype of the weights."""
        x = x.to(self.proj_up.weight.dtype)
        y: Tensor = self.proj_down(F.silu(self.proj_up_gate(x)) * self.proj_up(x))
        return y
