"""Mamba2 on a CPU without gradients: the same equations in fewer passes over memory.

With some hundreds of channels, half of a step or more is elementwise work. So the weights of norms are multiplied once
into the matrices that follow them; sums and gates are computed in place; biases and activations are fused into the
matrix products. `QuickMamba2` is the twin of `Mamba2`, which still reads probes and slices that need gradients.

On one core (width 384, without MLPs, V = 1,024) it read 1.35 times as many tokens a second as `Mamba2` in bfloat16 at 8
heads of 48, 1.2 at 16 heads, and 1.13 in float32; part of that was a faster scan, which both share now. torch.compile
of the same layer was no faster (1.2 to 1.3); it took half a minute and a C++ compiler. Knows no files, text or vectors.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.mamba2 import MLP, Mamba2, Mamba2Block, Mamba2Mixer, Mamba2State, PostNormBlock
from longsearch.engine.models.ops.int8 import Int8Linear
from longsearch.engine.models.ops.ssd_factored import ssd_scan_factored
from longsearch.engine.models.probes import Probes

_INT8_CHANNELS = 128
_MLP_TOKENS = 1024  # of a thread
_FUSED: bool = torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def can_be_quick(config: Mamba2Config) -> bool:
    """Whether `QuickMamba2` can run the model: it needs one group of B and C, and one group of the gated norm."""
    return config.n_groups == 1 and config.gated_norm_groups in (0, 1)


def can_be_int8(config: Mamba2Config) -> bool:
    """Whether `QuickMamba2` should run the model in int8 where the processor gains by it.

    Only models with MLPs were measured. With some dozens of channels, the passes around a product cost more than it.
    """
    return can_be_quick(config) and config.d_mlp is not None and config.d_model >= _INT8_CHANNELS


class QuickMamba2(Mamba2):
    """A `Mamba2` with norm weights folded into the matrices after them; made by `of`."""

    @classmethod
    def of(cls, model: Mamba2, int8: bool = False) -> "QuickMamba2":
        """Make the quick twin of `model`, whose config `can_be_quick`; they share all weights that are not folded.

        `int8`: run the matrix products of a float32 model whose config `can_be_int8` in int8.
        """
        with torch.device("meta"):
            made = cls(model.config, model.heads)
        weights = dict(model.state_dict())
        for i in range(model.config.n_layers):
            if model.config.d_mlp is None:
                _fold(weights, f"layers.{i}.norm.weight", f"layers.{i}.mixer.in_proj.weight")
            _fold(weights, f"layers.{i}.mixer.norm.weight", f"layers.{i}.mixer.out_proj.weight")
        made.load_state_dict(weights, assign=True)
        made.block_size = model.block_size
        if int8:
            for layer in made.layers:
                for part, names in ((layer.mixer, ("in_proj", "out_proj")), (layer.mlp, ("up", "down"))):
                    for name in names:
                        setattr(part, name, Int8Linear.of(getattr(part, name)))
        return made.train(model.training).requires_grad_(False)

    def step(self, tokens: Tensor, state: Mamba2State) -> tuple[Tensor, Mamba2State]:
        """As `Mamba2.step`. What depends on a token alone is computed once for each distinct token of the slice."""
        if torch.is_grad_enabled():
            return super().step(tokens, state)
        distinct, where = tokens.unique(return_inverse=True)
        return self._read(self.embeddings(distinct), where, state)

    def step_embedded(
        self, embedded: Tensor, state: Mamba2State, probes: Probes | None = None
    ) -> tuple[Tensor, Mamba2State]:
        """As `Mamba2.step_embedded`."""
        if probes is not None or torch.is_grad_enabled():
            return super().step_embedded(embedded, state, probes)
        return self._read(embedded, None, state)

    def _read(self, embedded: Tensor, where: Tensor | None, state: Mamba2State) -> tuple[Tensor, Mamba2State]:
        """As `step_embedded`, of embeddings (batch, length, d_model); or of those of the distinct tokens (n, d_model).

        `where` (batch, length) then says which of these each token has.
        """
        hidden = embedded.to(torch.float32, copy=True)
        conv, ssm = [], []
        for layer, layer_conv, layer_ssm in zip(self.layers, state.conv, state.ssm, strict=True):
            block = cast(Mamba2Block | PostNormBlock, layer)
            projected = _project(block, hidden)
            if where is not None:
                hidden, projected, where = hidden[where], [part[where] for part in projected], None
            mixed, layer_conv, layer_ssm = _mix(block.mixer, projected, layer_conv, layer_ssm, self.block_size)
            hidden = _finish(block, hidden, mixed)
            conv.append(layer_conv)
            ssm.append(layer_ssm)
        return self.norm_f(hidden.float()), Mamba2State(tuple(conv), tuple(ssm))


def _project(block: Mamba2Block | PostNormBlock, hidden: Tensor) -> list[Tensor]:
    """Return silu(z), xBC and dt of the hidden states (..., d_model): what the mixer takes from each token alone."""
    mixer, c = block.mixer, block.mixer.config
    dtype = mixer.in_proj.weight.dtype
    pre_norm = isinstance(block, Mamba2Block)
    u = _scale_by_rms(hidden.to(dtype, copy=True), hidden, c.norm_eps) if pre_norm else hidden.to(dtype)
    z, xBC, dt = _linear(u, mixer.in_proj).split((c.d_inner, c.d_conv_channels, c.n_heads), dim=-1)
    return [F.silu(z), xBC, F.softplus(dt.float().add_(mixer.dt_bias.float())).clamp_(c.dt_min, c.dt_max)]


def _finish(block: Mamba2Block | PostNormBlock, hidden: Tensor, mixed: Tensor) -> Tensor:
    """Return what follows the mixer's norm, as `Mamba2Block` and `PostNormBlock`. Changes `hidden` if no norm follows.

    The sums of a `PostNormBlock` have the dtype of the weights, for a norm follows each.
    """
    if isinstance(block, Mamba2Block):
        return hidden.add_(_linear(mixed, block.mixer.out_proj))
    hidden = block.mixer_norm(_sum(hidden.to(mixed.dtype), mixed, block.mixer.out_proj))
    summed: Tensor = block.mlp_norm(_sum_of_mlp(hidden, block.mlp))
    return summed


def _linear(x: Tensor, linear: nn.Linear, activation: str = "none") -> Tensor:
    """activation(linear(x)): in int8, or by oneDNN's fused product if this processor has one.

    Compiled models call the same. torch's own product writes the bias in a pass of its own. Fusing gives 1.3 times the
    tokens a second with MLPs, 1.15 without.
    """
    if isinstance(linear, Int8Linear):
        return linear.activated(x, activation)
    if x.dtype == torch.bfloat16 and _FUSED:
        fused: Tensor = torch.ops.mkldnn._linear_pointwise(x, linear.weight, linear.bias, activation, [], "none")
        return fused
    return F.hardswish(linear(x)) if activation == "hardswish" else linear(x)


def _sum(hidden: Tensor, x: Tensor, linear: nn.Linear) -> Tensor:
    """hidden + linear(x), fused likewise and rounded once."""
    if isinstance(linear, Int8Linear):
        return linear.activated(x, "none").add_(hidden)
    if x.dtype == torch.bfloat16 and _FUSED:
        fused: Tensor = torch.ops.mkldnn._linear_pointwise.binary(x, hidden, linear.weight, linear.bias, "add")
        return fused
    plain: Tensor = hidden + linear(x)
    return plain


def _sum_of_mlp(hidden: Tensor, mlp: MLP) -> Tensor:
    """hidden + mlp(hidden). May change `hidden`.

    In int8, the blocks have so many tokens that their inner activations stay in the processor's caches.
    """
    if not (isinstance(mlp.up, Int8Linear) and isinstance(mlp.down, Int8Linear)):
        return _sum(hidden, _linear(hidden, mlp.up, "hardswish"), mlp.down)
    for block in hidden.flatten(0, -2).split(_MLP_TOKENS * torch.get_num_threads()):
        block.add_(mlp.down.after_hardswish(mlp.up.activated(block, "hardswish")))
    return hidden


def _fold(weights: dict[str, Tensor], norm: str, matrix: str) -> None:
    """Multiply a norm's weight into the matrix after it: (x * norm) @ matrix.T = x @ (norm * matrix).T."""
    weights[matrix] = (weights[matrix].float() * weights[norm].float()).to(weights[matrix].dtype)
    weights[norm] = torch.ones_like(weights[norm])


