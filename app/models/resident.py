"""The one model of a process. Loads it at the first use, shares it between all callers, unloads it when it is idle.

Indexing uses it like any other encoder. The identity of the model comes from its files, passages are cut with its
tokenizer, and queries are encoded by numpy if the model allows it. None of these needs torch, so a day without new text
never imports it. Measured with the bundled model: 45 MB before the first use, 368 MB at work, 282 MB after unloading
(torch itself stays). Unloading a model of 1.3 billion weights frees its 2.6 GB and more.
"""

import ctypes
import gc
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from longsearch.app.models.elastic import ElasticWidth
from longsearch.app.models.encoders import chosen_identity, open_cutter, open_encoder, open_numpy_queries
from longsearch.app.models.query_vectors import QueryVector
from longsearch.app.settings.reading import current
from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import ModelError
from longsearch.engine.languages.detection import forget_model
from longsearch.engine.models.identity import ModelIdentity
from longsearch.engine.types.documents import Passage
from longsearch.indexer.encoders import Part

if TYPE_CHECKING:
    from longsearch.engine.inference.cutter import PassageCutter
    from longsearch.engine.inference.opening import AnyEncoder
    from longsearch.engine.inference.query_encoder import QueryEncoder

log = logging.getLogger("longsearch.model")
K = TypeVar("K")


class ResidentModel:
    """An `indexer.encoders.DocumentEncoder`, and the source of query vectors. Safe to use from any thread."""

    def __init__(
        self,
        load: "Callable[[], AnyEncoder]" = open_encoder,
        identify: Callable[[], ModelIdentity] = chosen_identity,
        open_cutter: "Callable[[], PassageCutter]" = open_cutter,
        clock: Callable[[], float] = time.monotonic,
        widths: ElasticWidth | None = None,
        open_queries: "Callable[[PassageCutter], QueryEncoder | None]" = open_numpy_queries,
    ) -> None:
        """`widths` chooses the width of documents and queries; the default is what the settings ask for."""
        self.widths = widths or ElasticWidth(current("width").width)
        self._load = load
        self._identify = identify
        self._open_cutter = open_cutter
        self._open_queries = open_queries
        self._clock = clock
        self._lock = threading.Lock()
        self._encoder: AnyEncoder | None = None
        self._cutter: PassageCutter | None = None
        self._identity: ModelIdentity | None = None
        self._used_at = clock()
        self._query_lock = threading.Lock()
        self._queries: QueryEncoder | None = None
        self._queries_need_torch = False
        self._queried_at = clock()
        self.make_room: Callable[[], None] = lambda: None
        """Called before the weights are loaded."""

    @property
    def is_loaded(self) -> bool:
        """Whether the weights are in memory."""
        return self._encoder is not None

    @property
    def queries_need_torch(self) -> bool:
        """Whether a query has needed the weights in memory, because numpy cannot encode it."""
        return self._queries_need_torch

    def loaded(self) -> "AnyEncoder":
        """Return the encoder, and load it if needed. Raises ModelError if it cannot be loaded or its files changed."""
        if self._encoder is None:
            self.make_room()  # before the lock: two models that make room for each other would wait for ever
        with self._lock:
            self._used_at = self._clock()
            if self._encoder is None:
                encoder = self._load()
                made = ModelIdentity(encoder.fingerprint, encoder.dim, encoder.excerpt_weight)
                before, self._identity = self._identity, made
                self._cutter = encoder.cutter
                if before not in (None, self._identity):
                    raise ModelError(
                        "the model was replaced while it was not loaded", "the next sweep uses the new one"
                    )
                self._encoder = encoder
                log.info("model loaded: %s", encoder.hardware.reason)
            return self._encoder

    def unload_if_idle(self, idle_s: float) -> bool:
        """Unload the model if it was not used for `idle_s`. Returns whether it was unloaded.

        A call under way keeps its encoder until it ends. What encodes queries is unloaded too, at its own time.
        """
        with self._query_lock:
            if self._clock() - self._queried_at >= idle_s:
                self._queries = None
        with self._lock:
            if self._clock() - self._used_at < idle_s:
                return False
            forget_model()
            self._cutter = None
        was_loaded = self.unload()
        if was_loaded:
            log.info("model unloaded: not used for %.0f s", idle_s)
        return was_loaded

    def unload(self) -> bool:
        """Free the weights now, or when the call under way ends. Returns whether they were in memory."""
        with self._lock:
            if self._encoder is None:
                return False
            is_on_gpu = self._encoder.hardware.device.startswith("cuda")
            self._encoder = None
        _return_memory(is_on_gpu)
        return True

    def encode_query(self, text: str, instruction: str | None, steps: int | None = None) -> QueryVector:
        """Return the vector of a query. Raises as `loaded` and `Encoder.encode_query`.

        It loads torch only for a model whose queries numpy cannot encode.
        """
        encoder = self._numpy_queries() or self.loaded()
        width, began = self.widths.for_queries(encoder.readout.widths).width, time.perf_counter()
        vector = encoder.at(width).encode_query(text, instruction, steps)
        took_s = time.perf_counter() - began
        self.widths.note_query(width, took_s)
        return QueryVector(vector, encoder.fingerprint, took_s * 1000)

    def _numpy_queries(self) -> "QueryEncoder | None":
        """Return what encodes queries without torch, opened at its first use (0.2 s); None if torch is needed."""
        with self._query_lock:
            self._queried_at = self._clock()
            if self._queries is None and not self._queries_need_torch:
                self._queries = self._open_queries(self._known_cutter())
                self._queries_need_torch = self._queries is None
            return self._queries

    def vector_of(self, text: str) -> Vectors:
        """Return the vector (dim,) of a query at full width. Raises, and loads torch, as `encode_query`."""
        return (self._numpy_queries() or self.loaded()).encode_query(text)

    def widths_in_use(self) -> dict[str, Any] | None:
        """Return the widths and their reasons, as `ElasticWidth.to_json`; None if no model is loaded."""
        encoder = self._encoder
        return None if encoder is None else self.widths.to_json(encoder)

    # ---- as an encoder of documents

    @property
    def fingerprint(self) -> str:
        """As `Encoder`."""
        return self._known_identity().fingerprint

    @property
    def known_fingerprint(self) -> str | None:
        """The fingerprint if something has asked for it or loaded the model, else None. Reads no file, never waits."""
        identity = self._identity
        return None if identity is None else identity.fingerprint

    @property
    def dim(self) -> int:
        """As `Encoder`."""
        return self._known_identity().dim

    @property
    def excerpt_weight(self) -> float:
        """As `Encoder`."""
        return self._known_identity().excerpt_weight

    def ensure_loaded(self) -> None:
        """Load the weights if they are not in memory. Raises ModelError if they cannot be loaded."""
        self.loaded()

    def tokenize(self, text: str) -> Any:
        """As `Encoder`, without loading the weights."""
        return self._known_cutter().tokenize(text)

    def split(self, text: str) -> tuple[Any, list[Passage]]:
        """As `Encoder`, without loading the weights."""
        return self._known_cutter().split(text)

    def width_for(self, n_tokens_waiting: Callable[[], int]) -> float:
        """Return the width for documents that begin now."""
        return self.widths.for_documents(self.loaded(), n_tokens_waiting).width

    def at(self, width: float) -> "ResidentReader":
        """Return the model at this width. It is loaded when it is used, and may be unloaded between two uses."""
        return ResidentReader(self, width)

    def in_use(self, parts: Iterator[K]) -> Iterator[K]:
        """Yield the parts of a pass, each of which counts as a use: a pass may take longer than the idle time."""
        for part in parts:
            self._used_at = self._clock()
            yield part

    def _known_cutter(self) -> "PassageCutter":
        with self._lock:
            self._used_at = self._clock()
            if self._cutter is None:
                self._cutter = self._open_cutter()
            return self._cutter

    def _known_identity(self) -> ModelIdentity:
        with self._lock:
            if self._identity is None:
                self._identity = self._identify()
            return self._identity


