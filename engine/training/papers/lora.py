"""LoRA fine-tuning of a larger checkpoint with the eos readout: small trained matrices beside frozen ones.

The paper trained Mamba2 1.3B and 7B this way (Grantner et al., arXiv 2604.18199, section 4.1). The adapters are peft's.
The saved checkpoint has the adapters merged into its matrices, so it opens like any other. Only the full width is
trained.

The frozen matrices may be held in 4 bits (QLoRA, Dettmers et al. 2023: NF4 with doubly quantised scales, by
bitsandbytes, also on a CPU), a quarter of bfloat16's memory. The adapters learn beside the rounded matrices, so they
are merged into the rounded ones.
"""

from pathlib import Path
from typing import Any, cast

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.models.config import read_config
from longsearch.engine.models.mamba2 import Mamba2, Mamba2Mixer
from longsearch.engine.models.weights import load_mamba2
from longsearch.engine.training.data.shards import read_tokenizer
from longsearch.engine.training.papers.eos import states_at, with_eos
from longsearch.engine.training.student.student import Padded, Rates, Trainable

_TARGETS = ["in_proj", "out_proj"]
_ADAPTER = "default"
_NF4_BLOCK = 64  # numbers that share a scale


class LoraStudent(Trainable):
    """A model with adapters: vector = normalise(hidden state of the end-of-sequence token after the text)."""

    def __init__(self, model: Mamba2, eos_id: int, rank: int, alpha: float | None = None) -> None:
        """Add adapters of `rank` to every projection of `model`: W + alpha / rank * B A; alpha is 2 * rank if None.

        Raises ModelError if peft is not installed.
        """
        super().__init__()
        try:
            from peft import LoraConfig, inject_adapter_in_model  # seconds to import
        except ImportError:
            raise ModelError("LoRA needs the package peft, which is not installed", "pip install peft") from None
        config = LoraConfig(r=rank, lora_alpha=cast(int, 2 * rank if alpha is None else alpha), target_modules=_TARGETS)
        self.model = cast(Mamba2, inject_adapter_in_model(config, model, adapter_name=_ADAPTER))
        self.eos_id = eos_id

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.model.embeddings.weight.device

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, d_model). Raises ValueError for a width other than 1."""
        if width != 1:
            raise ValueError("LoRA trains only the full width")
        tokens, at = with_eos(texts, self.eos_id)
        hidden, _ = self.model.step(tokens, self.model.initial_state(len(tokens)))
        return F.normalize(states_at(hidden, at).float(), dim=-1)

    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """Return the adapters, as one group."""
        return [{"params": list(self._adapters().values()), "lr": rates.blocks, "weight_decay": rates.weight_decay}]

    def tensors(self) -> dict[str, Tensor]:
        """Return the weights by their names in the checkpoint, the adapters merged into their matrices."""
        adapted = {n: cast(Any, m) for n, m in self.model.named_modules() if hasattr(m, "get_delta_weight")}
        tensors = {
            f"backbone.{name}": tensor
            for name, tensor in self.model.state_dict().items()
            if not name.startswith(tuple(f"{whole}." for whole in adapted))
        }
        for name, module in adapted.items():
            base = module.get_base_layer()
            weight = _dense(base.weight)
            tensors[f"backbone.{name}.weight"] = weight + module.get_delta_weight(_ADAPTER).to(weight.dtype)
            if base.bias is not None:
                tensors[f"backbone.{name}.bias"] = base.bias
        return tensors

    def trained(self) -> dict[str, Tensor]:
        """Return only the adapters: a resumed run reads the frozen weights from the original checkpoint."""
        return dict(self._adapters())

    def load_trained(self, state: dict[str, Tensor]) -> None:
        """Load the adapters. Raises ValueError if `state` has other adapters."""
        adapters = self._adapters()
        if state.keys() != adapters.keys():
            raise ValueError("it has other adapters")
        with torch.no_grad():
            for name, parameter in adapters.items():
                parameter.copy_(state[name])

    def _adapters(self) -> dict[str, torch.nn.Parameter]:
        return {name: p for name, p in self.model.named_parameters() if p.requires_grad}


def load_lora_student(
    folder: Path, device: str, dtype: torch.dtype, rank: int, base_bits: int = 16, alpha: float | None = None
) -> tuple[LoraStudent, Tokenizer]:
    """Load a checkpoint and add adapters. Its matrices are frozen in `dtype`, or in 4 bits if `base_bits` is 4.

    The adapters have the given rank and alpha; alpha is 2 * rank if None.

    Raises ModelError if the checkpoint has no eos readout, or if a package is missing.
    """
    config, readout = read_config(folder / "config.json")
    eos_id = TextTokenizer.load(folder).eos_id
    if readout.readout != "eos" or eos_id is None:
        raise ModelError(
            f"{folder} has no end-of-sequence readout",
            "leave out --lora: a model with the mean readout is trained whole",
        )
    # with 4 bits each matrix moves to the device as it is rounded: the unrounded model need not fit there
    model, _ = load_mamba2(folder, config, "cpu" if base_bits == 4 else device, dtype)
    if base_bits == 4:
        _to_four_bits(model, dtype)
    tokenizer = read_tokenizer(folder)
    return LoraStudent(model.to(device), eos_id, rank, alpha).to(device).train(), tokenizer


def _to_four_bits(model: Mamba2, dtype: torch.dtype) -> None:
    """Replace every projection by one that rounds itself to NF4 when it moves to a device; products are in `dtype`."""
    try:
        from bitsandbytes.nn import Linear4bit, Params4bit
    except ImportError:
        hint = "pip install bitsandbytes"
        raise ModelError("a 4-bit model needs the package bitsandbytes, which is not installed", hint) from None
    c = model.config
    if c.d_model % _NF4_BLOCK or c.d_inner % _NF4_BLOCK:  # on a CPU such rows are read back wrong by 30 %
        message = f"rows of {c.d_model} and {c.d_inner} numbers cannot be held in 4 bits"
        raise ModelError(message, f"both must be multiples of {_NF4_BLOCK}; leave out --base-bits")
    rounding = {"compress_statistics": True, "quant_type": "nf4"}
    for mixer in (module for module in model.modules() if isinstance(module, Mamba2Mixer)):
        for name in _TARGETS:
            dense = getattr(mixer, name)
            rounded = Linear4bit(dense.in_features, dense.out_features, dense.bias is not None, dtype, **rounding)
            rounded.weight = Params4bit(dense.weight.data, requires_grad=False, module=rounded, **rounding)
            rounded.bias = dense.bias
            setattr(mixer, name, rounded)
    cast(Any, model).is_loaded_in_4bit = True  # peft looks at this attribute


def _dense(weight: Tensor) -> Tensor:
    """Return a frozen matrix as numbers, dequantised if it is held in 4 bits."""
    if not hasattr(weight, "quant_state"):
        return weight
    from bitsandbytes.functional import dequantize_4bit

    return cast(Tensor, dequantize_4bit(weight.data, weight.quant_state))
