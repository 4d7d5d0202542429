"""Makes random RWKV-7 and xLSTM models of a few thousand weights, in the layouts of the published models."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from tests.engine.tiny_models import EOS, byte_level_bpe

VOCABULARY = 500
RWKV7 = {
    "model_type": "rwkv7",
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "vocab_size": VOCABULARY,
    "head_dim": 8,
    "hidden_ratio": 4.0,
    "intermediate_size": 40,
    "decay_low_rank_dim": 6,
    "gate_low_rank_dim": 5,
    "a_low_rank_dim": 4,
    "v_low_rank_dim": 3,
    "attn": None,
    "norm_first": True,
    "norm_eps": 1e-5,
    "value_dim": [16, 16, 16],
}
XLSTM = {
    "model_type": "xlstm",
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "vocab_size": VOCABULARY,
    "num_heads": 2,
    "qk_dim_factor": 0.5,
    "v_dim_factor": 1.0,
    "ffn_proj_factor": 2.667,
    "ffn_round_up_to_multiple_of": 8,
    "gate_soft_cap": 15.0,
    "chunk_size": 16,
}


class Numbers:
    """A seeded source of normal random numbers."""

    def __init__(self, seed: int) -> None:
        self._make = torch.Generator().manual_seed(seed)

    def __call__(self, *shape: int, scale: float = 1.0, mean: float = 0.0) -> Tensor:
        return torch.randn(*shape, generator=self._make) * scale + mean


def rwkv7_tensors(config: dict[str, Any], seed: int = 0) -> dict[str, Tensor]:
    """Return weights named as in fla-hub/rwkv7-*. Some decays forget within two tokens, some remember thousands."""
    normal, d, f, head = Numbers(seed), config["hidden_size"], config["intermediate_size"], config["head_dim"]
    tensors = {"model.embeddings.weight": normal(config["vocab_size"], d), "lm_head.weight": normal(3, d)}
    norms = ["model.norm", "model.layers.0.pre_norm"]
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        norms += [prefix + "attn_norm", prefix + "ffn_norm", prefix + "attn.g_norm"]
        for letter in "rwkvag":
            tensors[f"{prefix}attn.x_{letter}"] = normal(1, 1, d, scale=0.3, mean=0.5)
        tensors |= {
            prefix + "attn.k_k": normal(d, mean=0.7, scale=0.1),
            prefix + "attn.k_a": normal(d, mean=1, scale=0.2),
            prefix + "attn.r_k": normal(d // head, head, scale=0.3),
            prefix + "ffn.x_k": normal(d, scale=0.3, mean=0.5),
            prefix + "ffn.key.weight": normal(f, d, scale=d**-0.5),
            prefix + "ffn.value.weight": normal(d, f, scale=f**-0.5),
        }
        for letter in "rkvo":
            tensors[f"{prefix}attn.{letter}_proj.weight"] = normal(d, d, scale=d**-0.5)
        for name, mean, scale in (("decay", -3.0, 4.0), ("gate", 0, 0), ("a", 0, 1.0), ("v", 0, 1.0)):
            letter = {"decay": "w", "gate": "g"}.get(name, name)
            if letter == "v" and layer == 0:
                continue
            rank, lora = config[f"{name}_low_rank_dim"], f"{prefix}attn.{letter}_lora.lora."
            tensors[lora + "0.weight"] = normal(rank, d, scale=d**-0.5)
            tensors[lora + "2.weight"] = normal(d, rank, scale=rank**-0.5)
            if letter != "g":
                tensors[lora + "2.bias"] = normal(d, mean=mean, scale=scale)
    for name in norms:
        tensors[name + ".weight"], tensors[name + ".bias"] = normal(d, scale=0.1, mean=1), normal(d, scale=0.1)
    return tensors


def xlstm_tensors(config: dict[str, Any], seed: int = 0) -> dict[str, Tensor]:
    """Return weights named as in NX-AI/xLSTM-7b."""
    normal, d, heads = Numbers(seed), config["hidden_size"], config["num_heads"]
    multiple = config["ffn_round_up_to_multiple_of"]
    f = int((d * config["ffn_proj_factor"] + multiple - 1) // multiple * multiple)
    keys, values = int(d * config["qk_dim_factor"]), int(d * config["v_dim_factor"])
    tensors = {"backbone.embeddings.weight": normal(config["vocab_size"], d), "lm_head.weight": normal(3, d)}
    tensors["backbone.out_norm.weight"] = normal(d, scale=0.1, mean=1)
    for layer in range(config["num_hidden_layers"]):
        prefix = f"backbone.blocks.{layer}."
        rows = {"q": keys, "k": keys, "v": values, "ogate_preact": values, "igate_preact": heads, "fgate_preact": heads}
        for name, n in rows.items():
            scale = 3.0 if name in ("igate_preact", "fgate_preact") else 1.0
            tensors[f"{prefix}mlstm_layer.{name}.weight"] = normal(n, d, scale=scale * d**-0.5)
        tensors |= {
            prefix + "norm_mlstm.weight": normal(d, scale=0.1, mean=1),
            prefix + "norm_ffn.weight": normal(d, scale=0.1, mean=1),
            prefix + "mlstm_layer.igate_preact.bias": normal(heads, scale=2, mean=-3),
            prefix + "mlstm_layer.fgate_preact.bias": normal(heads, scale=2, mean=3),
            prefix + "mlstm_layer.multihead_norm.weight": normal(values, scale=0.1, mean=1),
            prefix + "mlstm_layer.out_proj.weight": normal(d, values, scale=values**-0.5),
            prefix + "ffn.proj_up_gate.weight": normal(f, d, scale=d**-0.5),
            prefix + "ffn.proj_up.weight": normal(f, d, scale=d**-0.5),
            prefix + "ffn.proj_down.weight": normal(d, f, scale=f**-0.5),
        }
    return tensors


def save_family(folder: Path, family: str, seed: int = 0, **changes: Any) -> Path:
    """Save an embedder with the eos readout: config.json, weights and a byte-level BPE."""
    config, tensors = {"rwkv7": (RWKV7, rwkv7_tensors), "xlstm": (XLSTM, xlstm_tensors)}[family]
    config = config | changes
    return save(folder, config, tensors(config, seed))


def save(folder: Path, config: dict[str, Any], tensors: dict[str, Tensor]) -> Path:
    """Save a checkpoint of any family with a tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    save_file(tensors, folder / "model.safetensors")
    byte_level_bpe().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": EOS}), "utf-8")
    return folder
