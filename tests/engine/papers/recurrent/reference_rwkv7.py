"""RWKV-7 in float64, one token and one head at a time: the slow twin, from the equations of arXiv 2503.14456.

Takes tensors named as in fla-hub/rwkv7-*. Shares no code with `engine.models`.
"""

import math
from typing import Any

import torch
from torch import Tensor


def hidden_states(config: dict[str, Any], stored: dict[str, Tensor], tokens: list[int]) -> Tensor:
    """Return the hidden states (length, d_model) of one sequence, after the final norm."""
    tensors = {name.removeprefix("model."): tensor.double() for name, tensor in stored.items()}
    stream = [tensors["embeddings.weight"][token] for token in tokens]
    if config["norm_first"]:
        stream = [_norm(x, tensors, "layers.0.pre_norm", config) for x in stream]
    v_first: list[Tensor] = []
    for layer in range(config["num_hidden_layers"]):
        prefix = f"layers.{layer}."
        own = {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
        stream = _time_mixing(stream, own, v_first, layer, config)
        stream = _channel_mixing(stream, own, config)
    return torch.stack([_norm(x, tensors, "norm", config) for x in stream])


def _time_mixing(
    stream: list[Tensor], own: dict[str, Tensor], v_first: list[Tensor], layer: int, config: dict[str, Any]
) -> list[Tensor]:
    d, size = config["hidden_size"], config["head_dim"]
    last = torch.zeros(d, dtype=torch.float64)
    states = [torch.zeros(size, size, dtype=torch.float64) for _ in range(d // size)]  # (value, key), as in the paper
    out = []
    for t, x in enumerate(stream):
        normed = _norm(x, own, "attn_norm", config)
        mix = {letter: normed + (last - normed) * own[f"attn.x_{letter}"].flatten() for letter in "rwkvag"}
        last = normed
        r, k, v = (own[f"attn.{letter}_proj.weight"] @ mix[letter] for letter in "rkv")
        decay = torch.exp(-math.exp(-0.5) * torch.sigmoid(_low_rank(own, "w", torch.tanh, mix["w"])))
        rate = torch.sigmoid(_low_rank(own, "a", lambda y: y, mix["a"]))
        gate = _low_rank(own, "g", torch.sigmoid, mix["g"])
        if layer == 0:
            v_first.append(v)
        else:
            v = v + (v_first[t] - v) * torch.sigmoid(_low_rank(own, "v", lambda y: y, mix["v"]))
        removal = k * own["attn.k_k"]
        k = k * (1 + (rate - 1) * own["attn.k_a"])
        heads = []
        for head in range(d // size):
            part = slice(head * size, (head + 1) * size)
            kappa = removal[part] / removal[part].norm()
            transition = torch.diag(decay[part]) - torch.outer(kappa, kappa * rate[part])
            states[head] = states[head] @ transition + torch.outer(v[part], k[part])
            y = states[head] @ r[part]
            y = (y - y.mean()) / torch.sqrt(y.var(unbiased=False) + size * config["norm_eps"])
            y = y * own["attn.g_norm.weight"][part] + own["attn.g_norm.bias"][part]
            heads.append(y + (r[part] * k[part] * own["attn.r_k"][head]).sum() * v[part])
        out.append(x + own["attn.o_proj.weight"] @ (torch.cat(heads) * gate))
    return out


def _channel_mixing(stream: list[Tensor], own: dict[str, Tensor], config: dict[str, Any]) -> list[Tensor]:
    last = torch.zeros(config["hidden_size"], dtype=torch.float64)
    out = []
    for x in stream:
        normed = _norm(x, own, "ffn_norm", config)
        mixed = normed + (last - normed) * own["ffn.x_k"]
        last = normed
        out.append(x + own["ffn.value.weight"] @ torch.relu(own["ffn.key.weight"] @ mixed) ** 2)
    return out


def _low_rank(own: dict[str, Tensor], letter: str, activation: Any, x: Tensor) -> Tensor:
    prefix = f"attn.{letter}_lora.lora."
    y = own[prefix + "2.weight"] @ activation(own[prefix + "0.weight"] @ x)
    return y + own.get(prefix + "2.bias", torch.zeros(()))


def _norm(x: Tensor, tensors: dict[str, Tensor], name: str, config: dict[str, Any]) -> Tensor:
    scaled = (x - x.mean()) / torch.sqrt(x.var(unbiased=False) + config["norm_eps"])
    return scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]