class ResidentReader:
    """A `ResidentModel` at one width: an `indexer.encoders.Reader`. The methods are those of `Encoder`."""

    def __init__(self, model: ResidentModel, width: float) -> None:
        self._model = model
        self._width = width

    @property
    def batch_below_tokens(self) -> int:
        """As `Encoder`."""
        return self._model.loaded().batch_below_tokens

    def can_resume(self, tokens: Any, passages: list[Passage], saved_state: bytes) -> bool:
        """As `Encoder`."""
        return self._encoder().can_resume(tokens, passages, saved_state)

    def stream(self, tokens: Any, passages: list[Passage], saved_state: bytes | None = None) -> Iterator[Part]:
        """As `Encoder`."""
        return self._model.in_use(self._encoder().stream(tokens, passages, saved_state))

    def stream_many(
        self, documents: Iterable[tuple[int, Any, list[Passage], bytes | None]]
    ) -> Iterator[tuple[int, Part]]:
        """As `Encoder`."""
        return self._model.in_use(self._encoder().stream_many(documents))

    def _encoder(self) -> "AnyEncoder":
        return self._model.loaded().at(self._width)


def _return_memory(is_on_gpu: bool) -> None:
    """Return freed memory to the system. Otherwise glibc keeps it (58 of 86 MB), and so does torch on a GPU."""
    gc.collect()
    if is_on_gpu:
        import torch

        torch.cuda.empty_cache()
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has no malloc_trim
        if trim is not None:
            trim(0)
