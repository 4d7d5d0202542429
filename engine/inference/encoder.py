"""Text in, unit vectors out: the one door to the models.

A document goes through in one streaming pass that yields the vectors of its passages as it goes and its own at the
end; memory does not grow with its length, and the pass can stop anywhere and go on another day.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError, QueryError
from engine.inference.checkpoints import PassState, check_fits, from_bytes
from engine.inference.device import Hardware, choose_hardware
from engine.inference.passes import EmbeddedPart, eos_pass, mean_pass
from engine.inference.readouts import MeanHead
from engine.inference.tokens import TextTokenizer, TokenizedText
from engine.models.config import Mamba2Config, ReadoutConfig, read_config
from engine.models.mamba2 import Mamba2
from engine.models.matmamba import at_width
from engine.models.weights import hash_weights, load_mamba2
from engine.passages import RULES, cut_passages
from engine.types import Passage

_VERTICAL_TOKENS = {"cpu": 1024, "cuda": 4096}  # larger buys no speed on either and costs memory


@dataclass(frozen=True, slots=True)
class DocumentEmbedding:
    """What one pass over a document gives."""

    vector: NDArray[np.float32]
    """(dim,) of the whole document, unit length."""
    passages: list[tuple[int, int]]
    """(start, stop) in characters."""
    passage_vectors: NDArray[np.float32]
    """(n_passages, dim), unit length; each knows all the text before it."""
    n_tokens: int


class Encoder:
    """A loaded model; safe to use from several threads at once."""

    def __init__(
        self,
        model: Mamba2,
        tokenizer: TextTokenizer,
        readout: ReadoutConfig,
        head: MeanHead | None,
        hardware: Hardware,
        fingerprint: str,
        vertical_size: int,
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.readout = readout
        self.hardware = hardware
        self.fingerprint = fingerprint
        """Every vector knows its maker: weights, tokenizer, readout, template and passage rules."""
        self.vertical_size = vertical_size
        """V, in tokens."""
        self.dim = head.projection.shape[0] if head else model.config.d_model
        self._head = head

    @classmethod
    def open(
        cls,
        model: str | Path = "bundled",
        device: str = "auto",
        dtype: str = "auto",
        vertical_size: int | None = None,
        block_size: int | None = None,
        width: float = 1.0,
    ) -> "Encoder":
        """Load `bundled` or a folder with config.json, tokenizer.json and safetensors. Raises ModelError.

        `vertical_size` (V) and `block_size` (Q) are in tokens; the defaults suit the device and the checkpoint.
        `width` is the fraction of every layer's heads that is run (MatMamba). The fingerprint is the full model's at
        every width: all widths share one vector space, so their vectors may lie in one index.
        """
        if min(vertical_size or 1, block_size or 1) < 1:
            raise ModelError(f"V = {vertical_size} and Q = {block_size}: sizes are 1 token or more")
        folder = bundled_model() if model == "bundled" else Path(model).expanduser()
        config, readout = read_config(folder / "config.json")
        hardware = choose_hardware(device, dtype)
        tokenizer = TextTokenizer.load(folder)
        if tokenizer.vocabulary_size > config.vocab_size:
            raise ModelError(
                f"{folder}: the tokenizer has more tokens than the model", "they are not of one checkpoint"
            )
        if readout.readout == "eos" and tokenizer.eos_id is None:
            raise ModelError(f"{folder}: the tokenizer names no end-of-sequence token, which the eos readout needs")
        mamba2, tensors = load_mamba2(folder, config, hardware.device, hardware.dtype)
        mamba2 = mamba2 if width == 1 else at_width(mamba2, width)
        mamba2.block_size = block_size or config.block_size
        default = _VERTICAL_TOKENS[hardware.device.partition(":")[0]]
        vertical_size = vertical_size or max(default // mamba2.block_size, 1) * mamba2.block_size
        head = MeanHead.from_tensors(tensors, config) if readout.readout == "mean" else None
        fingerprint = _fingerprint(folder, config, readout)
        encoder = cls(mamba2, tokenizer, readout, head, hardware, fingerprint, vertical_size)
        if readout.dim not in (0, encoder.dim):
            raise ModelError(f"{folder}: vectors are {encoder.dim} long, not {readout.dim} as its config.json says")
        return encoder

    def tokenize(self, text: str) -> TokenizedText:
        """The tokens of a document whose passages are known."""
        return self.tokenizer.tokenize(text)

    def split(self, text: str) -> tuple[TokenizedText, list[Passage]]:
        """The tokens of a document and the passages it is shown in."""
        tokens = self.tokenize(text)
        return tokens, cut_passages(text, tokens.starts)

    def encode_document(self, text: str) -> DocumentEmbedding:
        """Read a document whole in one streaming pass. Raises ValueError for a text without tokens."""
        tokens, passages = self.split(text)
        vectors = []
        for part in self.stream(tokens, passages):
            vectors.append(part.vectors)
        spans = [(passage.start, passage.stop) for passage in passages]
        return DocumentEmbedding(part.document_vector, spans, np.concatenate(vectors), len(tokens))

    def encode_query(self, text: str, instruction: str | None = None) -> NDArray[np.float32]:
        """The unit vector (dim,) of a query. Raises QueryError for one without words.

        `instruction` says what is looked for ("Find the clause that answers the question"); None: the model's own.
        """
        if not text.strip():
            raise QueryError("the query is empty", "type what you are looking for")
        prompt = self.readout.default_instruction if instruction is None else instruction
        if prompt:
            text = self.readout.query_template.format_map({"prompt": prompt, "text": text})
        tokens = self.tokenizer.tokenize(text)
        if not len(tokens):
            raise QueryError("the query has no words the model knows")
        *_, last = self.stream(tokens, [])
        return last.document_vector

    def stream(
        self, tokens: TokenizedText, passages: list[Passage], checkpoint: bytes | None = None
    ) -> Iterator[EmbeddedPart]:
        """One pass over a document's tokens, part by part; from `checkpoint` on, where one is given.

        `tokens` and `passages` are those of `split`. The last part's document vector is the document's.
        Raises ValueError where there are no tokens, ModelError where the checkpoint is damaged or not of this document.
        """
        if not len(tokens):
            raise ValueError("a document without tokens has no vector")
        borders = np.array([(p.start, p.stop) for p in passages], dtype=np.int64).reshape(-1, 2)
        borders = np.searchsorted(tokens.starts, borders)
        resume = self._resume(checkpoint, len(tokens), len(passages)) if checkpoint is not None else None
        if self._head:
            return mean_pass(self.model, self._head, tokens.ids, borders, self.vertical_size, resume)
        return eos_pass(self.model, self.tokenizer.eos_id or 0, tokens.ids, borders, self.vertical_size, resume)

    def _resume(self, checkpoint: bytes, n_tokens: int, n_passages: int) -> PassState:
        state = from_bytes(checkpoint, self.hardware.device)
        check_fits(state, self.model.initial_state(), 2 if self._head else 0, n_tokens, n_passages)
        return state


def bundled_model() -> Path:
    """The folder of the model that ships with longsearch."""
    return Path(str(resources.files("assets"))) / "model"


def _fingerprint(folder: Path, config: Mamba2Config, readout: ReadoutConfig) -> str:
    tokenizer = folder / "tokenizer.json"
    digest = hashlib.blake2b(digest_size=16)
    digest.update(hash_weights(folder).encode())
    digest.update(tokenizer.read_bytes() if tokenizer.exists() else b"")
    digest.update(f"{config}{readout}{RULES}".encode())
    return digest.hexdigest()
