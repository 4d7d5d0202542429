"""Carries out the plan: reads each file's text, makes it searchable by words, then by meaning.

Works in two phases. `read` stores the text and the words of every changed file (milliseconds a page). `embed` computes
the vectors, which takes most of the time (see `indexer.embedding`). Knows no model: the caller passes an encoder.
"""

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from longsearch.engine.errors import BeingWrittenError, ExtractionError, GoneError, ReadingStoppedError, TemporaryError
from longsearch.engine.store.records import FileStamp, KnownFile, SavedState
from longsearch.engine.store.session import SharedTransaction
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import Passage
from longsearch.indexer.describing import Extractor, describe_old
from longsearch.indexer.drives import find_drives
from longsearch.indexer.embedding import N_TOGETHER, Deepener, Embedder
from longsearch.indexer.encoders import DocumentEncoder
from longsearch.indexer.extract.reader import Result
from longsearch.indexer.plan import Action, Forget, Move, Read, RootOffline, as_read, chosen, identity, plan
from longsearch.indexer.rate import Rate
from longsearch.indexer.retries import retry_at
from longsearch.indexer.sources.source import Folder, Source
from longsearch.indexer.suspects import MOST_ENDS, Suspects
from longsearch.indexer.token_cache import TokenCache
from longsearch.indexer.walk import Listing, WalkProblem, device_around

ACTIVITY_S = 1.0
_ENDED_HINT = "it is read again when it changes; at once: longsearch index --retry-failed"


@dataclass(frozen=True, slots=True)
class ReadSummary:
    """The result of reading a root."""

    n_read: int
    n_failed: int
    n_moved: int
    n_forgotten: int
    problems: tuple[str, ...]
    """Folders that could not be listed or whose drive is away, or that the root is offline."""
    finished: bool
    """False if `should_stop` ended the reading."""


