"""Measures how fast a model reads on this machine, and how fast the machine multiplies the model's matrices.

Reads random tokens, which take as long as real ones. Every rate is the rate of the fastest try, because other load on
the machine can only slow a try down.
"""

import time
from collections.abc import Iterator
from itertools import cycle

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from engine.inference.encoder import Encoder
from engine.inference.tokens import TokenizedText
from engine.types import Passage

NOTE_TOKENS = 200
PASSAGE_TOKENS = 130  # the average of prose


def random_document(encoder: Encoder, n_tokens: int, seed: int = 0) -> tuple[TokenizedText, list[Passage]]:
    """Return a document in the form of `Encoder.split`, each token a word of one letter."""
    ids = np.random.default_rng(seed).integers(0, encoder.tokenizer.vocabulary_size, n_tokens)
    borders = [(start, min(start + PASSAGE_TOKENS, n_tokens)) for start in range(0, n_tokens, PASSAGE_TOKENS)]
    passages = [Passage(2 * start, 2 * stop, stop - start) for start, stop in borders]
    return TokenizedText(ids, 2 * np.arange(n_tokens), "a " * n_tokens), passages


def document_rate(encoder: Encoder, seconds: float) -> float:
    """Tokens a second on one long document."""
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


def notes_rates(encoder: Encoder, seconds: float) -> tuple[float, float]:
    """Tokens a second on notes of 200 tokens: one by one, and as many at once as `stream_many` takes."""
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


def linear_flops(encoder: Encoder) -> int:
    """Floating-point operations per token in the linear layers; the scans are not counted."""
    return sum(2 * layer.weight.numel() for layer in _linear_layers(encoder))


def matmul_rate(encoder: Encoder, dtype: torch.dtype, seconds: float) -> float:
    """Floating-point operations a second of plain matrix products: V tokens times each matrix of the model."""
    device = encoder.model.device
    shapes = sorted({tuple(layer.weight.shape) for layer in _linear_layers(encoder)})
    tries = []
    for n_out, n_in in shapes:
        x = torch.randn(encoder.vertical_size, n_in, dtype=dtype, device=device)
        weight = torch.randn(n_out, n_in, dtype=dtype, device=device)
        count = sum(tuple(layer.weight.shape) == (n_out, n_in) for layer in _linear_layers(encoder))
        tries.append((x, weight, count))
    took_s = flops = 0.0
    for x, weight, count in tries:
        best, end = float("inf"), time.perf_counter() + seconds / len(tries)
        while time.perf_counter() < end or best == float("inf"):
            began = time.perf_counter()
            with torch.inference_mode():
                F.linear(x, weight)
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            best = min(best, time.perf_counter() - began)
        took_s += count * best
        flops += count * 2 * x.shape[0] * weight.numel()
    return flops / took_s


def _linear_layers(encoder: Encoder) -> Iterator[nn.Linear]:
    return (layer for layer in encoder.model.modules() if isinstance(layer, nn.Linear))
