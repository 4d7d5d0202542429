"""The bundled model reads 200,000 tokens in the memory of 20,000, with the result of one horizontal pass."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.readouts.mean import MeanReadout
from tests.engine.tiny_models import PROSE

_ENCODE = """
import resource, sys
from pathlib import Path
import torch
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.readouts.mean import MeanReadout
from longsearch.engine.store.excerpts import packed

torch.set_num_threads(1)
text = sys.stdin.read()
encoder = Encoder.open("bundled", device="cpu", dtype="float32")
kept = [  # in the form that the indexer keeps
    (part.vectors, [packed(*own, whole) for own, whole in zip(part.excerpts, part.vectors)])
    for part in encoder.stream(*encoder.split(text))
]
status = Path("/proc/self/status")
if status.exists():  # on Linux a child inherits ru_maxrss: a small child would report its parent's peak
    peak = int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(len(encoder.tokenize(text)), peak)
"""


def prose_of(n_tokens: int, encoder: Encoder) -> str:
    """Return a text of at least `n_tokens` tokens in which no two passages are alike."""
    n = -(-n_tokens // len(encoder.tokenizer.tokenize(PROSE)))
    return "\n\n".join(f"Part {i} of {n}, which begins with its number {i * i}.\n\n{PROSE}" for i in range(n))


def peak_bytes(text: str) -> tuple[int, int]:
    """Encode `text` in a process of its own. Returns (number of tokens, peak resident bytes)."""
    # makes glibc return large blocks at once: fragmentation would add up to 4 % to the peak, differently in every run
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "131072"}
    done = subprocess.run(
        [sys.executable, "-c", _ENCODE], input=text, capture_output=True, text=True, check=True, env=environment
    )
    n_tokens, peak = done.stdout.split()
    return int(n_tokens), int(peak)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_document() -> None:
    encoder = Encoder.open("bundled", device="cpu", dtype="float32")
    (few, low), (many, high) = (peak_bytes(prose_of(n, encoder)) for n in (20_000, 200_000))
    assert many > 9 * few
    assert high < 1.05 * low, f"{low / 2**20:.0f} MiB for {few} tokens, {high / 2**20:.0f} MiB for {many}"


@pytest.mark.slow
def test_200_000_tokens_in_slices_give_the_vectors_of_one_horizontal_pass() -> None:
    encoder = Encoder.open("bundled", device="cpu", dtype="float32")
    tokens, passages = encoder.split(prose_of(200_000, encoder))
    assert len(tokens) >= 200_000
    sliced = list(encoder.stream(tokens, passages))
    ids = torch.from_numpy(tokens.ids)
    borders = np.searchsorted(tokens.starts, [(p.start, p.stop) for p in passages])
    hidden = layer_by_layer(encoder, ids)
    assert isinstance(encoder.reader, MeanReadout)
    head = encoder.reader.head
    weighted = hidden * head.token_weight[ids][:, None]
    vectors = np.concatenate([part.vectors for part in sliced])
    sums = torch.stack([weighted[start:stop].sum(0) for start, stop in borders])
    np.testing.assert_allclose(vectors, head.vectors(sums), atol=1e-5)
    whole = head.vectors(weighted.double().sum(0).float()[None])[0]
    np.testing.assert_allclose(sliced[-1].document_vector, whole, atol=1e-5)


def layer_by_layer(encoder: Encoder, ids: torch.Tensor) -> torch.Tensor:
    """Return the hidden states (length, d_model) of the horizontal schedule: one layer at a time reads all tokens.

    Inside a layer the scan reads 8,192 tokens at a time, or its intra-block matrices would take 13 GB.
    """
    model, size = encoder.model, 8192
    state = model.initial_state()
    with torch.inference_mode():
        hidden = model.embeddings(ids)[None].float()
        for layer, conv, ssm in zip(model.layers, state.conv, state.ssm, strict=True):
            for start in range(0, len(ids), size):
                part = hidden[:, start : start + size]
                hidden[:, start : start + size], conv, ssm = layer(part, conv, ssm, model.block_size)
        return model.norm_f(hidden)[0]  # type: ignore[no-any-return]
