"""A worker: extracts the texts of files and reads documents, a stretch at a time. Knows neither Ray nor the index.

Ray makes one in a process of its own on some machine. A worker keeps the packets that it has begun, so that it goes on
without loading a state. It may lose them at any time: the driver has the states and the vectors of all stretches.
"""

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from longsearch.app.cluster.recognised import OnWorker
from longsearch.app.cluster.work import Extracted, RemotePart, Stretch, UnknownPacketError, Unread, WorkerJob
from longsearch.app.locks import LockBusyError, held
from longsearch.engine import __version__
from longsearch.engine.errors import LongsearchError, ModelError
from longsearch.indexer.describing import Extractor
from longsearch.indexer.embedding import RESUME_FROM_TOKENS
from longsearch.indexer.encoders import Part, Reader
from longsearch.indexer.extract.assembly import Extraction
from longsearch.indexer.extract.formats import use_adapters
from longsearch.indexer.extract.pdf.ocr import INSTALL_HINT, TOOL
from longsearch.indexer.extract.pool import ExtractorPool
from longsearch.indexer.extract.reader import Result
from longsearch.indexer.sources.fetching import FetchingExtractor
from longsearch.indexer.sources.objects import ObjectStore

if TYPE_CHECKING:
    from longsearch.engine.inference.opening import AnyEncoder

_PREFIX = "longsearch-worker-"
_LOCK = "lock"


class Scratch:
    """A private folder that is locked while its worker lives."""

    def __init__(self) -> None:
        """Remove the folders of workers that are dead, and make one."""
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            _remove_if_free(left)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = ExitStack()
        self._lock.enter_context(held(self.path / _LOCK, 0))

    def close(self) -> None:
        """Remove the folder."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def _remove_if_free(folder: Path) -> None:
    try:
        with held(folder / _LOCK, 0):
            shutil.rmtree(folder, ignore_errors=True)
    except (OSError, LockBusyError):  # another person's, or in use
        return


_KEPT_PACKETS = 4
"""Begun packets that are kept. The driver gives a worker two at a time; more are left over from packets that moved."""


class Worker:
    """One model and a few children that read files. For one thread."""

    def __init__(self, job: WorkerJob) -> None:
        self._job = job
        self._encoder: AnyEncoder | None = None
        self._children: ExtractorPool | None = None
        self._objects = ObjectStore(job.url, job.root) if job.url else None
        self._packets: dict[int, _Packet] = {}
        self._scratch: Scratch | None = None
        self._ocr: OnWorker | None = None

    def start(self) -> tuple[str, int]:
        """Check the machine and load the model. Returns the machine's name and the process id.

        Raises LongsearchError, which says what this machine lacks.
        """
        job = self._job
        if job.version != __version__:
            hint = "install the same version on every machine"
            raise LongsearchError(f"a worker runs longsearch {__version__}, the driver {job.version}", hint)
        missing = [name for name in job.entries if not (job.root / name).exists()]
        if missing:
            hint = "the folder must lie on shared storage, at the same path on every machine"
            raise LongsearchError(f"a worker does not see {job.root / missing[0]}", hint)
        if self._objects is not None:
            self._objects.check_there()
        if job.ocr is not None and not job.ocr.known_only and shutil.which(TOOL) is None:
            raise LongsearchError(f"a worker has no {TOOL}, which reads scanned pages", INSTALL_HINT)
        use_adapters(job.adapters)
        encoder = self._opened()
        if encoder.fingerprint != job.fingerprint:
            hint = "copy the model to every machine, or name a folder on shared storage"
            raise LongsearchError(f"a worker has another model under the name {job.model}", hint)
        self._encoder = encoder
        return platform.node(), os.getpid()

    def _opened(self) -> "AnyEncoder":
        """Load the model. Raises LongsearchError if torch does not find the GPU of which Ray speaks."""
        from longsearch.engine.inference.opening import open_encoder

        try:
            return open_encoder(self._job.model, self._job.device, self._job.dtype)
        except ModelError as error:
            if self._job.device == "cpu":
                raise
            hint = "see `longsearch doctor` there, or start Ray there with --num-gpus 0"
            raise LongsearchError(f"a worker on {platform.node()} cannot use its GPU: {error.message}", hint) from error

    def close(self) -> None:
        """End the children. Those of a worker that is killed see the end of their input."""
        if self._children is not None:
            self._children.close()
        if self._scratch is not None:
            self._scratch.close()

    def extract(self, paths: Sequence[Path], head_only: bool) -> list[Extracted]:
        """Return the text of each file in order, in the sandbox that is used at home too."""
        self._children = self._children or ExtractorPool(self._job.n_children, self._recognition())
        extractor: Extractor = self._children
        if self._objects is not None:
            extractor = FetchingExtractor(self._objects, self._children, self._folder())
        found = [self._cut(result, head_only) for _, result in extractor.extract_all(paths, head_only)]
        if self._ocr is not None and found:
            found[-1] = replace(found[-1], recognised=self._ocr.handed_over())
        return found

    def _recognition(self) -> OnWorker | None:
        """Return how pages without text are read."""
        if self._job.ocr is not None:
            self._ocr = OnWorker(self._job.ocr, self._folder() / "pages.ocr")
        return self._ocr

    def _folder(self) -> Path:
        self._scratch = self._scratch or Scratch()
        return self._scratch.path

    def _cut(self, result: Result, head_only: bool) -> Extracted:
        """Cut the passages of a text."""
        if head_only or not isinstance(result, Extraction):
            return Extracted(result, None, 0)
        tokens, passages = self._loaded().split(result.document.text)
        return Extracted(result, passages, len(tokens))

    def begin(self, packet: int, documents: Sequence[Unread], width: float) -> Stretch:
        """Read the first stretch of a packet, each document from its state on."""
        while len(self._packets) >= _KEPT_PACKETS:
            del self._packets[next(iter(self._packets))]
        self._packets[packet] = _Packet(self._loaded(), documents, width)
        return self.read_on(packet)

    def read_on(self, packet: int) -> Stretch:
        """Read the next stretch. Raises UnknownPacketError if this worker does not hold the packet."""
        if packet not in self._packets:
            raise UnknownPacketError
        stretch = self._packets[packet].stretch(self._job.stretch_tokens, self._job.stretch_s)
        if stretch.is_done:
            del self._packets[packet]
        return stretch

    def _loaded(self) -> "AnyEncoder":
        if self._encoder is None:
            self.start()
        assert self._encoder is not None  # noqa: S101 - `start` has set it
        return self._encoder


class _Packet:
    """Documents of one call: short ones are read in the engine's batches, long ones one by one, as at home."""

    def __init__(self, encoder: "AnyEncoder", documents: Sequence[Unread], width: float) -> None:
        self._n_open = len(documents)
        self._documents = {document.key: _Document(document) for document in documents}
        self._parts = self._read(encoder, documents, encoder.at(width))

    @staticmethod
    def _read(encoder: "AnyEncoder", documents: Sequence[Unread], reader: Reader) -> Iterator[tuple[int, Part]]:
        short = [document for document in documents if document.n_tokens < reader.batch_below_tokens]
        short = short if len(short) > 1 else []  # one document is as fast by itself
        if short:
            yield from reader.stream_many((d.key, encoder.tokenize(d.text), d.passages, d.state) for d in short)
        taken = {document.key for document in short}
        for document in (d for d in documents if d.key not in taken):
            for part in reader.stream(encoder.tokenize(document.text), document.passages, document.state):
                yield document.key, part

    def stretch(self, n_tokens: int, seconds: float) -> Stretch:
        """Read on until so many tokens were read, or for so long."""
        until, found = time.monotonic() + seconds, list[tuple[int, RemotePart]]()
        while self._n_open:
            key, part = next(self._parts)
            document = self._documents[key]
            n_tokens -= document.n_tokens_of(part)
            found += ((key, before) for before in document.add(part))
            self._n_open -= part.is_last
            if n_tokens <= 0 or time.monotonic() >= until:
                break
        for key, document in self._documents.items():
            found += ((key, rest) for rest in document.unsent())
        return Stretch(found, is_done=not self._n_open)


