"""Turns texts into unit vectors without torch: twin of `Encoder` for models like the bundled one, on a processor.

The vectors equal those of torch, and each can resume what the other one saved. In float32 numpy reads as fast as torch;
with ONNX Runtime, which the extra `int8` brings, the products run in int8, as those of torch do.
"""

import os
import platform
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import numpy as np
import psutil
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import ModelError, install_hint
from longsearch.engine.inference.cutter import PassageCutter
from longsearch.engine.inference.documents import DocumentReader
from longsearch.engine.inference.query_encoder import QueryEncoder
from longsearch.engine.inference.tokens import TokenizedText
from longsearch.engine.models.without_torch.query_model import CHUNK_TOKENS, Layer, State, read_slices
from longsearch.engine.platforms.buffers import keep_freed_memory
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.numpy_mean import NumpyMeanReading
from longsearch.engine.readouts.numpy_states import NumpyPass, from_bytes, to_bytes
from longsearch.engine.readouts.parts import EmbeddedPart, Excerpts
from longsearch.engine.types.documents import Passage

K = TypeVar("K")
_X86 = ("x86_64", "AMD64")
saves_power = False
"""Whether half of the threads read: the daemon sets it while the machine runs on battery."""


@dataclass(frozen=True, slots=True)
class NumpyHardware:
    """On what a model runs, as `engine.inference.device.Hardware`."""

    products: str
    """The number format of the matrix products: `float32` or `int8`."""
    reason: str
    """Why it was chosen: one line for the user."""
    device: str = "cpu"

    @property
    def int8(self) -> bool:
        """Whether the matrix products run in int8."""
        return self.products == "int8"


def choose_products(dtype: str) -> NumpyHardware:
    """Replace `auto` by the best number format. Raises ModelError for one that needs torch or ONNX Runtime."""
    has_int8 = find_spec("onnxruntime") is not None
    if dtype == "auto":
        if has_int8 and platform.machine() in _X86:
            return NumpyHardware("int8", "torch is not installed; ONNX Runtime is, and int8 is faster than float32")
        more = "; the extra int8 would read faster" if platform.machine() in _X86 else ""
        return NumpyHardware("float32", f"torch is not installed, so numpy reads{more}")
    if dtype == "float32" or (dtype == "int8" and has_int8):
        return NumpyHardware(dtype, f"torch is not installed; {dtype} was asked for")
    package, extra = ("onnxruntime", "int8") if dtype == "int8" else ("torch", "torch")
    raise ModelError(f"the number format {dtype} needs {package}", install_hint(extra))


