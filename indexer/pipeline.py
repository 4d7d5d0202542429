"""What is done for a file: read it, make its words searchable, then its meaning. Effects only; `plan` decides.

Two phases. `read` brings every changed file's text and words into the store (milliseconds a page). `embed` brings the
vectors (most of the time), in small transactions, so that it can stop at any moment and go on from there. Knows no
model: an encoder is handed in.
"""

import hashlib
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import ExtractionError, ModelError
from engine.store.records import FileRecord, PendingDocument
from engine.store.records import KnownFile as StoredFile
from engine.store.store import Store
from engine.types import Passage
from indexer.extract.reader import Result
from indexer.plan import Action, Forget, KnownFile, Move, Read, RootOffline, plan
from indexer.rate import Rate
from indexer.walk import FileStamp, WalkProblem, walk

CHECKPOINT_S = 10.0  # of work that a kill may cost inside one document; a state is some megabytes to write
ACTIVITY_S = 1.0
_HASH_BYTES = 1 << 20


class Part(Protocol):
    """A step of an encoder's pass; see `engine.inference.passes.EmbeddedPart`."""

    @property
    def first_passage(self) -> int: ...
    @property
    def vectors(self) -> NDArray[np.float32]: ...
    @property
    def n_tokens_done(self) -> int: ...
    @property
    def checkpoint(self) -> Callable[[], bytes]: ...
    @property
    def document_vector(self) -> NDArray[np.float32]: ...


class Extractor(Protocol):
    """What the pipeline asks of `indexer.extract.pool.ExtractorPool`, or of a single `ExtractorProcess`."""

    def extract_all(self, paths: Iterable[Path]) -> Generator[tuple[Path, Result]]:
        """Each file's text, or why there is none, in order; `paths` may be pulled a few ahead."""


