"""What is done for a file: read it, make its words searchable, then its meaning. Effects only; `plan` decides.

Two phases. `read` brings every changed file's text and words into the store (milliseconds a page). `embed` brings the
vectors (most of the time; see `indexer.embedding`). Knows no model: an encoder is handed in.
"""

import hashlib
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Protocol

from engine.errors import BeingWrittenError, ExtractionError, PassingError
from engine.store.records import FileStamp, KnownFile
from engine.store.store import Store
from indexer.drives import find_drives
from indexer.embedding import DocumentEncoder, Embedder
from indexer.extract.reader import Result
from indexer.plan import Action, Forget, Move, Read, RootOffline, identity, plan
from indexer.rate import Rate
from indexer.retries import retry_at
from indexer.token_cache import TokenCache
from indexer.walk import CLOCK_TICK_NS, FolderStamp, WalkProblem, device_around, is_unchanged, walk

ACTIVITY_S = 1.0
_HASH_BYTES = 1 << 20
_MAX_WALKS = 3


class Extractor(Protocol):
    """What the pipeline asks of `indexer.extract.pool.ExtractorPool`."""

    def extract_all(self, paths: Iterable[Path]) -> Generator[tuple[Path, Result]]:
        """Each file's text, or why there is none, in order; `paths` may be pulled a few ahead."""


