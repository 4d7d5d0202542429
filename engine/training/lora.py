"""LoRA fine-tuning of a larger checkpoint with the eos readout, by the same loop: small matrices beside frozen ones.

What the paper did to Mamba2 1.3B and 7B (Grantner et al., arXiv 2604.18199, section 4.1). The adapters are peft's; what
is saved is the checkpoint with the adapters merged into it, so that it is read like any other. Full width alone.
"""

from pathlib import Path
from typing import Any, cast

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from engine.errors import ModelError
from engine.inference.tokens import TextTokenizer
from engine.models.config import read_config
from engine.models.mamba2 import Mamba2
from engine.models.weights import load_mamba2
from engine.training.student import Padded, Rates, Trainable

_TARGETS = ["in_proj", "out_proj"]
_ADAPTER = "default"


class LoraStudent(Trainable):
    """vector = normalise(hidden state of an end-of-sequence token after the text)."""

    def __init__(self, model: Mamba2, eos_id: int, rank: int) -> None:
        """Puts adapters of `rank` beside every projection of `model`. Raises ModelError where peft is not installed."""
        super().__init__()
        try:
            from peft import LoraConfig, inject_adapter_in_model  # seconds to import
        except ImportError:
            raise ModelError("LoRA needs the package peft, which is not installed", "pip install peft") from None
        config = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=_TARGETS)
        self.model = cast(Mamba2, inject_adapter_in_model(config, model, adapter_name=_ADAPTER))
        self.eos_id = eos_id

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.model.embeddings.weight.device

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Unit vectors (batch, d_model). Raises ValueError for a width other than 1."""
        if width != 1:
            raise ValueError("LoRA trains the full width alone")
        lengths = texts.mask.sum(1).long()
        tokens = F.pad(texts.tokens, (0, 1))
        rows = torch.arange(len(tokens), device=tokens.device)
        tokens[rows, lengths] = self.eos_id
        hidden, _ = self.model.step(tokens, self.model.initial_state(len(tokens)))
        return F.normalize(hidden[rows, lengths].float(), dim=-1)

    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """The adapters."""
        return [{"params": list(self._adapters().values()), "lr": rates.blocks, "weight_decay": 0.0}]

    def tensors(self) -> dict[str, Tensor]:
        """The checkpoint's own names, each adapted matrix with its adapter's product added."""
        tensors = {
            f"backbone.{name.replace('.base_layer', '')}": tensor
            for name, tensor in self.model.state_dict().items()
            if ".lora_" not in name
        }
        for name, module in self.model.named_modules():
            if hasattr(module, "get_delta_weight"):
                weight = tensors[f"backbone.{name}.weight"]
                tensors[f"backbone.{name}.weight"] = weight + module.get_delta_weight(_ADAPTER).to(weight.dtype)
        return tensors

    def trained(self) -> dict[str, Tensor]:
        """The adapters alone: a resumed run reads the frozen weights from where the first did."""
        return dict(self._adapters())

    def load_trained(self, state: dict[str, Tensor]) -> None:
        """Put the adapters back."""
        adapters = self._adapters()
        if state.keys() != adapters.keys():
            raise ValueError("its adapters are others")
        with torch.no_grad():
            for name, parameter in adapters.items():
                parameter.copy_(state[name])

    def _adapters(self) -> dict[str, torch.nn.Parameter]:
        return {name: p for name, p in self.model.named_parameters() if p.requires_grad}


def load_lora_student(folder: Path, device: str, dtype: torch.dtype, rank: int) -> tuple[LoraStudent, Tokenizer]:
    """A checkpoint with adapters, its matrices frozen in `dtype`. Raises ModelError where it has no eos readout."""
    config, readout = read_config(folder / "config.json")
    eos_id = TextTokenizer.load(folder).eos_id
    if readout.readout != "eos" or eos_id is None:
        raise ModelError(f"{folder} has no end-of-sequence readout", "a model with the mean readout is trained whole")
    model, _ = load_mamba2(folder, config, device, dtype)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return LoraStudent(model.train(), eos_id, rank).to(device), tokenizer
