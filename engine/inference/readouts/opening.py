"""Chooses the readout of a checkpoint, and loads its weights."""

from torch import Tensor

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.readouts.contextual import ContextualReadout
from longsearch.engine.inference.readouts.eos import EosReadout
from longsearch.engine.inference.readouts.generative import GenerativeReadout
from longsearch.engine.models.config import Mamba2Config, ModelConfig
from longsearch.engine.models.readouts.config import ReadoutConfig
from longsearch.engine.models.readouts.contextual import ContextualToken
from longsearch.engine.models.readouts.soft_tokens import SoftTokens
from longsearch.engine.readouts.mean import MeanHead, MeanReadout
from longsearch.engine.readouts.reading import Readout


def open_readout(readout: ReadoutConfig, config: ModelConfig, tensors: dict[str, Tensor], eos_id: int) -> Readout:
    """Return the readout that a checkpoint's config.json names. `tensors` are its `readout.*` weights.

    Raises ModelError if a weight is missing or has the wrong shape, or if the family cannot have this readout.
    """
    if readout.readout == "mean":
        return MeanReadout(MeanHead.from_tensors(tensors, config))
    if readout.readout == "eos":
        return EosReadout(eos_id, config.d_model)
    if not isinstance(config, Mamba2Config):
        raise ModelError(f"only a Mamba2 can have the readout {readout.readout!r}", "use a model with the readout eos")
    if readout.readout == "contextual":
        token = ContextualToken.from_tensors(tensors, config.d_model, readout.encoder_heads)
        return ContextualReadout(token, eos_id, config.d_model)
    soft = SoftTokens.from_tensors(tensors, config.d_model, config.vocab_size)
    return GenerativeReadout(eos_id, soft, readout.soft_tokens)
