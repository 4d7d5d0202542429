"""Makes a model to start from: a new Mamba2 that is a static embedder, from the teacher's vectors of single tokens.

A token's vector is the teacher's vector of its text, minus the mean of all, times 4. Its log weight is
log(a / (a + p(token))). Every block's `out_proj` is zero, and the projection is the identity. So at step 0 the
model returns the weighted mean of its token vectors: .727 and .473 MRR@10 on two sets, where the teacher has .930
and .696, and noise would have 0.
"""

import json
import math
from collections.abc import Callable
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

_SCALE = 4.0
_FREQUENT = 1e-3  # a: a token of this frequency has half the weight of a rare one
_DT_MIN, _DT_MAX = 1e-3, 1e-1


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a new model. `d_model` is the teacher's dimension."""

    d_model: int = 384
    n_layers: int = 6
    d_state: int = 64
    head_dim: int = 48
    n_heads: int = 16
    block_size: int = 64


def new_checkpoint(folder: Path, shape: Shape, tokenizer: Tokenizer, start: "StaticStart", seed: int) -> None:
    """Write a static embedder to `folder`, as `Encoder.open` reads it. start.vectors is (vocabulary, d_model)."""
    config = Mamba2Config(
        shape.d_model, shape.n_layers, len(start.vectors), shape.d_state, shape.head_dim, shape.n_heads,
        gated_norm_groups=1, block_size=shape.block_size, final_norm=False,
    )  # fmt: skip
    model = new_model(config, seed)
    with torch.no_grad():
        model.embeddings.weight.copy_(start.vectors)
    save_new(folder, model, tokenizer, start.log_weights)


def save_new(folder: Path, model: Mamba2, tokenizer: Tokenizer, token_log_weight: Tensor) -> None:
    """Write `model` to `folder`, with the mean readout and the identity as its projection."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(_as_json(model.config)), "utf-8")
    student = Student(model, torch.eye(model.config.d_model), token_log_weight, torch.float32)
    save_model(student, folder, folder, {})


@dataclass(frozen=True, slots=True)
class StaticStart:
    """The weights of a static embedder."""

    vectors: Tensor
    """(vocabulary, d_model) float32."""
    log_weights: Tensor
    """(vocabulary,) float32."""


def static_start(
    tokenizer: Tokenizer, encode: Callable[[list[str]], NDArray[np.float32]], counts: NDArray[np.int64]
) -> StaticStart:
    """Compute a static embedder from a teacher and from token counts, (vocabulary,).

    `encode` is the teacher: it turns texts into vectors (n, dim).
    """
    size = tokenizer.get_vocab_size()
    texts = [_text_of_token(tokenizer, index) for index in range(size)]
    vectors = encode(texts)
    vectors = (vectors - vectors.mean(0)) * _SCALE
    frequency = counts[:size] / max(int(counts.sum()), 1)
    return StaticStart(
        torch.from_numpy(vectors.astype(np.float32)),
        torch.from_numpy(np.log(_FREQUENT / (_FREQUENT + frequency)).astype(np.float32)),
    )


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


def _text_of_token(tokenizer: Tokenizer, index: int) -> str:
    """Return a token as text: a word piece without its continuation mark ##, bytes as characters.

    A token that is no text, such as half of a character's bytes, gives "[UNK]".
    """
    text = tokenizer.decode([index], skip_special_tokens=False).removeprefix("##").strip()
    return text if text.strip("\ufffd") else "[UNK]"


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
