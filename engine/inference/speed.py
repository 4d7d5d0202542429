"""Measures how fast a model reads on this machine, and how fast the machine multiplies matrices of the same shapes.

Knows no documents: random tokens take as long as real ones. Every rate is that of the fastest run, since other work on
the machine can only slow a run down.
"""

import time
from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from longsearch.engine.inference.opening import AnyEncoder
from longsearch.engine.inference.tokens import TokenizedText
from longsearch.engine.types.documents import Passage

if TYPE_CHECKING:
    from torch import nn

    from longsearch.engine.inference.encoder import Encoder

NOTE_TOKENS = 200
PASSAGE_TOKENS = 130  # the average length of a passage of prose


def random_document(encoder: AnyEncoder, n_tokens: int) -> tuple[TokenizedText, list[Passage]]:
    """Make up a document as `Encoder.split` returns it. Each token is a word of one letter."""
    ids = np.random.default_rng(0).integers(0, encoder.tokenizer.vocabulary_size, n_tokens)
    borders = [(start, min(start + PASSAGE_TOKENS, n_tokens)) for start in range(0, n_tokens, PASSAGE_TOKENS)]
    passages = [Passage(2 * start, 2 * stop, stop - start) for start, stop in borders]
    return TokenizedText(ids, 2 * np.arange(n_tokens), "a " * n_tokens), passages


def document_rate(encoder: AnyEncoder, seconds: float) -> float:
    """Return the tokens per second of reading one long document, measured for about `seconds`."""
    tokens, passages = random_document(encoder, 100_000)
    best, done, began = 0.0, 0, time.perf_counter()
    end = began + seconds
    for part in encoder.stream(tokens, passages):
        now = time.perf_counter()
        best = max(best, (part.n_tokens_done - done) / (now - began))
        if now > end:
            break
        began, done = now, part.n_tokens_done
    return best


def notes_rates(encoder: AnyEncoder, seconds: float) -> tuple[float, float]:
    """Return the tokens per second of reading notes of 200 tokens: one by one, and in full batches of `stream_many`."""
    rows, _ = encoder.batch()
    note = random_document(encoder, NOTE_TOKENS)
    best = [0.0, 0.0]
    end = time.perf_counter() + seconds
    for turn in cycle((0, 1)):
        began = time.perf_counter()
        if turn:
            for _ in encoder.stream_many((row, *note, None) for row in range(rows)):
                pass
        else:
            for _ in range(rows):
                list(encoder.stream(*note))
        now = time.perf_counter()
        best[turn] = max(best[turn], rows * NOTE_TOKENS / (now - began))
        if turn and now > end:
            return best[0], best[1]
    raise AssertionError


def linear_flops(encoder: "Encoder") -> int:
    """Return the floating-point operations per token of the linear layers: the mixers' projections, not their scans."""
    return sum(2 * layer.weight.numel() for layer in _linear_layers(encoder))


def matmul_rate(encoder: "Encoder", products: str, seconds: float) -> float:
    """Return the operations per second of plain products: V tokens by each of the model's matrices.

    `products` is their number format, as in `Hardware.products`. In int8 the times include the conversions.
    """
    import torch
    from torch import nn

    from longsearch.engine.models.ops.int8 import Int8Linear

    device = encoder.model.device
    shapes = sorted({tuple(layer.weight.shape) for layer in _linear_layers(encoder)})
    dtype = torch.float32 if products == "int8" else getattr(torch, products)
    made = []
    for n_out, n_in in shapes:
        x = torch.randn(encoder.vertical_size, n_in, dtype=dtype, device=device)
        linear = nn.Linear(n_in, n_out, bias=False, device=device, dtype=dtype)
        count = sum(tuple(layer.weight.shape) == (n_out, n_in) for layer in _linear_layers(encoder))
        made.append((x, Int8Linear.of(linear) if products == "int8" else linear, count))
    took_s = flops = 0.0
    for x, linear, count in made:
        best, end = float("inf"), time.perf_counter() + seconds / len(made)
        while time.perf_counter() < end or best == float("inf"):
            began = time.perf_counter()
            with torch.inference_mode():
                linear(x)
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            best = min(best, time.perf_counter() - began)
        took_s += count * best
        flops += count * 2 * x.shape[0] * linear.weight.numel()
    return flops / took_s


def _linear_layers(encoder: "Encoder") -> Iterator["nn.Linear"]:
    from torch import nn

    return (layer for layer in encoder.model.modules() if isinstance(layer, nn.Linear))
