"""Reads random tokens with a model of random weights, and prints the times or the memory as JSON. See `sweeps`."""

import json
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from gpu_models import Decoder, DecoderConfig

from longsearch.engine.inference.footprint import peak_mib
from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.mamba2_quick import QuickMamba2
from longsearch.engine.models.other_families import RWKV7Config, XLSTMConfig
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.papers.recurrent.rwkv7 import RWKV7
from longsearch.engine.papers.recurrent.xlstm import XLSTM
from longsearch.engine.widths import parse_width

_VOCABULARY = 8192
_WARM_UP_TOKENS = 512


class Transformer(Decoder):
    """A decoder of the bundled model's layers, width and weights, which `read` gives its tokens at once."""

    def __init__(self) -> None:
        super().__init__(DecoderConfig(4, 384, n_heads=12, n_kv_heads=12, d_ffn=1024, vocab_size=_VOCABULARY))

    def initial_state(self, rows: int) -> None:
        """Nothing: a transformer's slice would need all tokens before it."""

    def step(self, tokens: torch.Tensor, state: None) -> tuple[torch.Tensor, None]:
        """Read all tokens."""
        return self(tokens), None


class Cell(NamedTuple):
    """What to read, and how."""

    Q: int
    V: int
    batch: int
    tokens: int
    """Tokens in each row of the batch."""


def make(name: str) -> RecurrentModel | Transformer:
    """Make a model of 128 channels and 2 layers, the same in every process, or the bundled one or its transformer."""
    torch.manual_seed(0)
    if name.startswith("bundled"):
        from longsearch.engine.inference.encoder import Encoder

        width = parse_width(name.partition(" at ")[2] or "1")
        return Encoder.open("bundled", device="cpu", dtype="float32", width=width).model
    if name == "transformer":
        return Transformer().requires_grad_(False)
    model: torch.nn.Module
    if name == "Mamba2":
        model = QuickMamba2.of(_random(Mamba2(Mamba2Config(128, 2, _VOCABULARY, d_state=64, n_heads=4))))
    elif name == "RWKV-7":
        model = _random(RWKV7(RWKV7Config(128, 2, _VOCABULARY, decay_rank=32, gate_rank=32, a_rank=32)))
    else:
        model = _random(XLSTM(XLSTMConfig(128, 2, _VOCABULARY, n_heads=2, key_dim=32, value_dim=64, d_ffn=384)))
    return model.requires_grad_(False)


def _random(model: Any) -> Any:
    """Fill what is zero or not initialised, so that no product is one with zeros or with what lay in memory."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("dt_bias"):
                weight.uniform_(-6.9, -2.3)  # as Mamba2 is initialised: dt of 0.001 to 0.1
            elif name.endswith("A_log"):
                weight.uniform_(0, 2.77)  # A of -1 to -16
            elif "embeddings" in name or not weight.any():
                weight.normal_(std=0.5)
    return model.eval()


def read(model: RecurrentModel | Transformer, tokens: torch.Tensor, vertical_size: int) -> torch.Tensor:
    """Read tokens (batch, length) in slices of V; return the last hidden states (batch, d_model) and keep no others."""
    with torch.inference_mode():
        state = model.initial_state(len(tokens))
        for slice_ids in tokens.split(vertical_size, 1):
            hidden, state = model.step(slice_ids, state)
        return hidden[:, -1].clone()


def times(name: str, cells: list[Cell], rounds: int) -> list[float]:
    """Return the shortest time of each cell in seconds. The cells take turns, so other work slows them all.

    Processor time counts, the mean of the threads: waiting for other programs is no part of it.
    """
    model, best = make(name), [float("inf")] * len(cells)
    read(model, random_tokens(1, _WARM_UP_TOKENS), _WARM_UP_TOKENS)
    for _ in range(rounds):
        for row, cell in enumerate(cells):
            model.block_size = cell.Q
            tokens = random_tokens(cell.batch, cell.tokens)
            began = time.process_time()
            read(model, tokens, cell.V)
            best[row] = min(best[row], (time.process_time() - began) / torch.get_num_threads())
    return best


def memories(name: str, cells: list[Cell], threads: int) -> list[float]:
    """Return `memory` of each cell, each in a process of its own, forked from this one, which has loaded the model."""
    model = make(name)
    with multiprocessing.get_context("fork").Pool(1, _keep, (model, threads), maxtasksperchild=1) as pool:
        return pool.map(memory, cells, chunksize=1)


_kept: dict[str, RecurrentModel | Transformer] = {}


def _keep(model: RecurrentModel | Transformer, threads: int) -> None:
    """Keep the model of the parent process: a fork passes it without a copy."""
    _kept["model"] = model
    torch.set_num_threads(threads)


def memory(cell: Cell) -> float:
    """Return the MiB that the reading of a cell adds to what the process holds: activations and the state."""
    model = _kept["model"]
    model.block_size = cell.Q
    tokens = random_tokens(cell.batch, cell.tokens)
    read(model, tokens[:, :_WARM_UP_TOKENS], cell.V)  # what the libraries need once
    Path("/proc/self/clear_refs").write_text("5")  # the peak is from now on that of what follows
    before = peak_mib()
    read(model, tokens, cell.V)
    return peak_mib() - before


def random_tokens(batch: int, length: int) -> torch.Tensor:
    """Make tokens (batch, length), the same in every process."""
    return torch.from_numpy(np.random.default_rng(0).integers(0, _VOCABULARY, (batch, length), np.int32))


def main() -> None:
    """Do what the command line says in JSON: "times" or "memory", model, cells, rounds, threads."""
    kind, name, listed, rounds, threads = json.loads(sys.argv[1])
    cells = [Cell(*cell) for cell in listed]
    torch.set_num_threads(1 if kind == "memory" else threads)  # a fork must not inherit threads
    print(json.dumps(memories(name, cells, threads) if kind == "memory" else times(name, cells, rounds)))


if __name__ == "__main__":
    main()
