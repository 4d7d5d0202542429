"""Reads the config.json of the families that only the papers need: RWKV-7 and xLSTM. Reads no weights.

RWKV-7 comes in the layout of flash-linear-attention, xLSTM in that of Hugging Face. `engine.papers.recurrent` runs
them. Their sizes are read here, because a download and an index must know a model without loading it.
"""

from dataclasses import dataclass
from typing import Any

from longsearch.engine.errors import ModelError


@dataclass(frozen=True, slots=True)
class RWKV7Config:
    """The shape of an RWKV-7 model. Defaults are those of flash-linear-attention."""

    d_model: int
    n_layers: int
    vocab_size: int
    head_dim: int = 64
    d_ffn: int = 0
    """0 means 4 * d_model."""
    decay_rank: int = 64
    """The rank of the data-dependent decay; below, those of the gate, the in-context learning rate (a) and the value
    residual (v)."""
    gate_rank: int = 128
    a_rank: int = 64
    v_rank: int = 16
    block_size: int = 32
    """Q, in tokens (arXiv 2604.18199, section 4.2)."""
    norm_eps: float = 1e-5
    norm_first: bool = True
    """Whether a norm follows the embedding."""
    norm_bias: bool = True

    @property
    def n_heads(self) -> int:
        """Number of heads; together they have d_model channels."""
        return self.d_model // self.head_dim


def read_rwkv7(raw: dict[str, Any]) -> RWKV7Config:
    """Read the sizes. Raises ModelError for a variant that cannot be run, KeyError or TypeError for a damaged file."""
    d_model = raw["hidden_size"]
    head_dim = raw.get("head_dim") or d_model // raw["num_heads"]
    if raw.get("attn") or raw.get("hidden_act", "sqrelu") != "sqrelu":
        raise ModelError("not a pure RWKV-7 model", "hybrids with attention cannot be read")
    if any(size != d_model for size in _listed(raw.get("value_dim") or d_model)):
        raise ModelError(
            "its values are not as wide as the model", "only RWKV-7 with value_dim = hidden_size can be read"
        )
    return RWKV7Config(
        d_model=d_model,
        n_layers=raw["num_hidden_layers"],
        vocab_size=raw["vocab_size"],
        head_dim=head_dim,
        d_ffn=raw.get("intermediate_size") or -(-int(d_model * (raw.get("hidden_ratio") or 4)) // 32) * 32,
        decay_rank=raw.get("decay_low_rank_dim", 64),
        gate_rank=raw.get("gate_low_rank_dim", 128),
        a_rank=raw.get("a_low_rank_dim", 64),
        v_rank=raw.get("v_low_rank_dim", 16),
        norm_eps=raw.get("norm_eps", 1e-5),
        norm_first=raw.get("norm_first", True),
        norm_bias=raw.get("norm_bias", True),
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


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
