"""Reads a checkpoint's config.json into one dataclass for each family of models. Reads no weights.

Mamba2 comes in the layouts of Hugging Face and of state-spaces, RWKV-7 in that of flash-linear-attention, and xLSTM in
that of Hugging Face. In any layout a section "longsearch" may say how hidden states become vectors.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from longsearch.engine.errors import ModelError
from longsearch.engine.models.other_families import RWKV7Config, XLSTMConfig, read_rwkv7, read_xlstm
from longsearch.engine.models.readout_config import RELEASED_READOUT, ReadoutConfig, read_readout

MLP_ACTIVATION = "hardswish"
"""The activation of a Mamba2's MLPs, by its name in transformers."""


@dataclass(frozen=True, slots=True)
class Mamba2Config:
    """The shape of a Mamba2 model. Names are those of the papers, defaults those of state-spaces' training."""

    d_model: int
    n_layers: int
    vocab_size: int
    d_state: int = 128
    head_dim: int = 64
    n_heads: int = 0
    """0 means expand * d_model / head_dim."""
    n_groups: int = 1
    gated_norm_groups: int = 0
    """Groups of the gated RMSNorm. 0 means n_groups; checkpoints made before the norm was grouped have 1."""
    d_conv: int = 4
    block_size: int = 256
    """Q, the length in tokens of a block of the SSD scan."""
    norm_eps: float = 1e-5
    dt_min: float = 0.0
    """dt is clamped to [dt_min, dt_max] after its softplus (`time_step_limit` in config.json)."""
    dt_max: float = float("inf")
    use_bias: bool = False
    use_conv_bias: bool = True
    final_norm: bool = True
    d_mlp: int | None = None
    """Channels of the MLP after each mixer; None if there is none. With MLPs the norms follow the sums, as in BERT."""

    @property
    def d_inner(self) -> int:
        """Channels of x and z."""
        return self.n_heads * self.head_dim

    @property
    def d_conv_channels(self) -> int:
        """Channels of the convolution: x, B and C side by side."""
        return self.d_inner + 2 * self.n_groups * self.d_state


ModelConfig = Mamba2Config | RWKV7Config | XLSTMConfig
"""Each has d_model, n_layers, vocab_size and block_size."""


def read_config(path: Path) -> tuple[ModelConfig, ReadoutConfig]:
    """Read a checkpoint's config.json. Raises ModelError if it is damaged or describes a model that cannot be run."""
    try:
        raw = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        hint = "a model is a folder with config.json beside its weights"
        raise ModelError(f"cannot read {path}: {error}", hint) from error
    if not isinstance(raw, dict):
        raise ModelError(f"{path} is not the configuration of a model")
    try:
        family = "state-spaces" if "ssm_cfg" in raw or "n_layer" in raw else raw.get("model_type")
        if family not in _READERS:
            raise ModelError(f"model_type is {family!r}", _CAN_BE_READ)
        config = _READERS[family](raw)
        _check_sizes(config)
        return config, read_readout(raw["longsearch"]) if "longsearch" in raw else RELEASED_READOUT
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ModelError(f"{path} has a missing or damaged value: {error}", _CAN_BE_READ) from error


def _hugging_face(raw: dict[str, Any]) -> Mamba2Config:
    dt_min, dt_max = (_number(limit) for limit in raw.get("time_step_limit", (0.0, float("inf"))))
    return _with_derived_sizes(
        Mamba2Config(
            d_model=raw["hidden_size"],
            n_layers=raw["num_hidden_layers"],
            vocab_size=raw["vocab_size"],
            d_state=raw.get("state_size", 128),
            head_dim=raw.get("head_dim", 64),
            n_heads=raw.get("num_heads", 0),
            n_groups=raw.get("n_groups", 1),
            gated_norm_groups=raw.get("gated_norm_groups", 0),
            d_conv=raw.get("conv_kernel", 4),
            block_size=raw.get("chunk_size", 256),
            norm_eps=raw.get("layer_norm_epsilon", 1e-5),
            dt_min=dt_min,
            dt_max=dt_max,
            use_bias=raw.get("use_bias", False),
            use_conv_bias=raw.get("use_conv_bias", True),
            final_norm=raw.get("final_norm", True),
            d_mlp=_mlp_size(raw),
        )
    )


def _mlp_size(raw: dict[str, Any]) -> int | None:
    if "intermediate_size" in raw and raw.get("hidden_act") != MLP_ACTIVATION:
        raise ModelError(f"hidden_act is {raw.get('hidden_act')!r}", f"only MLPs with {MLP_ACTIVATION!r} can be read")
    return raw.get("intermediate_size")


def _number(value: Any) -> float:
    """Return a float. Transformers 5 writes {"__float__": "Infinity"} for numbers that JSON lacks."""
    return float(value["__float__"] if isinstance(value, dict) else value)


def _state_spaces(raw: dict[str, Any]) -> Mamba2Config:
    ssm = raw.get("ssm_cfg", {})
    if ssm.get("layer") != "Mamba2" or raw.get("attn_layer_idx") or raw.get("d_intermediate"):
        raise ModelError("not a pure Mamba2 model", "Mamba1, hybrids with attention and gated MLPs cannot be read")
    padding = raw.get("pad_vocab_size_multiple", 8)
    dt_min, dt_max = ssm.get("dt_limit", (0.0, float("inf")))
    return _with_derived_sizes(
        Mamba2Config(
            d_model=raw["d_model"],
            n_layers=raw["n_layer"],
            vocab_size=-(-raw["vocab_size"] // padding) * padding,
            d_state=ssm.get("d_state", 128),
            head_dim=ssm.get("headdim", 64),
            n_heads=ssm.get("expand", 2) * raw["d_model"] // ssm.get("headdim", 64),
            n_groups=ssm.get("ngroups", 1),
            d_conv=ssm.get("d_conv", 4),
            block_size=ssm.get("chunk_size", 256),
            dt_min=float(dt_min),
            dt_max=float(dt_max),
            use_bias=ssm.get("bias", False),
            use_conv_bias=ssm.get("conv_bias", True),
        )
    )


def _with_derived_sizes(config: Mamba2Config) -> Mamba2Config:
    """Replace the zeros that mean "derive this from the other sizes"."""
    n_heads = config.n_heads or 2 * config.d_model // config.head_dim
    return replace(config, n_heads=n_heads, gated_norm_groups=config.gated_norm_groups or config.n_groups)


_READERS: dict[Any, Callable[[dict[str, Any]], ModelConfig]] = {
    "mamba2": _hugging_face,
    "state-spaces": _state_spaces,
    "rwkv7": read_rwkv7,
    "xlstm": read_xlstm,
}
_CAN_BE_READ = "Mamba2, RWKV-7 and xLSTM checkpoints can be read"


def _check_sizes(config: ModelConfig) -> None:
    """Raise ModelError if a size is no positive integer or sizes contradict each other."""
    sizes = {f.name: getattr(config, f.name) for f in fields(config) if f.type is int}
    wrong = [name for name, size in sizes.items() if not isinstance(size, int) or not 0 < size < 2**31]
    if wrong or not _fit_together(config):
        raise ModelError(f"the sizes in the configuration do not fit together: {sizes}")


def _fit_together(config: ModelConfig) -> bool:
    if isinstance(config, RWKV7Config):
        return config.d_model % config.head_dim == 0
    if isinstance(config, XLSTMConfig):
        return config.key_dim > 0
    if config.d_mlp is not None and not (isinstance(config.d_mlp, int) and 0 < config.d_mlp < 2**31):
        return False
    return not (config.n_heads % config.n_groups or config.d_inner % config.gated_norm_groups)
