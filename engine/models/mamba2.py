"""Mamba2 as an encoder: tokens and a state in, hidden states and the next state out.

The mixer is written out here because a slice of many tokens must carry both states, the convolution's and the SSM's,
which packaged mixers do only one token at a time. Knows no files, text or vectors.
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
from longsearch.engine.models.state import LayerState


@dataclass(frozen=True, slots=True)
class Mamba2State(LayerState):
    """All that is carried from one slice to the next; its size does not depend on how much was read."""

    conv: tuple[Tensor, ...]
    """A layer each: the convolution's last inputs (batch, d_conv - 1, d_conv_channels)."""
    ssm: tuple[Tensor, ...]
    """A layer each: (batch, heads, head_dim, d_state), float32 always (bfloat16 drifts 10 % in 200k tokens)."""


class Mamba2(nn.Module):
    """The stack: embedding, `n_layers` residual mixers, final norm where the checkpoint has one."""

    def __init__(self, config: Mamba2Config, heads: Sequence[int] | None = None) -> None:
        """`heads`: how many each layer has, where not all have `config.n_heads` (a width of a MatMamba model)."""
        super().__init__()
        self.config = config
        self.heads = tuple(heads or (config.n_heads,) * config.n_layers)
        self.embeddings = token_table(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList(_block(at_heads(config, n)) for n in self.heads)
        self.norm_f = RMSNorm(config.d_model, config.norm_eps) if config.final_norm else nn.Identity()
        self.block_size = config.block_size

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.embeddings.weight.device

    def initial_state(self, batch: int = 1) -> Mamba2State:
        """The state before anything was read."""
        return empty_state(self.config, self.heads, batch, self.embeddings.weight)

    def step(self, tokens: Tensor, state: Mamba2State) -> tuple[Tensor, Mamba2State]:
        """Read a slice of any length. tokens (batch, length) integers -> hidden (batch, length, d_model) float32."""
        return self.step_embedded(self.embeddings(tokens), state)

    def step_probed(self, tokens: Tensor, mask: NDArray[np.bool_], state: Mamba2State) -> tuple[Tensor, Mamba2State]:
        """As `step`; tokens where `mask` (batch, length) is true have hidden states, but leave no trace in others."""
        probes = Probes.locate(mask, self.config.d_conv, self.device)
        return self.step_embedded(self.embeddings(tokens), state, probes)

    def step_embedded(
        self, embedded: Tensor, state: Mamba2State, probes: Probes | None = None
    ) -> tuple[Tensor, Mamba2State]:
        """As `step`, from the tokens' embeddings (batch, length, d_model)."""
        hidden = embedded.float()  # the residual stream stays float32
        conv, ssm = [], []
        for layer, layer_conv, layer_ssm in zip(self.layers, state.conv, state.ssm, strict=True):
            hidden, layer_conv, layer_ssm = layer(hidden, layer_conv, layer_ssm, self.block_size, probes)
            conv.append(layer_conv)
            ssm.append(layer_ssm)
        return self.norm_f(hidden), Mamba2State(tuple(conv), tuple(ssm))

    def forward(self, tokens: Tensor) -> Tensor:
        """Hidden states of whole sequences from an empty state, (batch, length, d_model): the horizontal pass."""
        hidden, _ = self.step(tokens, self.initial_state(tokens.shape[0]))
        return hidden


def empty_state(config: Mamba2Config, heads: Sequence[int], batch: int, like: Tensor) -> Mamba2State:
    """The state before anything was read of a model whose layers have `heads`, on the device of `like`.

    The convolution's part has the dtype of `like`.
    """
    conv, ssm = [], []
    for n in heads:
        channels = replace(config, n_heads=n).d_conv_channels
        conv.append(torch.zeros(batch, config.d_conv - 1, channels, device=like.device, dtype=like.dtype))
        ssm.append(torch.zeros(batch, n, config.head_dim, config.d_state, device=like.device))
    return Mamba2State(tuple(conv), tuple(ssm))


def at_heads(config: Mamba2Config, heads: int) -> Mamba2Config:
    """A layer's config where it has `heads` of the config's: its MLP, if there is one, is as much narrower."""
    d_mlp = None if config.d_mlp is None else max(1, config.d_mlp * heads // config.n_heads)
    return replace(config, n_heads=heads, d_mlp=d_mlp)


def _block(config: Mamba2Config) -> "Mamba2Block | PostNormBlock":
    return Mamba2Block(config) if config.d_mlp is None else PostNormBlock(config, config.d_mlp)


class Mamba2Block(nn.Module):
    """hidden + mixer(norm(hidden))."""

    def __init__(self, config: Mamba2Config) -> None:
        super().__init__()
        self.norm = RMSNorm(config.d_model, config.norm_eps)
        self.mixer = Mamba2Mixer(config)

    def forward(
        self, hidden: Tensor, conv: Tensor, ssm: Tensor, block_size: int, probes: Probes | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Residual in float32; the mixer in the dtype of its weights."""
        mixed, conv, ssm = self.mixer(self.norm(hidden), conv, ssm, block_size, probes)
        return hidden + mixed.float(), conv, ssm


class PostNormBlock(nn.Module):
    """A layer of BERT (Devlin et al. 2019) with a mixer in the place of attention: sums are normalised, not inputs.

    So weights of a BERT's MLPs, norms and value projections are a start for it.
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
        """Sums and norms in float32; mixer and MLP in the dtype of their weights."""
        mixed, conv, ssm = self.mixer(hidden, conv, ssm, block_size, probes)
        hidden = self.mixer_norm(hidden + mixed.float())
        return self.mlp_norm(hidden + self.mlp(hidden).float()), conv, ssm


class MLP(nn.Module):
    """down(hardswish(up(x))), token by token.

    hardswish(s x) / s is GELU's shape (s = 1.7; the difference is 0.07 at most) for a comparison and two products: GELU
    itself took as long as the matrix before it. BERT's weights take the s in, see `engine.training.from_teacher`.
    """

    def __init__(self, d_model: int, d_mlp: int) -> None:
        super().__init__()
        self.up = nn.Linear(d_model, d_mlp)
        self.down = nn.Linear(d_mlp, d_model)

    def forward(self, hidden: Tensor) -> Tensor:
        """hidden (..., d_model) of any dtype -> the same shape, in the dtype of the weights."""
        mixed: Tensor = self.down(F.hardswish(self.up(hidden.to(self.up.weight.dtype))))
        return mixed


class Mamba2Mixer(nn.Module):
    """Projection, causal convolution, SSD scan, gated norm, projection (Dao and Gu 2024, section 7)."""

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
        """u (batch, length, d_model) -> mixed, of the same shape, and both states after its last token."""
        c = self.config
        projected = self.in_proj(u.to(self.conv1d.weight.dtype))
        z, xBC, dt = projected.split((c.d_inner, c.d_conv_channels, c.n_heads), dim=-1)
        xBC, conv = self.convolve(xBC, conv, probes)
        x, B, C = xBC.split((c.d_inner, c.n_groups * c.d_state, c.n_groups * c.d_state), dim=-1)
        x = x.unflatten(-1, (c.n_heads, c.head_dim))  # (batch, length, heads, head_dim)
        B, C = (t.unflatten(-1, (c.n_groups, c.d_state)) for t in (B, C))  # (batch, length, groups, d_state)
        dt = F.softplus(dt.float() + self.dt_bias.float()).clamp(c.dt_min, c.dt_max)
        A = -self.A_log.float().exp()
        remembered = dt if probes is None else dt.masked_fill(probes.mask[..., None], 0)
        y, ssm = ssd_scan(x, remembered, A, B, C, ssm, block_size)
        if probes is not None:
            y = probes.answer(y, x, dt, A, B, C)
        D = self.D.to(x.dtype).repeat_interleave(c.head_dim)  # over channels: twice as fast as over heads
        y = y.flatten(-2) + x.flatten(-2) * D
        return self.out_proj(self.norm(y, z)), conv, ssm

    def convolve(self, xBC: Tensor, conv: Tensor, probes: Probes | None = None) -> tuple[Tensor, Tensor]:
        """Depthwise causal convolution that begins where the last slice ended, then SiLU."""
        extended = torch.cat((conv.to(xBC.dtype), xBC), dim=1)  # (batch, d_conv - 1 + length, channels)
        out = convolve(extended, self.conv1d.weight, self.conv1d.bias)
        if probes is not None:
            return probes.mend(out, extended, self.conv1d.weight, self.conv1d.bias), probes.carried(extended)
        # cloned, or the state would keep the whole slice's memory alive
        return out, extended[:, xBC.shape[1] :].clone()


class RMSNorm(nn.Module):
    """x / rms(x) * weight, in float32."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Same shape, float32."""
        return F.rms_norm(x.float(), (x.shape[-1],), self.weight.float(), self.eps)


class GatedRMSNorm(nn.Module):
    """RMSNorm over groups of channels of y * silu(z)."""

    def __init__(self, size: int, groups: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.groups = groups
        self.eps = eps

    def forward(self, y: Tensor, z: Tensor) -> Tensor:
        """Same shape and dtype as y; the mean square is summed in float32."""
        return gated_norm(y, z, self.weight, self.groups, self.eps)