class _Document:
    """A document of a packet: the parts that were not sent yet."""

    def __init__(self, unread: Unread) -> None:
        n_tokens = unread.n_tokens
        # as in `indexer.embedding`: the driver keeps the last state that stays valid if text is added at the end
        is_kept = n_tokens >= RESUME_FROM_TOKENS
        self._stable_tokens = n_tokens - unread.passages[-1].n_tokens if is_kept else 0
        self._n_tokens_done = 0
        self._parts: list[Part] = []

    def n_tokens_of(self, part: Part) -> int:
        """Return how many tokens a part has read."""
        before, self._n_tokens_done = self._n_tokens_done, part.n_tokens_done
        return part.n_tokens_done - before

    def add(self, part: Part) -> Iterator[RemotePart]:
        """Take over a part. Yield the parts before it, joined, if their state is the last stable one."""
        if self._parts and self._parts[-1].n_tokens_done <= self._stable_tokens < part.n_tokens_done:
            yield from self.unsent()
        self._parts.append(part)

    def unsent(self) -> Iterator[RemotePart]:
        """Yield the parts that were not sent yet, joined into one, if there are any."""
        if not self._parts:
            return
        parts, self._parts = self._parts, []
        first, last = parts[0], parts[-1]
        yield RemotePart(
            first.first_passage,
            np.concatenate([part.vectors for part in parts]),
            [(starts, vectors) for part in parts for starts, vectors in part.excerpts],
            last.n_tokens_done,
            None if last.is_last else last.saved_state(),
            last.document_vector,
            last.is_last,
        )
