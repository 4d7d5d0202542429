"""RWKV-7 "Goose" as an encoder: takes tokens and a state, returns hidden states and the next state.

Shapes: hidden and x are (batch, length, d_model). r, w, k, v and a are too, until they are split into (batch, length,
heads, head_dim). The equations are those of Peng et al., arXiv 2503.14456. Modules have the names of the checkpoints on
the Hugging Face hub (fla-hub/rwkv7-*). Knows no files, text or vectors.
"""

import math
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.models.embedding import token_table
from longsearch.engine.models.other_families import RWKV7Config
from longsearch.engine.models.recurrent import LayerState, RecurrentModel
from longsearch.engine.papers.recurrent.wkv7 import wkv7_scan

# always float32: these parameters are small, and decays must not be rounded
_SHIFTS = (".x_r", ".x_w", ".x_k", ".x_v", ".x_a", ".x_g")
_DECAYS = ("w_lora.lora.0.weight", "w_lora.lora.2.weight", ".lora.2.bias")
RWKV7_FLOAT32 = ("norm.weight", "norm.bias", *_SHIFTS, ".k_k", ".k_a", ".r_k", *_DECAYS)


@dataclass(frozen=True, slots=True)
class RWKV7State(LayerState):
    """The state that passes from one slice to the next, in float32. Its size does not depend on the tokens read."""

    wkv: tuple[Tensor, ...]
    """For each layer S, (batch, heads, head_dim of keys, head_dim of values)."""
    attn_shift: tuple[Tensor, ...]
    """For each layer the last input of the time mixing, (batch, d_model)."""
    ffn_shift: tuple[Tensor, ...]
    """For each layer the last input of the channel mixing, (batch, d_model)."""


class RWKV7(RecurrentModel):
    """The whole model: an embedding, `n_layers` of time mixing and channel mixing, a final norm."""

    def __init__(self, config: RWKV7Config) -> None:
        super().__init__()
        self.config = config
        self.embeddings = token_table(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList(RWKV7Block(config, layer) for layer in range(config.n_layers))
        self.norm = Float32LayerNorm(config)
        self.block_size = config.block_size

    def initial_state(self, batch: int = 1) -> RWKV7State:
        """See `RecurrentModel`."""
        c, layers = self.config, range(self.config.n_layers)
        wkv = (batch, c.n_heads, c.head_dim, c.head_dim)
        return RWKV7State(
            *(
                tuple(torch.zeros(shape, device=self.device) for _ in layers)
                for shape in (wkv, *[(batch, c.d_model)] * 2)
            )
        )

    def step(self, tokens: Tensor, state: RWKV7State) -> tuple[Tensor, RWKV7State]:
        """See `RecurrentModel`."""
        hidden = self.embeddings(tokens).float()  # the residual stream stays float32
        # the values of layer 0, (batch, length, d_model); a token needs only its own, so they are not carried
        v_first = None
        wkv, attn_shift, ffn_shift = [], [], []
        carried = zip(self.layers, state.wkv, state.attn_shift, state.ffn_shift, strict=True)
        for layer, *layer_state in carried:
            hidden, v_first, (layer_wkv, attn_last, ffn_last) = layer(hidden, v_first, *layer_state, self.block_size)
            wkv.append(layer_wkv)
            attn_shift.append(attn_last)
            ffn_shift.append(ffn_last)
        return self.norm(hidden), RWKV7State(tuple(wkv), tuple(attn_shift), tuple(ffn_shift))


class RWKV7Block(nn.Module):
    """One layer: hidden + time mixing(norm(hidden)), then the same with channel mixing."""

    def __init__(self, config: RWKV7Config, layer: int) -> None:
        super().__init__()
        self.pre_norm = Float32LayerNorm(config) if layer == 0 and config.norm_first else nn.Identity()
        self.attn_norm = Float32LayerNorm(config)
        self.attn = TimeMixing(config, layer)
        self.ffn_norm = Float32LayerNorm(config)
        self.ffn = ChannelMixing(config)

    def forward(
        self, hidden: Tensor, v_first: Tensor | None, wkv: Tensor, attn_last: Tensor, ffn_last: Tensor, block_size: int
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor, Tensor]]:
        """Return hidden and the values of layer 0, (batch, length, d_model) each, and the state after the slice."""
        hidden = self.pre_norm(hidden)
        read = self.attn_norm(hidden)
        mixed, v_first, wkv = self.attn(read, attn_last, wkv, v_first, block_size)
        hidden = hidden + mixed
        read_by_ffn = self.ffn_norm(hidden)
        hidden = hidden + self.ffn(read_by_ffn, ffn_last)
        # without the clones, the state would keep the memory of the whole slice alive
        return hidden, v_first, (wkv, read[:, -1].clone(), read_by_ffn[:, -1].clone())


