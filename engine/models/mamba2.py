"""Mamba2 as an encoder: takes tokens and a state, returns hidden states and the next state.

Shapes, with the letters of the papers:

    tokens         (batch, length)
    hidden, u      (batch, length, d_model)
    z              (batch, length, d_inner)            d_inner = heads * head_dim
    xBC            (batch, length, d_conv_channels)    x, B and C side by side: d_inner + 2 * groups * d_state
    x, y           (batch, length, heads, head_dim)
    B, C           (batch, length, groups, d_state)
    dt             (batch, length, heads)
    A, D           (heads,)
    conv           (batch, d_conv - 1, d_conv_channels), the last inputs of the convolution
    ssm            (batch, heads, head_dim, d_state), the state h of the recurrence

Each head computes (Dao and Gu, arXiv 2405.21060, section 7):

    h_t = exp(dt_t A) h_{t-1} + dt_t B_t x_t
    y_t = C_t h_t + D x_t

A slice of many tokens must carry both states, conv and ssm. Packaged mixers do that only for one token at a time, which
is why the mixer is written out here. Knows no files, text or vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.embedding import token_table
from longsearch.engine.models.ops.kernels import convolve, gated_norm, ssd_scan
from longsearch.engine.models.probes import Probes
from longsearch.engine.models.recurrent import LayerState, RecurrentModel
from longsearch.engine.models.without_torch.heads import at_heads


@dataclass(frozen=True, slots=True)
class Mamba2State(LayerState):
    """The state that passes from one slice to the next. Its size does not depend on the number of tokens read."""

    conv: tuple[Tensor, ...]
    """For each layer the last inputs of the convolution, (batch, d_conv - 1, d_conv_channels)."""
    ssm: tuple[Tensor, ...]
    """For each layer h, (batch, heads, head_dim, d_state), always float32 (bfloat16 drifts by 10 % in 200k tokens)."""


class Mamba2(RecurrentModel):
    """The whole model: an embedding, `n_layers` blocks, and a final norm if the checkpoint has one."""

    def __init__(self, config: Mamba2Config, heads: Sequence[int] | None = None) -> None:
        """`heads`: the number of heads of each layer, for a width of a MatMamba model; None means `config.n_heads`."""
        super().__init__()
        self.config = config
        self.heads = tuple(heads or (config.n_heads,) * config.n_layers)
        self.embeddings = token_table(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList(_block(at_heads(config, n)) for n in self.heads)
        self.norm_f = RMSNorm(config.d_model, config.norm_eps) if config.final_norm else nn.Identity()
        self.block_size = config.block_size

    def initial_state(self, batch: int = 1) -> Mamba2State:
        """See `RecurrentModel`."""
        return empty_state(self.config, self.heads, batch, self.embeddings.weight)

    def step(self, tokens: Tensor, state: Mamba2State) -> tuple[Tensor, Mamba2State]:
        """See `RecurrentModel`."""
        return self.step_embedded(self.embeddings(tokens), state)

    def step_probed(self, tokens: Tensor, mask: NDArray[np.bool_], state: Mamba2State) -> tuple[Tensor, Mamba2State]:
        """Read a slice in which the tokens under `mask` (batch, length) are probes: no other token sees them."""
        probes = Probes.locate(mask, self.config.d_conv, self.device)
        return self.step_embedded(self.embeddings(tokens), state, probes)

    def step_embedded(
        self, embedded: Tensor, state: Mamba2State, probes: Probes | None = None
    ) -> tuple[Tensor, Mamba2State]:
        """Read a slice, given as the embeddings (batch, length, d_model) of its tokens."""
        hidden = embedded.float()  # the residual stream stays float32
        conv, ssm = [], []
        for layer, layer_conv, layer_ssm in zip(self.layers, state.conv, state.ssm, strict=True):
            hidden, layer_conv, layer_ssm = layer(hidden, layer_conv, layer_ssm, self.block_size, probes)
            conv.append(layer_conv)
            ssm.append(layer_ssm)
        return self.norm_f(hidden), Mamba2State(tuple(conv), tuple(ssm))

    def forward(self, tokens: Tensor) -> Tensor:
        """Read whole sequences from the empty state in one slice; return hidden (batch, length, d_model) float32."""
        hidden, _ = self.step(tokens, self.initial_state(tokens.shape[0]))
        return hidden


def empty_state(config: Mamba2Config, heads: Sequence[int], batch: int, like: Tensor) -> Mamba2State:
    """Return the state before the first token of a model whose layers have `heads`, on the device of `like`.

    conv has the dtype of `like`.
    """
    conv, ssm = [], []
    for n in heads:
        channels = replace(config, n_heads=n).d_conv_channels
        conv.append(torch.zeros(batch, config.d_conv - 1, channels, device=like.device, dtype=like.dtype))
        ssm.append(torch.zeros(batch, n, config.head_dim, config.d_state, device=like.device))
    return Mamba2State(tuple(conv), tuple(ssm))


def _block(config: Mamba2Config) -> "Mamba2Block | PostNormBlock":
    return Mamba2Block(config) if config.d_mlp is None else PostNormBlock(config, config.d_mlp)


class Mamba2Block(nn.Module):
    """One layer without an MLP: hidden + mixer(norm(hidden))."""

    def __init__(self, config: Mamba2Config) -> None:
        super().__init__()
        self.norm = RMSNorm(config.d_model, config.norm_eps)
        self.mixer = Mamba2Mixer(config)

    def forward(
        self, hidden: Tensor, conv: Tensor, ssm: Tensor, block_size: int, probes: Probes | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return hidden and both states after the slice. The sum is in float32, the mixer in its weights' dtype."""
        mixed, conv, ssm = self.mixer(self.norm(hidden), conv, ssm, block_size, probes)
        return hidden + mixed.float(), conv, ssm