@dataclass(frozen=True, slots=True)
class ReadSummary:
    """What a reading of the root came to."""

    n_read: int
    n_failed: int
    n_moved: int
    n_forgotten: int
    problems: tuple[str, ...]
    """Folders that could not be listed or whose drive is away, or that the root is offline."""
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
        self._tokens = TokenCache()
        self._rate = Rate()
        self._activity_at = 0.0
        self._catalogue: dict[str, KnownFile] = {}
        if store.model_in_use() not in (None, (encoder.fingerprint, encoder.dim)):
            encoder.ensure_loaded()  # `use_model` drops the other model's vectors: only for a model that works
        store.use_model(encoder.fingerprint, encoder.dim)

    def read(self) -> ReadSummary:
        """Phase A: bring the store's files, texts and words up to what the disk holds."""
        listing, folders, problems, is_steady = self._listing()
        self._catalogue = self._store.catalogue()
        problems += self._drives_away(listing, folders, {problem.path for problem in problems})
        reasons = tuple(map(str, problems))
        try:
            actions = plan(listing, self._catalogue, {problem.path for problem in problems}, time.time())
        except RootOffline as offline:
            return ReadSummary(0, 0, 0, 0, (*reasons, offline.message), finished=True)
        if not is_steady:  # what seems to be gone may have been moved behind the walk's back
            actions = [action for action in actions if not isinstance(action, Forget)]
        return self._carry_out(actions, reasons)

    def _listing(self) -> tuple[dict[str, FileStamp], dict[str, FolderStamp], list[WalkProblem], bool]:
        """The files and folders of the root, what could not be looked at, and whether it is a picture of one moment:
        3 tries.
        """
        for _ in range(_MAX_WALKS):
            problems: list[WalkProblem] = []
            folders: dict[str, FolderStamp] = {}
            listing = {stamp.path: stamp for stamp in walk(self._root, problems, folders)}
            if is_steady := is_unchanged(self._root, folders):
                break
            time.sleep(CLOCK_TICK_NS / 1e9)
        return listing, folders, problems, is_steady

    def _drives_away(
        self, listing: Mapping[str, FileStamp], folders: Mapping[str, FolderStamp], unlisted: Collection[str]
    ) -> tuple[WalkProblem, ...]:
        """The folders whose drive was there once and is not now. Those whose drive is are noted before any of their
        files is.
        """
        remembered = self._store.drives()
        found = set(map(identity, listing.values()))  # a drive may be mounted on another folder now
        unlisted_files = (file.stamp for path, file in self._catalogue.items() if path not in listing)
        missing = [stamp.path for stamp in unlisted_files if identity(stamp) not in found]
        # what could not be looked at is there, and was told of by the walk
        drives = find_drives(
            remembered,
            folders,
            missing,
            lambda path: path in unlisted or os.path.lexists(self._root / path),
            device_around(self._root),
        )
        if drives.folders != remembered:
            self._store.remember_drives(drives.folders)
        return drives.away

    def embed(self) -> bool:
        """Phase B: bring the vectors of every document that lacks them. False where `should_stop` ended it."""
        finished = Embedder(self._store, self._encoder, self._tokens, self._should_stop, self._embedded).embed_all()
        if finished:
            self._say("")
        return finished

    def _embedded(self, title: str, n_tokens: int) -> None:
        self._rate.add(n_tokens)
        self._say(f"embedding {title}")

    def _carry_out(self, actions: Sequence[Action], problems: tuple[str, ...]) -> ReadSummary:
        done: Counter[str] = Counter()
        finished = True
        # Moves are made at one moment, and reads go on together: each is of another path.
        for kind, run in groupby(actions, key=type):
            if kind is Read:
                self._read_files([action.stamp for action in run if isinstance(action, Read)], done)
            elif kind is Move:
                moves = [(action.old, action.new) for action in run if isinstance(action, Move)]
                done["moved"] += self._store.move(moves)
            else:
                self._forget([action.path for action in run if isinstance(action, Forget)], done)
            if self._should_stop():
                finished = sum(done.values()) == len(actions)
                break
        self._say("")
        return ReadSummary(done["read"], done["failed"], done["moved"], done["forgotten"], problems, finished)

    def _forget(self, paths: Sequence[str], done: Counter[str]) -> None:
        """Where a file was gone before it could be read, it may be one of these, moved on: then they are kept."""
        if done["gone"]:
            done["kept"] += len(paths)
            return
        self._store.forget(paths)
        done["forgotten"] += len(paths)

    def _read_files(self, stamps: Sequence[FileStamp], done: Counter[str]) -> None:
        """Bring files in, several read at once, stored one by one. A bad file is a row with a reason, never a crash."""
        begun: deque[tuple[FileStamp, bytes]] = deque()
        with closing(self._extractor.extract_all(self._unknown(stamps, begun, done))) as results:
            for path, result in results:
                stamp, content_hash = begun.popleft()
                try:
                    self._store_result(path, stamp, content_hash, result)
                    done["read"] += 1
                except (OSError, ExtractionError) as error:
                    self._fail(stamp, error, done)
                if self._should_stop():  # not before: what took a minute to read would be thrown away, each time
                    return

    def _unknown(
        self, stamps: Iterable[FileStamp], begun: deque[tuple[FileStamp, bytes]], done: Counter[str]
    ) -> Iterator[Path]:
        """Those of the files whose content the store does not hold whole; `begun` gets each with its hash."""
        for stamp in stamps:
            if self._should_stop():
                return
            path = self._root / stamp.path
            self._say(f"reading {stamp.path}")
            try:
                content_hash = _hash(path)
            except OSError as error:
                self._fail(stamp, error, done)
                continue
            if not self._is_asked_for(stamp) and self._store.link(stamp, content_hash):
                done["read"] += 1
            else:
                begun.append((stamp, content_hash))
                yield path

    def _store_result(self, path: Path, stamp: FileStamp, content_hash: bytes, result: Result) -> None:
        """Raises what is wrong with the file."""
        if not self._is_asked_for(stamp) and self._store.link(stamp, content_hash):  # a copy came a moment before
            return
        if isinstance(result, ExtractionError):
            path.stat()  # where it is gone, that is what is wrong
            raise result
        if _hash(path) != content_hash:
            raise BeingWrittenError("the file changed while it was read", "it will be read again")
        document = result.document
        tokens, passages = self._encoder.split(document.text)
        resume = self._store.saved_state(stamp.path)
        if resume and not (len(tokens) and self._encoder.can_resume(tokens, passages, resume.state)):
            resume = None  # it is not what the file held before with something added
        reason, hint = result.partial_reason, result.hint
        document_id = self._store.add_document(stamp, content_hash, document, passages, reason, hint, resume)
        self._tokens.put(document_id, tokens)

    def _fail(self, stamp: FileStamp, error: OSError | ExtractionError, done: Counter[str]) -> None:
        if isinstance(error, FileNotFoundError):  # since it was listed: the next sweep finds it elsewhere or forgets it
            done["gone"] += 1
            return
        if not isinstance(error, ExtractionError):
            error = PassingError(f"cannot be opened: {error.strerror}", "check that you may read it")
        known = self._catalogue.get(stamp.path)
        if isinstance(error, BeingWrittenError) and known and not known.failed:
            done["kept"] += 1  # a log that grows all day stays searchable as it was; the next sweep reads it again
            return
        n_failures = 1 + (known.n_failures if known and known.stamp == stamp else 0)
        again_at = retry_at(n_failures, error.n_retries, time.time())
        if self._is_asked_for(stamp):
            self._store.put_off(stamp, n_failures, again_at)
        else:
            self._store.add_failure(stamp, error.message, error.hint, n_failures, again_at)
        done["failed"] += 1

    def _is_asked_for(self, stamp: FileStamp) -> bool:
        """Whether a file that is to be read has not changed and was read in part: to do better is why it is read."""
        known = self._catalogue.get(stamp.path)
        return known is not None and not known.failed and known.stamp == stamp

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