class Pipeline:
    """Brings the index of one root in step with the disk. For one thread; the store is open for writing."""

    def __init__(
        self,
        root: Path,
        store: Store,
        extractor: Extractor,
        encoder: DocumentEncoder,
        should_stop: Callable[[], bool] = lambda: False,
        source: Source | None = None,
    ) -> None:
        """Make `encoder` the model of the index. Raises ModelError if it is a new model and cannot be loaded.

        A change of model drops all vectors, so the new model is loaded first. `source`: where the files lie.
        """
        self._source: Source = source or Folder(root)
        self._root, self._store, self._extractor = root, store, extractor
        self._encoder, self._should_stop = encoder, should_stop
        self._tokens, self._suspects = TokenCache(), Suspects(store.path)
        self._rate = Rate()
        self._embedding = (store, encoder, self._tokens, should_stop, self._embedded)
        self._activity_at = 0.0
        self._catalogue: dict[str, KnownFile] = {}
        self._listed_ns = 0
        if store.model_in_use() not in (None, (encoder.fingerprint, encoder.dim)):
            encoder.ensure_loaded()
        store.use_model(encoder.fingerprint, encoder.dim, encoder.excerpt_weight)

    def read(self, only: Collection[str] | None = None) -> ReadSummary:
        """Run phase A: bring the files, texts and words in the store in step with the disk.

        `only`: the paths of the files to look at, relative to the root; None: all. The others stay as they are.
        """
        self._listed_ns = time.time_ns()
        listing = self._source.listing()
        self._catalogue = self._store.catalogue()
        if listing.passed_over != self._store.passed_over():
            self._store.remember_passed_over(listing.passed_over)
        problems = [*listing.problems, *self._drives_away(listing)]
        found, known, missing = chosen(listing.files, self._catalogue, only)
        reasons = (*map(str, problems), *missing)
        self._note_times(found, known)
        try:
            actions = plan(found, known, {problem.path for problem in problems}, time.time())
        except RootOffline as offline:
            return ReadSummary(0, 0, 0, 0, (*reasons, offline.message), finished=True)
        if not listing.is_steady:  # a file that seems to be gone may have moved during the walk
            actions = [action for action in actions if not isinstance(action, Forget)]
        summary = self._carry_out(actions, reasons)
        describe_old(self._store, self._root, self._extractor, self._should_stop, self._report)
        return summary

    def _note_times(self, found: Mapping[str, FileStamp], known: Mapping[str, KnownFile]) -> None:
        """Record the times of change of files of an index whose longsearch did not know them."""
        without = (known[path].stamp for path in known.keys() & found.keys() if not known[path].stamp.ctime_ns)
        if stamps := [found[one.path] for one in without if found[one.path] == one and found[one.path].ctime_ns]:
            self._store.note_times(stamps)

    def _drives_away(self, listing: Listing) -> tuple[WalkProblem, ...]:
        """Return the folders whose drive was there before and is not there now.

        Records the drives that are there now, before any of their files is stored.
        """
        remembered = self._store.drives()
        unlisted = {problem.path for problem in listing.problems}
        found = set(map(identity, listing.files.values()))  # a drive may be mounted at another folder now
        unlisted_files = (file.stamp for path, file in self._catalogue.items() if path not in listing.files)
        drives = find_drives(
            remembered,
            listing.folders,
            [stamp.path for stamp in unlisted_files if identity(stamp) not in found],
            # the walk reports paths that it cannot see, so they exist
            lambda path: path in unlisted or os.path.lexists(self._root / path),
            device_around(self._root),
        )
        if drives.folders != remembered:
            self._store.remember_drives(drives.folders)
        return drives.away

    def embed(self, n_together: int = N_TOGETHER) -> bool:
        """Run phase B: compute missing vectors, `n_together` documents at a time. Returns False if it was stopped."""
        while self._store.index_words_again():  # none, unless an older longsearch made the index
            if self._should_stop():
                return False
        if finished := Embedder(*self._embedding, n_together).embed_all():
            self._report("")
        return finished

    def deepen(self, n_together: int = N_TOGETHER) -> bool:
        """Read narrow documents again at full width (see `Deepener`). Otherwise as `embed`."""
        finished = Deepener(*self._embedding, n_together).embed_all()
        self._report("")
        return finished

    def _embedded(self, activity: str, n_tokens: int) -> None:
        self._rate.add(n_tokens)
        self._report(activity)

    def _carry_out(self, actions: Sequence[Action], problems: tuple[str, ...]) -> ReadSummary:
        done: Counter[str] = Counter()
        finished = True
        with self._suspects.among({action.stamp.path for action in actions if isinstance(action, Read)}):
            # consecutive actions of one kind go together: moves happen at one moment, and files are read in parallel
            for kind, run in groupby(actions, key=type):
                if kind is Read:
                    self._read_all([action.stamp for action in run if isinstance(action, Read)], done)
                elif kind is Move:
                    moves = [(action.old, action.new) for action in run if isinstance(action, Move)]
                    done["moved"] += self._store.move(moves)
                else:
                    self._forget([action.path for action in run if isinstance(action, Forget)], done)
                if self._should_stop():
                    finished = sum(done.values()) == len(actions)
                    break
        self._report("")
        return ReadSummary(done["read"], done["failed"], done["moved"], done["forgotten"], problems, finished)

    def _forget(self, paths: Sequence[str], done: Counter[str]) -> None:
        """Forget files, unless a listed file vanished before it was read: one of these may be the same file, moved."""
        if done["gone"]:
            done["kept"] += len(paths)
            return
        self._store.forget(paths)
        done["forgotten"] += len(paths)

    def _read_all(self, stamps: Sequence[FileStamp], done: Counter[str]) -> None:
        """Read files: first, one by one, those in whose reading a process ended, then the others."""
        suspects = [stamp for stamp in stamps if self._suspects.n_ends(stamp.path)]
        others = [stamp for stamp in stamps if not self._suspects.n_ends(stamp.path)]
        for stamp in suspects:
            if self._suspects.n_ends(stamp.path) < MOST_ENDS:
                self._read_files([stamp], done)
            else:
                self._fail(stamp, ExtractionError("ended longsearch each time it was read", _ENDED_HINT), done)
                self._suspects.was_read(stamp.path)
            if self._should_stop():
                return
        self._read_files(others, done)

    def _read_files(self, stamps: Sequence[FileStamp], done: Counter[str]) -> None:
        """Read several files at once and store them one by one. A bad file becomes a row with a reason, not a crash."""
        begun: deque[tuple[FileStamp, bytes | None]] = deque()
        shared = SharedTransaction(self._store)
        extracted = self._extractor.extract_all(self._to_extract(stamps, begun, done), before_waiting=shared.close)
        with shared, closing(extracted) as results, suppress(ReadingStoppedError):
            for path, result in results:
                stamp, content_hash = begun[0]
                shared.begin()
                try:
                    self._store_result(path, stamp, content_hash, result)
                    done["read"] += 1
                except (OSError, ExtractionError) as error:
                    self._fail(stamp, error, done)
                begun.popleft()
                self._suspects.was_read(stamp.path)
                shared.commit_if_due()
                if self._should_stop():  # only after storing: otherwise each stop would lose a minute of reading
                    return

    def _to_extract(
        self, stamps: Sequence[FileStamp], begun: deque[tuple[FileStamp, bytes | None]], done: Counter[str]
    ) -> Iterator[Path]:
        """Yield the files to extract, and add each with its hash to `begun`. Link files whose bytes are known."""
        for number, stamp in enumerate(stamps, 1):
            if self._should_stop():
                return
            path = self._root / stamp.path
            self._report(f"reading {number:,} of {len(stamps):,}: {stamp.path}")
            try:
                content_hash = self._source.hash_of(path)
            except OSError as error:
                self._fail(stamp, error, done)
                continue
            if self._is_stored(stamp, content_hash):
                known = self._catalogue.get(stamp.path)
                done["same" if known and known.stamp == stamp else "read"] += 1
            else:
                begun.append((stamp, content_hash))
                self._suspects.reading(one.path for one, _ in begun)
                yield path

    def _is_stored(self, stamp: FileStamp, content_hash: bytes | None) -> bool:
        """Let a file hold the document of its bytes, and return whether there is one."""
        known = self._catalogue.get(stamp.path)
        is_outdated = known is not None and known.stamp.reader_version < stamp.reader_version
        is_new = not content_hash or is_outdated or self._is_retry_of_partial_file(stamp)
        return not is_new and self._store.link(as_read(stamp, self._listed_ns), content_hash or b"")

    def _store_result(self, path: Path, stamp: FileStamp, before: bytes | None, result: Result) -> None:
        """Store the document of a file. Raises OSError or ExtractionError if the file is bad.

        `before`: the hash of its bytes before it was read, if that could be known.
        """
        content_hash = before or result.content_hash
        if self._is_stored(stamp, content_hash):
            return  # a copy of the file was stored just now
        if isinstance(result, ExtractionError):
            self._source.size_of(path)  # raises FileNotFoundError if the file is gone: that is the reason then
            raise result
        if before is not None and self._source.hash_of(path) != before:
            raise BeingWrittenError("the file changed while it was read", "it will be read again")
        document = result.document
        tokens, passages = self._encoder.split(document.text)
        resume = self._store.saved_state(stamp.path)
        if resume and not (len(tokens) and self._can_resume(resume, tokens, passages)):
            resume = None  # the new text does not begin with the text that the file held before
        reason, hint = result.partial_reason, result.hint
        stamp = as_read(stamp, self._listed_ns)
        document_id = self._store.add_document(stamp, content_hash, document, passages, reason, hint, resume)
        self._tokens.put(document_id, tokens)

    def _can_resume(self, saved: SavedState, tokens: Any, passages: list[Passage]) -> bool:
        """Return whether a document can go on from a state, at the width of the model that made the state."""
        return self._encoder.at(saved.width).can_resume(tokens, passages, saved.state)

    def _fail(self, stamp: FileStamp, error: OSError | ExtractionError, done: Counter[str]) -> None:
        if isinstance(error, FileNotFoundError | GoneError):
            done["gone"] += 1  # it went after it was listed: the next sweep finds or forgets it
            return
        if not isinstance(error, ExtractionError):
            error = TemporaryError(f"cannot be opened: {error.strerror}", "check that you may read it")
        known = self._catalogue.get(stamp.path)
        if isinstance(error, BeingWrittenError) and known and not known.failed:
            done["kept"] += 1  # a log that grows all day keeps its old text searchable; the next sweep reads it again
            return
        n_failures = 1 + (known.n_failures if known and known.stamp == stamp else 0)
        again_at = retry_at(n_failures, error.n_retries, time.time())
        is_held = known is not None and not known.failed and known.stamp == stamp  # by name, size and time
        if is_held:
            self._store.add_failed_retry(stamp, n_failures, again_at)
        else:
            self._store.add_failure(stamp, error.message, error.hint, n_failures, again_at, error.n_scanned)
        done["failed"] += 1

    def _is_retry_of_partial_file(self, stamp: FileStamp) -> bool:
        """Return whether the file is unchanged and was read only in part, so that this time more of it may be read."""
        known = self._catalogue.get(stamp.path)
        return known is not None and not known.failed and known.stamp == stamp and known.retry_at is not None

    def _report(self, activity: str) -> None:
        """Show other processes the current activity, at most once a second; show "" (nothing to do) at once."""
        now = time.monotonic()
        if not activity or now - self._activity_at > ACTIVITY_S:
            self._activity_at = now
            self._store.set_activity(activity, self._rate.per_s() if activity else 0.0)