class PostNormBlock(nn.Module):
    """One layer of BERT (Devlin et al. 2019) with a mixer in place of attention: a norm follows each sum.

    So training can start from a BERT's MLPs, norms and value projections.
    """

    def __init__(self, config: Mamba2Config, d_mlp: int) -> None:
        super().__init__()
        self.mixer = Mamba2Mixer(config)
        self.mixer_norm = nn.LayerNorm(config.d_model, config.norm_eps)
        self.mlp = MLP(config.d_model, d_mlp)
        self.mlp_norm = nn.LayerNorm(config.d_model, config.norm_eps)

    def forward(
        self, hidden: Tensor, conv: Tensor, ssm: Tensor, block_size: int, probes: Probes | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return hidden and both states after the slice. Sums and norms are in float32, the rest in its own dtype."""
        mixed, conv, ssm = self.mixer(hidden, conv, ssm, block_size, probes)
        hidden = self.mixer_norm(hidden + mixed.float())
        return self.mlp_norm(hidden + self.mlp(hidden).float()), conv, ssm


class MLP(nn.Module):
    """down(hardswish(up(x))) for each token.

    hardswish(1.7 x) / 1.7 differs from GELU by at most 0.07 and costs a comparison and two products. GELU itself took
    as long as the matrix product before it. BERT's weights absorb the 1.7 (`engine.training.student.from_teacher`).
    """

    def __init__(self, d_model: int, d_mlp: int) -> None:
        super().__init__()
        self.up = nn.Linear(d_model, d_mlp)
        self.down = nn.Linear(d_mlp, d_model)

    def forward(self, hidden: Tensor) -> Tensor:
        """Take hidden (..., d_model) of any dtype; return the same shape in the dtype of the weights."""
        mixed: Tensor = self.down(F.hardswish(self.up(hidden.to(self.up.weight.dtype))))
        return mixed


class Mamba2Mixer(nn.Module):
    """Projection, causal convolution, SSD scan, gated norm, projection (Dao and Gu, section 7)."""

    def __init__(self, config: Mamba2Config) -> None:
        super().__init__()
        self.config = c = config
        self.in_proj = nn.Linear(c.d_model, c.d_inner + c.d_conv_channels + c.n_heads, bias=c.use_bias)
        self.conv1d = nn.Conv1d(
            c.d_conv_channels, c.d_conv_channels, c.d_conv, groups=c.d_conv_channels, bias=c.use_conv_bias
        )
        self.dt_bias = nn.Parameter(torch.zeros(c.n_heads))
        self.A_log = nn.Parameter(torch.zeros(c.n_heads))
        self.D = nn.Parameter(torch.ones(c.n_heads))
        self.norm = GatedRMSNorm(c.d_inner, c.gated_norm_groups, c.norm_eps)
        self.out_proj = nn.Linear(c.d_inner, c.d_model, bias=c.use_bias)

    def forward(
        self, u: Tensor, conv: Tensor, ssm: Tensor, block_size: int, probes: Probes | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Take u (batch, length, d_model); return the mixed tokens, of the same shape, and both states after them."""
        c = self.config
        # 1. project u to z, xBC and dt
        projected = self.in_proj(u.to(self.conv1d.weight.dtype))
        z, xBC, dt = projected.split((c.d_inner, c.d_conv_channels, c.n_heads), dim=-1)
        # 2. convolve x, B and C over the tokens
        xBC, conv = self.convolve(xBC, conv, probes)
        x, B, C = xBC.split((c.d_inner, c.n_groups * c.d_state, c.n_groups * c.d_state), dim=-1)
        x = x.unflatten(-1, (c.n_heads, c.head_dim))  # (batch, length, heads, head_dim)
        B, C = (t.unflatten(-1, (c.n_groups, c.d_state)) for t in (B, C))  # (batch, length, groups, d_state)
        # 3. make the steps dt positive and the rates A negative
        dt = F.softplus(dt.float() + self.dt_bias.float()).clamp(c.dt_min, c.dt_max)
        A = -self.A_log.float().exp()
        # 4. scan: h_t = exp(dt_t A) h_{t-1} + dt_t B_t x_t, y_t = C_t h_t; dt = 0 keeps a probe out of h
        remembered = dt if probes is None else dt.masked_fill(probes.mask[..., None], 0)
        y, ssm = ssd_scan(x, remembered, A, B, C, ssm, block_size)
        if probes is not None:
            y = probes.add_own_steps(y, x, dt, A, B, C)
        # 5. add D x, gate with z, normalise and project back to d_model
        D = self.D.to(x.dtype).repeat_interleave(c.head_dim)  # repeated over channels: twice as fast as over heads
        y = y.flatten(-2) + x.flatten(-2) * D
        return self.out_proj(self.norm(y, z)), conv, ssm

    def convolve(self, xBC: Tensor, conv: Tensor, probes: Probes | None = None) -> tuple[Tensor, Tensor]:
        """Return silu(convolution) of xBC, channel by channel and causal, and the conv state after the slice."""
        extended = torch.cat((conv.to(xBC.dtype), xBC), dim=1)  # (batch, d_conv - 1 + length, channels)
        out = convolve(extended, self.conv1d.weight, self.conv1d.bias)
        if probes is not None:
            return probes.repair_convolution(
                out, extended, self.conv1d.weight, self.conv1d.bias
            ), probes.carried_inputs(extended)
        # without the clone, the state would keep the memory of the whole slice alive
        return out, extended[:, xBC.shape[1] :].clone()


class RMSNorm(nn.Module):
    """x / rms(x) * weight, in float32."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Return the same shape in float32."""
        return F.rms_norm(x.float(), (x.shape[-1],), self.weight.float(), self.eps)


class GatedRMSNorm(nn.Module):
    """RMSNorm of y * silu(z), over groups of channels."""

    def __init__(self, size: int, groups: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.groups = groups
        self.eps = eps

    def forward(self, y: Tensor, z: Tensor) -> Tensor:
        """Return the shape and dtype of y. The mean square is summed in float32."""
        return gated_norm(y, z, self.weight, self.groups, self.eps)
