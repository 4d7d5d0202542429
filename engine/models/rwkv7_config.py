"""Reads the config.json of an RWKV-7 checkpoint in the layout of flash-linear-attention. Reads no weights."""

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
