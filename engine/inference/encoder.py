"""Text in, unit vectors out: the one door to the models.

A document goes through in one streaming pass that yields the vectors of its passages as it goes and its own at the
end; memory does not grow with its length, and the pass can stop anywhere and go on another day.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import ModelError, QueryError
from engine.inference.borders import Borders
from engine.inference.cutter import PassageCutter
from engine.inference.device import Hardware, choose_hardware
from engine.inference.passes import EmbeddedPart, EosReadout, Excerpts, MeanReadout, Readout
from engine.inference.readouts import MeanHead
from engine.inference.saved_states import check_fits, from_bytes
from engine.inference.slots import Document, read_documents, rows_that_fit
from engine.inference.tokens import TextTokenizer, TokenizedText
from engine.models.config import ReadoutConfig, read_config
from engine.models.hub import locate
from engine.models.identity import fingerprint
from engine.models.mamba2 import Mamba2
from engine.models.mamba2_quick import QuickMamba2, can_be_quick
from engine.models.matmamba import at_width
from engine.models.weights import Model, load_model
from engine.types import Passage

_VERTICAL_TOKENS = {"cpu": 2048, "cuda": 4096}  # on a CPU 1.14 times the speed of 1024; twice as much buys 1.03

_ROWS = {"cpu": 4, "cuda": 32}  # documents read at once
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class DocumentEmbedding:
    """What one pass over a document gives."""

    vector: NDArray[np.float32]
    """(dim,) of the whole document, unit length."""
    passages: list[tuple[int, int]]
    """(start, stop) in characters."""
    passage_vectors: NDArray[np.float32]
    """(n_passages, dim), unit length; each knows all the text before it."""
    excerpts: list[Excerpts]
    """Of each passage; none where it is one excerpt, or the readout has none."""
    n_tokens: int


class Encoder:
    """A loaded model; safe to use from several threads at once."""

    def __init__(
        self,
        model: Model,
        cutter: PassageCutter,
        readout: ReadoutConfig,
        head: MeanHead | None,
        hardware: Hardware,
        fingerprint: str,
        vertical_size: int,
    ) -> None:
        self.model = model
        self.cutter = cutter
        self.readout = readout
        self.hardware = hardware
        self.fingerprint = fingerprint
        """As of `engine.models.identity.ModelIdentity`, which knows it without loading anything."""
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
        width: float | tuple[float, ...] = 1.0,
    ) -> "Encoder":
        """Load `bundled`, a folder with config.json, tokenizer.json and safetensors, or a name on the Hugging Face
        hub (`org/name`, `org/name@revision`) that was downloaded before. Raises ModelError.

        `vertical_size` (V) and `block_size` (Q) are in tokens; the defaults suit the device and the checkpoint.
        `width` is the fraction of every layer's heads that is run, or one fraction for each layer (MatMamba's
        Mix'n'Match). The fingerprint is the full model's at every width: all widths share one vector space, so
        their vectors may lie in one index.
        """
        if min(vertical_size or 1, block_size or 1) < 1:
            raise ModelError(f"V = {vertical_size} and Q = {block_size}: sizes are 1 token or more")
        files = locate(model)
        config, readout = read_config(files.folder / "config.json")
        hardware = choose_hardware(device, dtype)
        cutter = PassageCutter.of(files, config, readout)
        loaded, tensors = load_model(files.folder, config, hardware.device, hardware.dtype)
        loaded = _made_ready(loaded, width, hardware)
        loaded.block_size = block_size or config.block_size
        head = MeanHead.from_tensors(tensors, config) if readout.readout == "mean" else None
        name = fingerprint(files, config, readout)
        vertical_size = vertical_size or _default_vertical_size(loaded.block_size, hardware)
        encoder = cls(loaded, cutter, readout, head, hardware, name, vertical_size)
        if readout.dim not in (0, encoder.dim):
            reason = f"vectors are {encoder.dim} long, not {readout.dim} as its config.json says"
            raise ModelError(f"{files.folder}: {reason}")
        return encoder

    @property
    def tokenizer(self) -> TextTokenizer:
        """The model's tokenizer."""
        return self.cutter.tokenizer

    def ensure_loaded(self) -> None:
        """Do nothing: the weights of an `Encoder` are in memory."""

    def tokenize(self, text: str) -> TokenizedText:
        """As `PassageCutter.tokenize`."""
        return self.cutter.tokenize(text)

    def split(self, text: str) -> tuple[TokenizedText, list[Passage]]:
        """As `PassageCutter.split`."""
        return self.cutter.split(text)

    def encode_document(self, text: str) -> DocumentEmbedding:
        """Read a document whole in one streaming pass. Raises ValueError for a text without tokens."""
        tokens, passages = self.split(text)
        collected = _Collected(passages)
        for part in self.stream(tokens, passages):
            collected.add(part)
        return collected.embedding(part)

    def encode_documents(self, texts: Iterable[tuple[K, str]]) -> Iterator[tuple[K, DocumentEmbedding]]:
        """As `encode_document`, for many at once: each under its key, in the order in which they are finished."""
        found: dict[K, _Collected] = {}

        def split() -> Iterator[tuple[K, TokenizedText, list[Passage], None]]:
            for key, text in texts:
                tokens, passages = self.split(text)
                found[key] = _Collected(passages)
                yield key, tokens, passages, None

        for key, part in self.stream_many(split()):
            found[key].add(part)
            if part.is_last:
                yield key, found.pop(key).embedding(part)

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
        self, tokens: TokenizedText, passages: list[Passage], saved_state: bytes | None = None
    ) -> Iterator[EmbeddedPart]:
        """One pass over a document's tokens, part by part; from `saved_state` on, where one is given.

        `tokens` and `passages` are those of `split`. The last part's document vector is the document's.
        Raises ValueError where there are no tokens, ModelError where the saved state is damaged or of another document.
        """
        document = self._document(None, tokens, passages, saved_state)
        parts = read_documents(self.model, self._how(), [document], 1, self.vertical_size)
        return (part for _, part in parts)

    def stream_many(
        self, documents: Iterable[tuple[K, TokenizedText, list[Passage], bytes | None]]
    ) -> Iterator[tuple[K, EmbeddedPart]]:
        """As `stream`, for (key, tokens, passages, saved_state) of many documents at once: parts, each with its key.

        Memory depends neither on how many there are nor on how long they are. They are asked for as they are needed,
        and may finish in another order. Raises what `stream` raises, when the document is asked for.
        """
        given = (self._document(*document) for document in documents)
        return read_documents(self.model, self._how(), given, *self.batch())

    def batch(self) -> tuple[int, int]:
        """How many documents `stream_many` reads at once, and how many tokens of all of them in one step."""
        rows = _ROWS[self.hardware.device.partition(":")[0]]
        if self.model.device.type == "cuda":
            state = sum(tensor.nbytes for tensor in self.model.initial_state().tensors().values())
            rows = rows_that_fit(rows, state, torch.cuda.mem_get_info(self.model.device)[0])
        return rows, max(self.vertical_size, rows * 2 * self.model.block_size)

    @property
    def together_below(self) -> int:
        """Documents of fewer tokens are read faster by `stream_many` than one by one."""
        # on one core of 20 to 60 tokens twice as fast, of 200 1.3 times, of 300 1.2, of 500 1.1; one fills no GPU
        return 8 * self.model.block_size if self.hardware.device == "cpu" else sys.maxsize

    def can_resume(self, tokens: TokenizedText, passages: list[Passage], saved_state: bytes) -> bool:
        """Whether `stream` can go on from `saved_state`: it is of this document, or of one that this one begins as."""
        try:
            self._document(None, tokens, passages, saved_state)
        except ModelError:
            return False
        return True

    def _document(
        self, key: K, tokens: TokenizedText, passages: list[Passage], saved_state: bytes | None
    ) -> Document[K]:
        if not len(tokens):
            raise ValueError("a document without tokens has no vector")
        spans = [(passage.start, passage.stop) for passage in passages]
        excerpts = [self.cutter.excerpt_starts(tokens.text[start:stop]) for start, stop in spans]
        borders = Borders.among(tokens.starts, spans, excerpts)
        if saved_state is None:
            return Document(key, tokens.ids, borders)
        empty = self.model.initial_state()
        state = from_bytes(saved_state, self.hardware.device, type(empty))
        check_fits(state, empty, self._how().n_sums, tokens.ids, borders)
        return Document(key, tokens.ids, borders, state)

    def _how(self) -> Readout:
        return MeanReadout(self._head) if self._head else EosReadout(self.tokenizer.eos_id or 0)