class TimeMixing(nn.Module):
    """Token shift, projections, WKV recurrence, group norm, bonus, gate (section 4 of the paper)."""

    r_proj: nn.Linear
    k_proj: nn.Linear
    v_proj: nn.Linear
    o_proj: nn.Linear

    def __init__(self, config: RWKV7Config, layer: int) -> None:
        super().__init__()
        self.config = c = config
        for name in "rwkvag":
            self.register_parameter(f"x_{name}", nn.Parameter(torch.zeros(c.d_model)))
        self.k_k = nn.Parameter(torch.zeros(c.d_model))
        self.k_a = nn.Parameter(torch.zeros(c.d_model))
        self.r_k = nn.Parameter(torch.zeros(c.n_heads, c.head_dim))
        for name in "rkvo":
            self.add_module(f"{name}_proj", nn.Linear(c.d_model, c.d_model, bias=False))
        self.w_lora = LowRank(c.d_model, c.decay_rank, nn.Tanh())
        self.a_lora = LowRank(c.d_model, c.a_rank, nn.Identity())
        self.g_lora = LowRank(c.d_model, c.gate_rank, nn.Sigmoid(), bias=False)
        if layer > 0:
            self.v_lora = LowRank(c.d_model, c.v_rank, nn.Identity())
        self.g_norm = nn.GroupNorm(c.n_heads, c.d_model, eps=c.head_dim * c.norm_eps)

    def forward(
        self, x: Tensor, last: Tensor, wkv: Tensor, v_first: Tensor | None, block_size: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Take x (batch, length, d_model) float32; return the mixed tokens, the values of layer 0, and the state."""
        # 1. mix each token with the one before it, and project
        delta = _shifted(x, last) - x
        xr, xw, xk, xv, xa, xg = (torch.addcmul(x, delta, getattr(self, f"x_{name}")) for name in "rwkvag")
        r, k, v = _in_dtype(self.r_proj, xr), _in_dtype(self.k_proj, xk), _in_dtype(self.v_proj, xv)
        w = -math.exp(-0.5) * self.w_lora(xw).sigmoid()  # log of the decay
        a = self.a_lora(xa).sigmoid()  # in-context learning rate
        # 2. mix the values with those of layer 0
        if v_first is None:
            v_first = v
        else:
            v = torch.lerp(v, v_first, self.v_lora(xv).sigmoid())
        # 3. run the recurrence with the removal key kk
        kk = F.normalize(self._heads(k * self.k_k), dim=-1)
        r, w, k, v, a = (self._heads(t) for t in (r, w, k * (1 + (a - 1) * self.k_a), v, a))
        y, wkv = wkv7_scan(r, w, k, v, -kk, kk * a, wkv, block_size)
        # 4. normalise, add the bonus of the current token, gate and project
        y = self.g_norm(y.flatten(0, 1).flatten(1)).view_as(x)
        y = y + ((r * k * self.r_k).sum(-1, keepdim=True) * v).flatten(2)
        return _in_dtype(self.o_proj, y * self.g_lora(xg)), v_first, wkv

    def _heads(self, t: Tensor) -> Tensor:
        """Turn (batch, length, d_model) into (batch, length, heads, head_dim)."""
        heads: Tensor = t.unflatten(-1, (self.config.n_heads, self.config.head_dim))
        return heads


class ChannelMixing(nn.Module):
    """value(relu(key(x mixed with the token before it)) ** 2)."""

    def __init__(self, config: RWKV7Config) -> None:
        super().__init__()
        self.x_k = nn.Parameter(torch.zeros(config.d_model))
        self.key = nn.Linear(config.d_model, config.d_ffn, bias=False)
        self.value = nn.Linear(config.d_ffn, config.d_model, bias=False)

    def forward(self, x: Tensor, last: Tensor) -> Tensor:
        """Take x (batch, length, d_model) float32; return the same shape in float32."""
        mixed = torch.addcmul(x, _shifted(x, last) - x, self.x_k)
        return _in_dtype(self.value, F.relu(self.key(mixed.to(self.key.weight.dtype))).square())


class LowRank(nn.Module):
    """up(activation(down(x))): the data-dependent part of the decay, the gate, the learning rate or the values."""

    def __init__(self, size: int, rank: int, activation: nn.Module, bias: bool = True) -> None:
        super().__init__()
        self.lora = nn.Sequential(nn.Linear(size, rank, bias=False), activation, nn.Linear(rank, size, bias=bias))

    def forward(self, x: Tensor) -> Tensor:
        """Take x (..., size); return the same shape in float32. The bias is added in float32."""
        down, up = cast(nn.Linear, self.lora[0]), cast(nn.Linear, self.lora[2])
        y = F.linear(self.lora[1](_in_dtype(down, x)).to(up.weight.dtype), up.weight).float()
        return y if up.bias is None else y + up.bias


class Float32LayerNorm(nn.Module):
    """A layer norm in float32."""

    def __init__(self, config: RWKV7Config) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.d_model))
        self.bias = nn.Parameter(torch.zeros(config.d_model)) if config.norm_bias else None
        self.eps = config.norm_eps

    def forward(self, x: Tensor) -> Tensor:
        """Return the same shape in float32."""
        return F.layer_norm(x, (x.shape[-1],), self.weight, self.bias, self.eps)


def _shifted(x: Tensor, last: Tensor) -> Tensor:
    """Return the token before each token: `last` (batch, d_model), then x without its last token."""
    return torch.cat((last[:, None], x[:, :-1]), 1)


def _in_dtype(linear: nn.Linear, x: Tensor) -> Tensor:
    """Apply `linear` in the dtype of its weights; return float32."""
    y: Tensor = linear(x.to(linear.weight.dtype))
    return y.float()
