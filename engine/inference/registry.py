"""LAZY REGISTRY: the one door from the product to `engine.papers`.

Mamba2 with the readout `mean`, which the shipped models are, is opened at once. All other families, readouts and
tokenizers are those of the papers, and are imported when a model needs them. A contract of import-linter holds that no
other module of the product imports the papers, and a test that a shipped model does not.
"""

from pathlib import Path

import torch
from torch import Tensor

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import Mamba2Config, ModelConfig
from longsearch.engine.models.readout_config import ReadoutConfig
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.models.weights import load_mamba2
from longsearch.engine.readouts.mean import MeanHead, MeanReadout
from longsearch.engine.readouts.reading import Readout


def load_model(
    folder: Path, config: ModelConfig, device: str, dtype: torch.dtype
) -> tuple[RecurrentModel, dict[str, Tensor]]:
    """Load a checkpoint of any family, as `engine.models.weights.load_weights` does."""
    if isinstance(config, Mamba2Config):
        return load_mamba2(folder, config, device, dtype)
    from longsearch.engine.papers.recurrent.families import load_family

    return load_family(folder, config, device, dtype)


def open_readout(readout: ReadoutConfig, config: ModelConfig, tensors: dict[str, Tensor], eos_id: int) -> Readout:
    """Return the readout that a checkpoint's config.json names. `tensors` are its `readout.*` weights.

    Raises ModelError if a weight is missing or has the wrong shape, or if the family cannot have this readout.
    """
    if readout.readout == "mean":
        return MeanReadout(MeanHead.from_tensors(tensors, config))
    if readout.readout == "eos":
        from longsearch.engine.papers.recurrent.eos import EosReadout

        return EosReadout(eos_id, config.d_model)
    if not isinstance(config, Mamba2Config):
        raise ModelError(f"only a Mamba2 can have the readout {readout.readout!r}", "use a model with the readout eos")
    if readout.readout == "contextual":
        from longsearch.engine.papers.causal2vec.readout import ContextualReadout

        return ContextualReadout.from_tensors(tensors, readout.encoder_heads, eos_id, config.d_model)
    from longsearch.engine.papers.gircse.readout import GenerativeReadout

    return GenerativeReadout.from_tensors(tensors, config, eos_id, readout.soft_tokens)


def with_steps(readout: Readout, steps: int) -> Readout:
    """Return a generative readout with K = `steps` soft tokens. It shares the weights of `readout`."""
    from longsearch.engine.papers.gircse import readout as gircse

    return gircse.with_steps(readout, steps)
