"""Reads the config.json of an xLSTM checkpoint, as Hugging Face writes it. Reads no weights."""

from dataclasses import dataclass
from typing import Any

from engine.errors import ModelError


@dataclass(frozen=True, slots=True)
class XLSTMConfig:
    """Shape of an xLSTM of mLSTM blocks; names as in the papers, defaults as in xLSTM 7B."""

    d_model: int
    n_layers: int
    vocab_size: int
    n_heads: int
    key_dim: int
    """Channels of a head's queries and keys."""
    value_dim: int
    """Channels of a head's values."""
    d_ffn: int
    block_size: int = 64
    """Q, the block of the scan (arXiv 2604.18199, section 4.2)."""
    norm_eps: float = 1e-6
    eps: float = 1e-6
    """Added to the normaliser of the memory, against division by zero."""
    gate_cap: float = 15.0
    """Soft cap: gate preactivations stay within +-gate_cap."""
    final_norm: bool = True


def read_xlstm(raw: dict[str, Any]) -> XLSTMConfig:
    """Convert a config.json. Raises ModelError for unsupported variants, KeyError and the like for garbled files."""
    if raw.get("slstm_at") or raw.get("slstm_block"):
        raise ModelError("it has sLSTM layers", "only xLSTM models without sLSTM layers, such as xLSTM 7B, can be read")
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
