"""A tiny vocabulary, a tiny checkpoint, and pairs over it."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from longsearch.engine.training.data.pairs import Pair, record_of
from longsearch.engine.training.student.initialise import Shape, new_checkpoint

WORDS = [f"w{i}" for i in range(60)]


def make_tokenizer() -> Tokenizer:
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", ".", ":", "instruction", "query", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def make_pairs(n: int, seed: int = 0) -> Iterator[Pair]:
    rng = random.Random(seed)
    for i in range(n):
        query, passage = (" ".join(rng.choices(WORDS, k=k)) for k in (rng.randint(2, 5), rng.randint(5, 40)))
        yield Pair(query, passage, ("title2page", "question2answer")[i % 2], f"source{i % 2}", f"document{i // 3}")


def write_pairs(path: Path, n: int = 50) -> Path:
    path.write_text("\n".join(json.dumps(record_of(pair)) for pair in make_pairs(n)))
    return path


def write_checkpoint(folder: Path, dim: int = 16, head_dim: int = 4) -> Path:
    """Write a random model of 8 heads. It is static: the out_proj of its blocks is zero."""
    tokenizer = make_tokenizer()
    size = tokenizer.get_vocab_size()
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(size, dim, generator=generator)
    new_checkpoint(folder, Shape(dim, 2, 8, head_dim, 8, 8), tokenizer, vectors, seed=0)
    return folder


def write_eos_checkpoint(folder: Path, dim: int = 16, head_dim: int = 4) -> Path:
    """Write a random model with the eos readout at [UNK]: the tiny vocabulary has no end-of-sequence token."""
    write_checkpoint(folder, dim, head_dim)
    tensors = load_file(folder / "model.safetensors")
    for name in tensors:  # if they were zero, every text would have the vector of [UNK] and no gradient
        if name.endswith("out_proj.weight"):
            tensors[name] = torch.randn(tensors[name].shape, generator=torch.Generator().manual_seed(1)).half() / 4
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    config["longsearch"]["readout"] = "eos"
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "[UNK]"}))
    return folder


def log_of(folder: Path) -> list[dict[str, Any]]:
    """Read the log of a training run."""
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


class FakeTeacher:
    """A teacher that sums one vector per token, which a student can learn."""

    before, positions = (0,), 512

    def __init__(self, dim: int = 16) -> None:
        self.tokenizer = make_tokenizer()
        self.table = np.random.default_rng(5).normal(size=(self.tokenizer.get_vocab_size(), dim)).astype(np.float32)

    def encode_ids(self, ids: list[np.ndarray], max_tokens: int = 256) -> np.ndarray:
        sums = np.stack([self.table[row[: max_tokens - 2]].sum(0) for row in ids])
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    def encode(self, texts: list[str]) -> np.ndarray:
        return self.encode_ids([np.array(self.tokenizer.encode(text).ids) for text in texts])


def make_bert(n_layers: int = 4) -> Any:
    """A random transformers.BertModel of 32 channels over the tiny vocabulary."""
    from transformers import BertConfig, BertModel  # seconds to import

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=66, hidden_size=32, num_hidden_layers=n_layers, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=128,
    )  # fmt: skip
    bert = BertModel(config, add_pooling_layer=False).eval()
    for parameter in bert.parameters():
        torch.nn.init.normal_(parameter, 0.0, 0.3)
    return bert
