"""Text in, unit vectors out: the one door to the models.

A document goes through in one streaming pass that yields the vectors of its passages as it goes and its own at the
end; memory does not grow with its length, and the pass can stop anywhere and go on another day.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import ModelError, QueryError
from engine.inference.checkpoints import PassState, from_bytes, to_bytes
from engine.inference.device import Hardware, choose_hardware
from engine.inference.readouts import MeanHead, RunningMeans, unit
from engine.inference.tokens import TextTokenizer, TokenizedText
from engine.inference.vertical import run_vertically
from engine.models.config import ReadoutConfig, read_config
from engine.models.mamba2 import Mamba2
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


@dataclass(frozen=True, slots=True)
class EmbeddedPart:
    """A step of a pass: the vectors finished since the step before."""

    first_passage: int
    vectors: NDArray[np.float32]
    """(n, dim) of passages first_passage .. first_passage + n - 1; n may be 0."""
    n_tokens_done: int
    """Tokens of the document read so far."""
    checkpoint: Callable[[], bytes]
    """The state to go on from, serialised when called (a few megabytes)."""
    document_vector: NDArray[np.float32] | None
    """(dim,) in the last part, else None."""


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
        self.dim = readout.dim or (head.projection.shape[0] if head else model.config.d_model)
        self._head = head

    @classmethod
    def open(
        cls,
        model: str | Path = "bundled",
        device: str = "auto",
        dtype: str = "auto",
        vertical_size: int | None = None,
        block_size: int | None = None,
    ) -> "Encoder":
        """Load `bundled` or a folder with config.json, tokenizer.json and safetensors. Raises ModelError.

        `vertical_size` (V) and `block_size` (Q) are in tokens; the defaults suit the device and the checkpoint.
        """
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
        mamba2.block_size = block_size or config.block_size
        default = _VERTICAL_TOKENS[hardware.device.partition(":")[0]]
        vertical_size = vertical_size or max(default // mamba2.block_size, 1) * mamba2.block_size
        head = MeanHead.from_tensors(tensors) if readout.readout == "mean" else None
        return cls(mamba2, tokenizer, readout, head, hardware, _fingerprint(folder, readout), vertical_size)

    def split(self, text: str) -> tuple[TokenizedText, list[Passage]]:
        """The tokens of a document and the passages it is shown in."""
        tokens = self.tokenizer.tokenize(text)
        return tokens, cut_passages(text, tokens.starts)

    def encode_document(self, text: str) -> DocumentEmbedding:
        """Read a document whole in one streaming pass. Raises ValueError for a text without tokens."""
        tokens, passages = self.split(text)
        parts = list(self.stream(tokens, passages))
        vector = parts[-1].document_vector
        assert vector is not None
        vectors = np.concatenate([part.vectors for part in parts])
        return DocumentEmbedding(vector, [(p.start, p.stop) for p in passages], vectors, len(tokens))

    @torch.inference_mode()
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
        (last,) = [part for part in self.stream(tokens, []) if part.document_vector is not None]
        assert last.document_vector is not None
        return last.document_vector

    def stream(
        self, tokens: TokenizedText, passages: list[Passage], checkpoint: bytes | None = None
    ) -> Iterator[EmbeddedPart]:
        """One pass over a document's tokens, part by part; from `checkpoint` on, where one is given.

        `tokens` and `passages` are those of `split`. The last part, and only that, has the document's vector.
        Raises ValueError where there are no tokens, ModelError where the checkpoint is damaged.
        """
        if not len(tokens):
            raise ValueError("a document without tokens has no vector")
        borders = np.array([(p.start, p.stop) for p in passages], dtype=np.int64).reshape(-1, 2)
        borders = np.searchsorted(tokens.starts, borders)
        resume = from_bytes(checkpoint, self.hardware.device) if checkpoint else None
        return (
            self._mean_parts(tokens.ids, borders, resume)
            if self._head
            else self._eos_parts(tokens.ids, borders, resume)
        )

    def _mean_parts(
        self, ids: NDArray[np.int64], borders: NDArray[np.int64], resume: PassState | None
    ) -> Iterator[EmbeddedPart]:
        assert self._head is not None
        means = RunningMeans(self._head, borders)
        state: Any = None
        if resume:
            state, means.position, means.n_finished = resume.model, resume.n_tokens_done, resume.n_passages_done
            means.total, means.open = resume.sums
        with torch.inference_mode():
            for hidden, state in run_vertically(
                self.model, ids[means.position :], self.vertical_size, self.hardware.device, state
            ):
                first, start = means.n_finished, means.position
                vectors = means.push(hidden, torch.from_numpy(ids[start : start + len(hidden)]).to(hidden.device))
                done = PassState(state, means.position, means.n_finished, (means.total, means.open))
                document = means.document() if means.position == len(ids) else None
                yield EmbeddedPart(first, vectors, done.n_tokens_done, _Checkpoint(done), document)

    def _eos_parts(
        self, ids: NDArray[np.int64], borders: NDArray[np.int64], resume: PassState | None
    ) -> Iterator[EmbeddedPart]:
        """A passage's vector is what EOS says after its last token; the EOS itself is not carried on."""
        state: Any = resume.model if resume else None
        position, first = (resume.n_tokens_done, resume.n_passages_done) if resume else (0, 0)
        with torch.inference_mode():
            for index in range(first, len(borders) + 1):
                stop = int(borders[index, 1]) if index < len(borders) else len(ids)
                for _, state in run_vertically(
                    self.model, ids[position:stop], self.vertical_size, self.hardware.device, state
                ):
                    pass
                position = stop
                vector, is_passage = self._probe_eos(state), index < len(borders)
                done = PassState(state, position, min(index + 1, len(borders)), ())
                vectors = vector if is_passage else vector[:0]
                yield EmbeddedPart(index, vectors, position, _Checkpoint(done), None if is_passage else vector[0])

    def _probe_eos(self, state: Any) -> NDArray[np.float32]:
        eos = torch.tensor([[self.tokenizer.eos_id]], device=self.hardware.device)
        hidden, _ = self.model.step(eos, state)
        return unit(hidden[0])


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """Serialises only when called: most parts' states are never saved."""

    state: PassState

    def __call__(self) -> bytes:
        return to_bytes(self.state)


def bundled_model() -> Path:
    """The folder of the model that ships with longsearch."""
    return Path(str(resources.files("assets"))) / "model"


def _fingerprint(folder: Path, readout: ReadoutConfig) -> str:
    tokenizer = folder / "tokenizer.json"
    digest = hashlib.blake2b(digest_size=16)
    digest.update(hash_weights(folder).encode())
    digest.update(tokenizer.read_bytes() if tokenizer.exists() else b"")
    digest.update(f"{readout}{RULES}".encode())
    return digest.hexdigest()
