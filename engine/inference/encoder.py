"""Turns texts into unit vectors, by torch. `NumpyEncoder` does so for models like the bundled one without it.

A document goes through the model in one streaming pass. The pass yields the vectors of passages as it goes, and the
vector of the document at the end. Memory does not grow with the length of the document. A pass can stop anywhere and
resume later from a saved state.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import torch

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import ModelError
from longsearch.engine.inference.cutter import PassageCutter
from longsearch.engine.inference.device import Hardware, choose_hardware
from longsearch.engine.inference.documents import DocumentReader
from longsearch.engine.inference.query_encoder import tokenize_query
from longsearch.engine.inference.registry import load_model, open_readout, with_steps
from longsearch.engine.inference.slots import Document, read_documents, rows_that_fit
from longsearch.engine.inference.tokens import TokenizedText
from longsearch.engine.models.config import Mamba2Config, read_config
from longsearch.engine.models.hub import locate
from longsearch.engine.models.identity import fingerprint
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.mamba2_quick import QuickMamba2, can_be_int8, can_be_quick
from longsearch.engine.models.matmamba import at_width
from longsearch.engine.models.readout_config import ReadoutConfig, check_thinking
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.models.without_torch.heads import check_trained
from longsearch.engine.platforms.buffers import keep_freed_memory
from longsearch.engine.readouts.parts import EmbeddedPart
from longsearch.engine.readouts.reading import Readout
from longsearch.engine.readouts.saved_states import check_fits, from_bytes
from longsearch.engine.types.documents import Passage

# the least and the most documents in a batch; on a CPU 8 of 60 tokens take .9 of the time of two times 4
_ROWS = {"cpu": (4, 8), "cuda": (32, 32)}
K = TypeVar("K")
# default V; on a CPU 2048 is 1.14 times as fast as 1024, and 4096 only 1.03 times as fast as 2048
_VERTICAL_TOKENS = {"cpu": 2048, "cuda": 4096}


class Encoder(DocumentReader):
    """A loaded model, run by torch; safe to use from several threads at once."""

    def __init__(
        self,
        model: RecurrentModel,
        cutter: PassageCutter,
        readout: ReadoutConfig,
        reader: Readout,
        hardware: Hardware,
        fingerprint: str,
        vertical_size: int,
        width: float = 1.0,
    ) -> None:
        self.model = model
        self.cutter = cutter
        self.readout = readout
        self.hardware = hardware
        self.fingerprint = fingerprint
        """As in `engine.models.identity.ModelIdentity`, which reads it without loading the model."""
        self.vertical_size = vertical_size
        """V, in tokens."""
        self.reader = reader
        """The readout itself, with its weights; `readout` is its configuration."""
        self.dim = reader.dim
        self.width = width
        self._narrower: dict[float, Encoder] = {}

    @classmethod
    def open(
        cls,
        model: str | Path = "bundled",
        device: str = "auto",
        dtype: str = "auto",
        vertical_size: int | None = None,
        block_size: int | None = None,
        width: float | tuple[float, ...] = 1.0,
        readout: str | None = None,
        speeds: Mapping[str, float] | None = None,
    ) -> "Encoder":
        """Load a model. Raises ModelError.

        `model` is `bundled`, a folder with config.json, tokenizer.json and safetensors, or the name of a model that was
        downloaded from the Hugging Face hub (`org/name`, `org/name@revision`). `vertical_size` (V) and `block_size` (Q)
        are in tokens; the defaults suit the device and the checkpoint. `width` is the fraction of the heads to run in
        every layer, or one fraction for each layer (MatMamba's Mix'n'Match). All widths share the fingerprint and the
        vector space of the full model, so one index may hold vectors of several widths. `readout` names another readout
        than the model's own, for comparisons: its weights must be in the checkpoint, and the fingerprint is another.
        `speeds`: as for `choose_hardware`.
        """
        if min(vertical_size or 1, block_size or 1) < 1:
            raise ModelError(f"V = {vertical_size} and Q = {block_size}: sizes must be 1 token or more")
        files = locate(model)
        config, settings = read_config(files.folder / "config.json")
        settings = replace(settings, readout=readout, dim=0) if readout else settings
        check_trained(width, settings.widths)
        hardware = choose_hardware(device, dtype, isinstance(config, Mamba2Config) and can_be_int8(config), speeds)
        cutter = PassageCutter.of(files, config, settings)
        loaded, tensors = load_model(files.folder, config, hardware.device, hardware.dtype)
        loaded = prepared(loaded, width, hardware)
        loaded.block_size = block_size or config.block_size
        reader = open_readout(settings, config, tensors, cutter.tokenizer.eos_id or 0)
        name = fingerprint(files, config, settings)
        vertical_size = vertical_size or default_vertical_size(loaded.block_size, hardware)
        narrowest = width if isinstance(width, float | int) else min(width)
        encoder = cls(loaded, cutter, settings, reader, hardware, name, vertical_size, narrowest)
        if settings.dim not in (0, encoder.dim):
            raise ModelError(f"{files.folder}: vectors are {encoder.dim} long, not {settings.dim} as config.json says")
        return encoder

    def at(self, width: float) -> "Encoder":
        """Return this whole encoder at `width`, made at the first call and then kept. Raises ModelError as `open` does.

        Only the first heads of the layers are copied, 14 MB at half the width of the bundled model; all else is shared.
        """
        if width == self.width:
            return self
        if width not in self._narrower:
            check_trained(width, self.readout.widths)
            if self.width != 1:
                raise ModelError(f"a model that runs at width {self.width:g} cannot be cut again", "open it at width 1")
            model = prepared(self.model, width, self.hardware)
            given = (self.cutter, self.readout, self.reader, self.hardware, self.fingerprint, self.vertical_size)
            self._narrower[width] = Encoder(model, *given, width)
        return self._narrower[width]

    @property
    def block_size(self) -> int:
        """Q, in tokens."""
        return self.model.block_size

    @property
    def n_threads(self) -> int:
        """How many threads a processor's products use."""
        return torch.get_num_threads()

    def encode_query(self, text: str, instruction: str | None = None, steps: int | None = None) -> Vectors:
        """Return the unit vector (dim,) of a query. Raises QueryError for a query without words.

        `instruction` says what to look for ("Find the clause that answers the question"); None: the model's default.
        `steps` is the number of soft tokens, for a model with the readout `generative`; None: as many as after a
        passage. Raises ModelError if the model has another readout, or if there are too many.
        """
        if steps is not None:
            check_thinking(self.readout, steps)
        reader = self.reader if steps is None else with_steps(self.reader, steps)
        tokens, n_instruction = tokenize_query(self.tokenizer, self.readout, text, instruction)
        document = self._document(None, tokens, [], None, n_instruction)
        *_, (_, last) = read_documents(self.model, reader, [document], 1, self.vertical_size)
        return last.document_vector

    def stream(
        self, tokens: TokenizedText, passages: list[Passage], saved_state: bytes | None = None
    ) -> Iterator[EmbeddedPart]:
        """See `DocumentReader`."""
        document = self._document(None, tokens, passages, saved_state)
        parts = read_documents(self.model, self.reader, [document], 1, self.vertical_size)
        return (part for _, part in parts)

    def stream_many(
        self, documents: Iterable[tuple[K, TokenizedText, list[Passage], bytes | None]]
    ) -> Iterator[tuple[K, EmbeddedPart]]:
        """See `DocumentReader`. Takes the next document whenever a row of the batch becomes free."""
        given = (self._document(*document) for document in documents)
        return read_documents(self.model, self.reader, given, *self.batch())

    def batch(self) -> tuple[int, int]:
        """Return how many documents `stream_many` reads at once, and how many of their tokens it reads in a step."""
        least, most = _ROWS[self.hardware.device.partition(":")[0]]
        rows = min(max(self.vertical_size // (4 * self.block_size), least), most)
        if self.model.device.type == "cuda":
            state = sum(tensor.nbytes for tensor in self.model.initial_state().tensors().values())
            rows = rows_that_fit(rows, state, torch.cuda.mem_get_info(self.model.device)[0])
        return rows, max(self.vertical_size, rows * 2 * self.model.block_size)

    @property
    def batch_below_tokens(self) -> int:
        """The length in tokens below which documents are faster in a batch (`stream_many`) than one by one."""
        # batches on one core are 2 times as fast for documents of 20 to 60 tokens, 1.3 times for 200, 1.2 for 300 and
        # 1.1 for 500; a GPU is never filled by one document
        return 8 * self.model.block_size if self.hardware.device == "cpu" else sys.maxsize

    def can_resume(self, tokens: TokenizedText, passages: list[Passage], saved_state: bytes) -> bool:
        """Return whether `stream` can resume from `saved_state`: its text must be the beginning of this document."""
        try:
            self._document(None, tokens, passages, saved_state)
        except ModelError:
            return False
        return True

    def _document(
        self, key: K, tokens: TokenizedText, passages: list[Passage], saved_state: bytes | None, n_instruction: int = 0
    ) -> Document[K]:
        borders = self.borders(tokens, passages, n_instruction)
        if saved_state is None:
            return Document(key, tokens.ids, borders)
        empty = self.model.initial_state()
        state = from_bytes(saved_state, self.hardware.device, type(empty))
        check_fits(state, empty, self.reader.n_sums, tokens.ids, borders, self.reader.ahead)
        return Document(key, tokens.ids, borders, state)


def prepared(model: RecurrentModel, width: float | tuple[float, ...], hardware: Hardware) -> RecurrentModel:
    """Return the model at `width`, in the fastest form that this hardware can run."""
    model = model if width == 1 else at_width(model, width)
    if hardware.device == "cpu":
        keep_freed_memory()
    if hardware.device == "cpu" and isinstance(model, Mamba2) and can_be_quick(model.config):
        return QuickMamba2.of(model, hardware.int8)
    return model


def default_vertical_size(block_size: int, hardware: Hardware) -> int:
    """Return V in tokens: the largest multiple of Q = `block_size` within the device's default, but at least Q."""
    return max(_VERTICAL_TOKENS[hardware.device.partition(":")[0]] // block_size, 1) * block_size