class DocumentEncoder(Protocol):
    """What the pipeline asks of `engine.inference.Encoder`."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def dim(self) -> int: ...

    def tokenize(self, text: str) -> Any:
        """Tokens of a text (sized; the encoder's own)."""

    def split(self, text: str) -> tuple[Any, list[Passage]]:
        """Tokens and passages of a text."""

    def stream(self, tokens: Any, passages: list[Passage], checkpoint: bytes | None = None) -> Iterator[Part]:
        """One pass, part by part, from `checkpoint` on."""


@dataclass(frozen=True, slots=True)
class ReadSummary:
    """What a reading of the root came to."""

    n_read: int
    n_failed: int
    n_moved: int
    n_forgotten: int
    problems: tuple[str, ...]
    """Folders that could not be listed, or that the root is offline."""
    finished: bool
    """False where `should_stop` ended it."""


class Pipeline:
    """Keeps the store of one root as the disk is. For one thread; the store is open for writing."""

    def __init__(
        self,
        root: Path,
        store: Store,
        extractor: Extractor,
        encoder: DocumentEncoder,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._root = root
        self._store = store
        self._extractor = extractor
        self._encoder = encoder
        self._should_stop = should_stop
        self._rate = Rate()
        self._activity_at = 0.0
        store.use_model(encoder.fingerprint, encoder.dim)

    def read(self) -> ReadSummary:
        """Phase A: bring the store's files, texts and words up to what the disk holds."""
        problems: list[WalkProblem] = []
        listing = {stamp.path: stamp for stamp in walk(self._root, problems)}
        known = {path: KnownFile(_stamp(file), file.failed) for path, file in self._store.catalogue().items()}
        reasons = tuple(map(str, problems))
        try:
            actions = plan(listing, known, {problem.path for problem in problems})
        except RootOffline as offline:
            return ReadSummary(0, 0, 0, 0, (*reasons, offline.message), finished=True)
        return self._carry_out(actions, reasons)

    def embed(self) -> bool:
        """Phase B: bring the vectors of every document that lacks them. False where `should_stop` ended it."""
        while pending := self._store.pending(limit=1):
            if self._should_stop() or not self._embed_document(pending[0]):
                return False
        self._say("")
        return True

    def _carry_out(self, actions: Sequence[Action], problems: tuple[str, ...]) -> ReadSummary:
        done: Counter[str] = Counter()
        finished = True
        # A run of reads goes on together: each is of another path, so their order among themselves is free.
        for is_read, run in groupby(actions, key=lambda action: isinstance(action, Read)):
            if is_read:
                self._read_files([action.stamp for action in run if isinstance(action, Read)], done)
            else:
                for action in run:
                    done[self._do(action)] += 1
            if self._should_stop():
                finished = sum(done.values()) == len(actions)
                break
        self._say("")
        return ReadSummary(done["read"], done["failed"], done["moved"], done["forgotten"], problems, finished)

    def _do(self, action: Action) -> str:
        """Carry out one action that reads nothing; the summary's word for what it was."""
        match action:
            case Forget(path):
                self._store.forget([path])
                return "forgotten"
            case Move(old, stamp):
                self._store.move(old, _record(stamp))
                return "moved"
        raise AssertionError(action)

    def _read_files(self, stamps: Sequence[FileStamp], done: Counter[str]) -> None:
        """Bring files in, several read at once, stored one by one. A bad file is a row with a reason, never a crash."""
        begun: deque[tuple[FileStamp, bytes]] = deque()
        with closing(self._extractor.extract_all(self._unknown(stamps, begun, done))) as results:
            for path, result in results:
                if self._should_stop():
                    return
                stamp, content_hash = begun.popleft()
                self._say(f"reading {stamp.path}")
                try:
                    self._store_result(path, _record(stamp), content_hash, result)
                    done["read"] += 1
                except (OSError, ExtractionError) as error:
                    self._fail(_record(stamp), error, done)

    def _unknown(
        self, stamps: Iterable[FileStamp], begun: deque[tuple[FileStamp, bytes]], done: Counter[str]
    ) -> Iterator[Path]:
        """Those of the files whose content the store does not hold; `begun` gets each with its hash."""
        for stamp in stamps:
            if self._should_stop():
                return
            path, file = self._root / stamp.path, _record(stamp)
            try:
                content_hash = _hash(path)
            except OSError as error:
                self._fail(file, error, done)
                continue
            if self._store.link(file, content_hash):
                done["read"] += 1
            else:
                begun.append((stamp, content_hash))
                yield path

    def _store_result(self, path: Path, file: FileRecord, content_hash: bytes, result: Result) -> None:
        """Raises what is wrong with the file."""
        if self._store.link(file, content_hash):  # a copy of it came a moment before
            return
        if isinstance(result, ExtractionError):
            raise result
        if _hash(path) != content_hash:
            raise ExtractionError("the file changed while it was read", "it will be read again")
        document = result.document
        _, passages = self._encoder.split(document.text)
        self._store.add_document(file, content_hash, document, passages, result.partial_reason, result.hint)

    def _fail(self, file: FileRecord, error: OSError | ExtractionError, done: Counter[str]) -> None:
        if isinstance(error, ExtractionError):
            self._store.add_failure(file, error.message, error.hint)
        else:
            self._store.add_failure(file, f"cannot be opened: {error.strerror}", "check that you may read it")
        done["failed"] += 1

    def _embed_document(self, pending: PendingDocument) -> bool:
        """Bring the vectors of one document; False where it was stopped. What was done until then is kept."""
        document = self._store.text(pending.content_id)
        tokens = self._encoder.tokenize(document.text)
        passages = self._store.passages(pending.content_id)
        vectors: list[NDArray[np.float32]] = []
        first, saved_at = pending.n_passages_done, time.monotonic()
        n_tokens_before = pending.n_tokens_done
        try:
            for part in self._encoder.stream(tokens, passages, pending.state):
                vectors.append(part.vectors)
                self._rate.add(part.n_tokens_done - n_tokens_before)
                n_tokens_before = part.n_tokens_done
                self._say(f"embedding {document.title}")
                finished, stop = part.n_tokens_done >= len(tokens), self._should_stop()
                if finished or stop or time.monotonic() - saved_at > CHECKPOINT_S:
                    if not self._save(pending.content_id, first, np.concatenate(vectors), part, finished):
                        return True  # the document has gone meanwhile
                    first, saved_at, vectors = first + sum(map(len, vectors)), time.monotonic(), []
                if stop and not finished:
                    return False
        except ModelError:
            if pending.state is None:
                raise
            self._store.restart_embedding(pending.content_id)  # a damaged state: from the start
        return True

    def _save(self, content_id: int, first: int, vectors: NDArray[np.float32], part: Part, finished: bool) -> bool:
        """One transaction: vectors, how far, and the state to go on from or the document's own vector."""
        state = None if finished else part.checkpoint()
        with self._store.changing():
            known = self._store.add_vectors(content_id, first, vectors, part.n_tokens_done, state)
            if known and finished:
                self._store.finish_embedding(content_id, part.document_vector, part.n_tokens_done)
        return known

    def _say(self, activity: str) -> None:
        """Let other processes see what is done, once a second at most; "" at once."""
        now = time.monotonic()
        if not activity or now - self._activity_at > ACTIVITY_S:
            self._activity_at = now
            self._store.set_activity(activity, self._rate.per_s() if activity else 0.0)


def _hash(path: Path) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    with path.open("rb") as file:
        while block := file.read(_HASH_BYTES):
            digest.update(block)
    return digest.digest()


def _record(stamp: FileStamp) -> FileRecord:
    return FileRecord(stamp.path, stamp.size, stamp.mtime_ns, stamp.inode)


def _stamp(file: StoredFile) -> FileStamp:
    return FileStamp(file.path, file.size, file.mtime_ns, file.inode)