def _made_ready(model: Model, width: float | tuple[float, ...], hardware: Hardware) -> Model:
    """Return the model at `width`, in its fastest form for this hardware."""
    model = model if width == 1 else at_width(model, width)
    if hardware.device == "cpu" and isinstance(model, Mamba2) and can_be_quick(model.config):
        return QuickMamba2.of(model)
    return model


def _default_vertical_size(block_size: int, hardware: Hardware) -> int:
    """Return V in tokens: the largest multiple of Q = `block_size` within the device's default, Q at least."""
    return max(_VERTICAL_TOKENS[hardware.device.partition(":")[0]] // block_size, 1) * block_size


class _Collected:
    """The vectors of a document that is being read; not its parts, each of which holds on to a state."""

    def __init__(self, passages: list[Passage]) -> None:
        self._spans = [(passage.start, passage.stop) for passage in passages]
        self._vectors: list[NDArray[np.float32]] = []
        self._excerpts: list[Excerpts] = []

    def add(self, part: EmbeddedPart) -> None:
        self._vectors.append(part.vectors)
        self._excerpts += part.excerpts

    def embedding(self, last: EmbeddedPart) -> DocumentEmbedding:
        """After the last part."""
        vectors = np.concatenate(self._vectors)
        return DocumentEmbedding(last.document_vector, self._spans, vectors, self._excerpts, last.n_tokens_done)