def _scale_by_rms(x: Tensor, exact: Tensor, eps: float) -> Tensor:
    """Divide x (batch, length, channels) in place by the rms of `exact`, which x may be rounded from, and return it.

    The mean square is summed in float32.
    """
    square = torch.linalg.vector_norm(exact, dim=-1, keepdim=True, dtype=torch.float32).square_()
    return x.mul_(square.div_(x.shape[-1]).add_(eps).rsqrt_().to(x.dtype))


def _mix(
    mixer: Mamba2Mixer, projected: list[Tensor], conv: Tensor, ssm: Tensor, block_size: int
) -> tuple[Tensor, Tensor, Tensor]:
    """As `Mamba2Mixer.forward`, from silu(z), xBC and dt to what out_proj takes, (batch, length, d_inner)."""
    c = mixer.config
    gate, xBC, dt = projected
    xBC, conv = mixer.convolve(xBC, conv)
    x, B, C = xBC.split((c.d_inner, c.d_state, c.d_state), dim=-1)
    heads, A = x.unflatten(-1, (c.n_heads, c.head_dim)), -mixer.A_log.float().exp()
    y, ssm = ssd_scan_factored(heads, dt, A, B[:, :, None], C[:, :, None], ssm, block_size)
    y, D = y.flatten(-2), mixer.D.to(y.dtype).repeat_interleave(c.head_dim)  # (batch, length, d_inner), (d_inner,)
    y.addcmul_(x, D).mul_(gate)
    return _scale_by_rms(y, y, c.norm_eps), conv, ssm
