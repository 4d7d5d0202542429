"""Reads the config.json of an xLSTM checkpoint in the layout of Hugging Face. Reads no weights."""

from dataclasses import dataclass
from typing import Any

from longsearch.engine.errors import ModelError


@dataclass(frozen=True, slots=True)
class XLSTMConfig:
    """The shape of an xLSTM of mLSTM blocks. Names are those of the papers, defaults those of xLSTM 7B."""

    d_model: int
    n_layers: int
    vocab_size: int
    n_heads: int
    key_dim: int
    """Channels of the keys of one head."""
    value_dim: int
    """Channels of the values of one head."""
    d_ffn: int
    block_size: int = 64
    """Q, in tokens."""
    norm_eps: float = 1e-6
    eps: float = 1e-6
    """Added to the normaliser of the memory."""
    gate_cap: float = 15.0
    """Bounds the gates: the input gate before its exponential, the forget gate before its sigmoid, at +-gate_cap."""
    final_norm: bool = True


def read_xlstm(raw: dict[str, Any]) -> XLSTMConfig:
    """Read the sizes. Raises ModelError for a variant that cannot be run, KeyError or TypeError for a damaged file."""
    if raw.get("slstm_at") or raw.get("slstm_block"):
        raise ModelError(
            "it has sLSTM layers", "only xLSTM models that have nothing but mLSTM blocks, such as xLSTM 7B, can be read"
        )
    if raw.get("weight_mode", "single") != "single" or raw.get("use_bias"):
        raise ModelError("its weights are fused or have biases", "only xLSTM in the layout of xLSTM 7B can be read")
    d_model, n_heads = raw.get("hidden_size") or raw["embedding_dim"], raw["num_heads"]
    multiple = raw.get("ffn_round_up_to_multiple_of", 64)
    return XLSTMConfig(
        d_model=d_model,
        n_layers=raw.get("num_hidden_layers") or raw["num_blocks"],
        vocab_size=raw["vocab_size"],
        n_heads=n_heads,
        key_dim=int(d_model * raw.get("qk_dim_factor", 0.5)) // n_heads,
        value_dim=int(d_model * raw.get("v_dim_factor", 1.0)) // n_heads,
        d_ffn=int((d_model * raw.get("ffn_proj_factor", 2.667) + multiple - 1) // multiple) * multiple,
        block_size=raw.get("chunk_size", 64),
        norm_eps=raw.get("norm_eps", 1e-6),
        eps=raw.get("eps", 1e-6),
        gate_cap=raw.get("gate_soft_cap", 15.0),
        final_norm=raw.get("add_out_norm", True),
    )
