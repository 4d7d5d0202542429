"""Mamba2 in float64, one token at a time: the slow twin of every fast path.

Written from the equations (Dao and Gu, arXiv 2405.21060, section 7). Shares no code with `engine`.
"""

from typing import Any

import torch
from torch import Tensor


def slow_scan(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """Compute h_t = exp(dt A) h_{t-1} + dt B x, y = C h in float64. Shapes as in `ssd_scan`."""
    x, dt, A, B, C, state = (t.double() for t in (x, dt, A, B, C, state))
    heads_a_group = x.shape[2] // B.shape[2]
    outputs = []
    for t in range(x.shape[1]):
        B_t, C_t = (M[:, t].repeat_interleave(heads_a_group, dim=1) for M in (B, C))  # (batch, heads, d_state)
        decay = (dt[:, t] * A).exp()[..., None, None]
        state = decay * state + dt[:, t, :, None, None] * x[:, t, :, :, None] * B_t[:, :, None, :]
        outputs.append((state * C_t[:, :, None, :]).sum(-1))
    return torch.stack(outputs, dim=1), state


def slow_model(tensors: dict[str, Tensor], config: dict[str, Any], tokens: Tensor) -> Tensor:
    """Return the hidden states (length, hidden_size) of tokens (length,) in float64."""
    w = {name: tensor.double() for name, tensor in tensors.items()}
    eps = config["layer_norm_epsilon"]
    hidden = w["embeddings.weight"][tokens]
    for layer in range(config["num_hidden_layers"]):
        own = {n.removeprefix(f"layers.{layer}."): t for n, t in w.items() if n.startswith(f"layers.{layer}.")}
        if "intermediate_size" in config:
            hidden = _layer_norm(hidden + _mixer(own, config, hidden), own, "mixer_norm", eps)
            inner = hidden @ own["mlp.up.weight"].T + own["mlp.up.bias"]
            inner = inner * (inner + 3).clamp(0, 6) / 6  # hardswish
            mixed = inner @ own["mlp.down.weight"].T + own["mlp.down.bias"]
            hidden = _layer_norm(hidden + mixed, own, "mlp_norm", eps)
        else:
            hidden = hidden + _mixer(own, config, _rms(hidden, eps) * own["norm.weight"])
    return _rms(hidden, eps) * w["norm_f.weight"] if "norm_f.weight" in w else hidden


def _mixer(w: dict[str, Tensor], config: dict[str, Any], u: Tensor) -> Tensor:
    heads, head_dim, groups, d_state = (config[n] for n in ("num_heads", "head_dim", "n_groups", "state_size"))
    inner = heads * head_dim
    projected = u @ w["mixer.in_proj.weight"].T + w.get("mixer.in_proj.bias", 0)
    z, xBC, dt = projected.split_with_sizes((inner, inner + 2 * groups * d_state, heads), dim=-1)
    xBC = _windowed_convolution(xBC, w["mixer.conv1d.weight"][:, 0], w.get("mixer.conv1d.bias"))
    x, B, C = xBC.split_with_sizes((inner, groups * d_state, groups * d_state), dim=-1)
    x = x.reshape(1, -1, heads, head_dim)
    B, C = (M.reshape(1, -1, groups, d_state) for M in (B, C))
    dt = torch.log1p(torch.exp(dt + w["mixer.dt_bias"])).clamp(*config["time_step_limit"])
    state = torch.zeros(1, heads, head_dim, d_state)
    y, _ = slow_scan(x, dt[None], -w["mixer.A_log"].exp(), B, C, state)
    y = (y + x * w["mixer.D"][:, None]).reshape(-1, inner)
    gated = y * z * torch.sigmoid(z)
    norm_groups = config.get("gated_norm_groups", groups)
    normed = torch.cat([_rms(part, config["layer_norm_epsilon"]) for part in gated.chunk(norm_groups, dim=-1)], dim=-1)
    return normed * w["mixer.norm.weight"] @ w["mixer.out_proj.weight"].T + w.get("mixer.out_proj.bias", 0)


def _windowed_convolution(xBC: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
    """Compute each output from a window of the last inputs, then SiLU."""
    width = kernel.shape[1]
    padded = torch.cat((torch.zeros(width - 1, xBC.shape[1], dtype=xBC.dtype), xBC))
    rows = [(padded[t : t + width].T * kernel).sum(1) for t in range(len(xBC))]
    out = torch.stack(rows) + (bias if bias is not None else 0)
    return out * torch.sigmoid(out)


def _layer_norm(x: Tensor, w: dict[str, Tensor], name: str, eps: float) -> Tensor:
    return _rms(x - x.mean(-1, keepdim=True), eps) * w[f"{name}.weight"] + w[f"{name}.bias"]


def _rms(x: Tensor, eps: float) -> Tensor:
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt()