class NumpyEncoder(DocumentReader):
    """A loaded model; safe to use from several threads at once."""

    def __init__(self, queries: QueryEncoder, cutter: PassageCutter, hardware: NumpyHardware, n_threads: int) -> None:
        self.cutter = cutter
        self.readout = queries.readout
        self.hardware = hardware
        self.fingerprint = queries.fingerprint
        self.dim = queries.dim
        self.width = queries.width
        self.vertical_size = n_threads * CHUNK_TOKENS * (1 if n_threads > 2 else 2)
        """V, in tokens: a slice for each thread, or two."""
        self.block_size = queries.weights.config.block_size
        """Q, in tokens."""
        self.n_threads = n_threads
        self._queries = queries
        self._layers = queries.weights.layers(queries.width, _layer_type(hardware))
        self._threads = ThreadPoolExecutor(n_threads, "reader")
        self._few_threads = ThreadPoolExecutor(max(n_threads // 2, 1), "reader")  # neither starts any before its use
        self._narrower: dict[float, NumpyEncoder] = {}

    @classmethod
    def open(cls, model: str | Path = "bundled", dtype: str = "auto", n_threads: int | None = None) -> "NumpyEncoder":
        """Load a model, named as for `Encoder.open`. Raises ModelError if it needs torch, or cannot be read.

        `n_threads` is the number of processor cores by default, or OMP_NUM_THREADS, which torch heeds too.
        """
        hardware = choose_products(dtype)
        cutter = PassageCutter.open(model)
        queries = QueryEncoder.open(model, cutter.tokenizer)
        if queries is None:
            raise ModelError(f"the model {model} needs torch", install_hint("torch"))
        queries.weights.load_table()
        keep_freed_memory()
        threadpool_limits(1, "blas")  # the threads are those of `read_slices`: they also share what is no product
        return cls(queries, cutter, hardware, n_threads or _cores())

    def at(self, width: float) -> "NumpyEncoder":
        """Return this encoder at `width`, made at the first call and then kept. Raises ModelError as `Encoder.at`."""
        if width == self.width:
            return self
        if width not in self._narrower:
            queries = self._queries.at(width)
            self._narrower[width] = NumpyEncoder(queries, self.cutter, self.hardware, self.n_threads)
        return self._narrower[width]

    @property
    def batch_below_tokens(self) -> int:
        """0: documents are as fast one by one as in a batch, since a step of numpy costs little."""
        return 0

    def batch(self) -> tuple[int, int]:
        """Return how many documents `stream_many` reads at once, and how many of their tokens it reads in a step."""
        return 1, self.vertical_size

    def encode_query(self, text: str, instruction: str | None = None, steps: int | None = None) -> Vectors:
        """As `Encoder.encode_query`."""
        return self._queries.encode_query(text, instruction, steps)

    def stream(
        self, tokens: TokenizedText, passages: list[Passage], saved_state: bytes | None = None
    ) -> Iterator[EmbeddedPart]:
        """See `DocumentReader`."""
        borders, layers = self.borders(tokens, passages), [layer.empty_state() for layer in self._layers]
        resume = None if saved_state is None else from_bytes(saved_state, layers, tokens.ids, borders)
        return self._parts(tokens.ids, borders, resume.layers if resume else layers, resume)

    def stream_many(
        self, documents: Iterable[tuple[K, TokenizedText, list[Passage], bytes | None]]
    ) -> Iterator[tuple[K, EmbeddedPart]]:
        """See `DocumentReader`. Reads them one after another."""
        for key, tokens, passages, saved_state in documents:
            for part in self.stream(tokens, passages, saved_state):
                yield key, part

    def can_resume(self, tokens: TokenizedText, passages: list[Passage], saved_state: bytes) -> bool:
        """As `Encoder.can_resume`."""
        try:
            self.stream(tokens, passages, saved_state)
        except ModelError:
            return False
        return True

    def _parts(
        self, ids: NDArray[np.int64], borders: Borders, layers: list[State], resume: NumpyPass | None
    ) -> Iterator[EmbeddedPart]:
        weights = self._queries.weights
        reading = NumpyMeanReading(weights.projection, borders, resume)
        while True:  # a document that resumes at its end lacks only its own vector
            first, at = reading.n_passages_done, reading.n_tokens_done
            vectors: Vectors = np.zeros((0, self.dim), np.float32)
            excerpts: list[Excerpts] = []
            if at < len(ids):
                distinct, where = np.unique(ids[at : at + self.vertical_size], return_inverse=True)
                rows, token_weights = weights.rows(distinct)
                threads = self._few_threads if saves_power else self._threads
                hidden, layers = read_slices(self._layers, rows, where, layers, threads)
                hidden *= token_weights[where, None]
                vectors, excerpts = reading.take(hidden)
            done = NumpyPass(layers, reading.n_tokens_done, reading.n_passages_done, reading.sums)
            is_last = done.n_tokens_done == len(ids)
            saved_state = partial(to_bytes, done, ids, borders)
            yield EmbeddedPart(
                first, vectors, excerpts, done.n_tokens_done, saved_state, reading.document_vector, is_last
            )
            if is_last:
                return


def _layer_type(hardware: NumpyHardware) -> type[Layer]:
    if not hardware.int8:
        return Layer
    from longsearch.engine.models.without_torch.int8_layer import Int8Layer

    return Int8Layer


def _cores() -> int:
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else psutil.cpu_count(logical=False) or os.cpu_count() or 1
