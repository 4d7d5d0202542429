"""Makes a new Mamba2 whose blocks add nothing yet, and writes a new model to a folder."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from longsearch.engine.models.config import MLP_ACTIVATION, Mamba2Config
from longsearch.engine.models.mamba2 import Mamba2, Mamba2Mixer
from longsearch.engine.training.data.shards import PairSet
from longsearch.engine.training.student.saving import save_model
from longsearch.engine.training.student.student import Student

_DT_MIN, _DT_MAX = 1e-3, 1e-1


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a new model."""

    d_model: int
    n_layers: int
    d_state: int
    head_dim: int
    n_heads: int
    block_size: int


def new_checkpoint(folder: Path, shape: Shape, tokenizer: Tokenizer, token_vectors: Tensor, seed: int) -> None:
    """Write a new model to `folder`, as `Encoder.open` reads it. It returns the mean of `token_vectors`.

    token_vectors is (vocabulary, d_model).
    """
    config = Mamba2Config(
        shape.d_model, shape.n_layers, len(token_vectors), shape.d_state, shape.head_dim, shape.n_heads,
        gated_norm_groups=1, block_size=shape.block_size, final_norm=False,
    )  # fmt: skip
    model = new_model(config, seed)
    with torch.no_grad():
        model.embeddings.weight.copy_(token_vectors)
    save_new(folder, model, tokenizer)


def save_new(folder: Path, model: Mamba2, tokenizer: Tokenizer) -> None:
    """Write `model` to `folder`, with the mean readout, in which all tokens weigh the same."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(_as_json(model.config)), "utf-8")
    student = Student(model, torch.eye(model.config.d_model), torch.zeros(model.config.vocab_size), torch.float32)
    save_model(student, folder, folder, {})


def token_counts(pairs: PairSet, vocabulary_size: int) -> NDArray[np.int64]:
    """Count how often each token id occurs in pairs, (vocabulary_size,)."""
    return sum(
        (np.bincount(texts.ids, minlength=vocabulary_size) for texts in (pairs.queries, pairs.passages)),
        start=np.zeros(vocabulary_size, np.int64),
    )


def new_model(config: Mamba2Config, seed: int) -> Mamba2:
    """Return a Mamba2 initialised as by Dao and Gu (2024), but with `out_proj` zero: no block adds anything yet."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Mamba2(config)
    with torch.no_grad():
        for mixer in (module for module in model.modules() if isinstance(module, Mamba2Mixer)):
            log_dt = torch.rand(config.n_heads, generator=generator)
            dt = torch.exp(math.log(_DT_MIN) + log_dt * (math.log(_DT_MAX) - math.log(_DT_MIN)))
            mixer.dt_bias.copy_(inverse_softplus(dt))
            mixer.A_log.copy_(torch.log(1 + 15 * torch.rand(config.n_heads, generator=generator)))
            mixer.out_proj.weight.zero_()
    return model


def inverse_softplus(x: Tensor) -> Tensor:
    """Return y with softplus(y) = x, for x > 0 of any shape."""
    return x + torch.log(-torch.expm1(-x))


def _as_json(c: Mamba2Config) -> dict[str, object]:
    said = {
        "model_type": "mamba2",
        "hidden_size": c.d_model,
        "num_hidden_layers": c.n_layers,
        "state_size": c.d_state,
        "head_dim": c.head_dim,
        "num_heads": c.n_heads,
        "expand": c.d_inner // c.d_model,
        "conv_kernel": c.d_conv,
        "n_groups": c.n_groups,
        "chunk_size": c.block_size,
        "vocab_size": c.vocab_size,
        "layer_norm_epsilon": c.norm_eps,
        "use_bias": c.use_bias,
        "final_norm": c.final_norm,
        "longsearch": {"readout": "mean", "dim": c.d_model, "widths": [1.0]},
    }
    limits = {} if math.isinf(c.dt_max) else {"time_step_limit": [c.dt_min, c.dt_max]}
    return said | limits | ({} if c.d_mlp is None else {"intermediate_size": c.d_mlp, "hidden_act": MLP_ACTIVATION})
