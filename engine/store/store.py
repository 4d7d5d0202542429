"""An index open for writing: adds and forgets files, adds vectors, records failures. Readers need only a `Session`.

Every method is one transaction. Reads no indexed file: the caller passes its text and its stamp.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from longsearch.engine.store import documents, files, furniture, languages, lifecycle, metadata, reports, salvage
from longsearch.engine.store.embedding import resuming
from longsearch.engine.store.embedding.vector_writer import VectorWriter
from longsearch.engine.store.records import FileStamp, KnownFile, SavedState
from longsearch.engine.types.documents import DocumentText, MetadataValue, Passage


class Store(VectorWriter):
    """An index open for writing; make one with `open`. Every method may raise `StoreError`."""

    _damage_in = staticmethod(salvage.damage_in)
    _take_over = staticmethod(salvage.take_over)

    # ---- files

    def catalogue(self) -> dict[str, KnownFile]:
        """Every known file as it was when it was indexed, by path."""
        with self.reading() as db:
            return files.catalogue(db)

    def add_document(
        self,
        file: FileStamp,
        content_hash: bytes,
        document: DocumentText,
        passages: Sequence[Passage],
        partial_reason: str = "",
        hint: str = "",
        saved: SavedState | None = None,
    ) -> int:
        """Make a document searchable by words, and return its id.

        The document replaces the one that the path held before. It also replaces a document of the same hash in all
        files. If the text and passages are unchanged, the document keeps its id and its vectors. With `saved`, a state
        from the document that this one grew out of, it takes over that document's vectors and resumes from the state.
        """
        with self.changing() as db:
            self._n_new += len(passages)
            return lifecycle.put_document(db, file, content_hash, document, passages, partial_reason, hint, saved)

    def saved_state(self, path: str) -> SavedState | None:
        """The state saved in the middle of the document that the path held when it was last indexed, or None."""
        with self.reading() as db:
            return resuming.of_file(db, path)

    def link(self, file: FileStamp, content_hash: bytes) -> bool:
        """Let the path hold a document that is already indexed; return False if the hash is unknown."""
        with self.changing() as db:
            document_id = documents.find(db, content_hash)
            if document_id is not None:
                lifecycle.put_file(db, file, document_id, n_scanned=files.n_scanned(db, document_id))
        return document_id is not None

    def add_failure(
        self,
        file: FileStamp,
        reason: str,
        hint: str = "",
        n_failures: int = 1,
        retry_at: float | None = None,
        n_scanned: int = 0,
    ) -> None:
        """Record that the file cannot be read, and why.

        `n_failures`: how often in a row it has failed. `retry_at`: when to retry it, in seconds since 1970; None: only
        after it has changed. `n_scanned`: pages that OCR could read.
        """
        with self.changing() as db:
            lifecycle.put_file(db, file, None, reason or "Unknown error", hint, n_scanned)
            files.set_retry(db, file.path, n_failures, retry_at)

    def next_retry(self, after: float = 0.0) -> float | None:
        """The first time later than `after` at which a file is due for a retry, in seconds since 1970, or None."""
        with self.reading() as db:
            return files.next_retry(db, after)

    def add_failed_retry(self, file: FileStamp, n_failures: int, retry_at: float | None) -> None:
        """Record that a retry of a partial file failed. Arguments as for `add_failure`. The file keeps its document."""
        with self.changing() as db:
            files.set_retry(db, file.path, n_failures, retry_at)
            files.set_reader_version(db, file)

    def read_again(self, admits: Callable[[str], bool] = bool) -> int:
        """Have the next sweep retry every file that failed or is partial, if `admits` accepts its reason.

        Return the number of these files. Until then each file keeps its document.
        """
        with self.changing() as db:
            paths = [file.path for file in reports.files(db) if file.reason and admits(file.reason)]
            files.read_again(db, paths)
        return len(paths)

    def reread(self) -> None:
        """Have the next sweep compare the bytes of every file with what was read of it."""
        with self.changing() as db:
            files.reread(db)

    def note_times(self, stamps: Sequence[FileStamp]) -> None:
        """Record the times of files that have not changed, of which an older longsearch did not know all."""
        with self.changing() as db:
            for stamp in stamps:
                files.touch(db, stamp)

    def ask_for_scans(self, is_asked: bool = True) -> int:
        """Have the next sweep read every file again that has scanned pages; return the number of these files.

        With False, take that back. Until then each file keeps its document.
        """
        with self.changing() as db:
            return files.ask_for_scans(db, is_asked)

    def move(self, moves: Sequence[tuple[str, FileStamp]]) -> int:
        """Record renames, each from a path to a file; return how many of the old paths were known.

        All renames happen at once, so two files may swap names. No path may occur twice among the old paths, or twice
        among the new ones.
        """
        with self.changing() as db:
            return lifecycle.move(db, moves)

    def drives(self) -> frozenset[str]:
        """The folders, relative to the root, that `remember_drives` recorded last."""
        with self.reading() as db:
            return files.drives(db)

    def remember_drives(self, folders: Collection[str]) -> None:
        """Record, for later sweeps, the folders where other drives are mounted."""
        with self.changing() as db:
            files.set_drives(db, folders)

    def passed_over(self) -> dict[str, int]:
        """Suffix -> number of files that cannot be read, as `remember_passed_over` recorded it last."""
        with self.reading() as db:
            return files.passed_over(db)

    def remember_passed_over(self, counts: Mapping[str, int]) -> None:
        """Record, for `longsearch status`, how many files cannot be read, by suffix."""
        with self.changing() as db:
            files.set_passed_over(db, counts)

    def forget(self, paths: Iterable[str]) -> None:
        """Forget files that are gone, each in its own transaction, and the documents that no file holds any more."""
        for path in paths:
            with self.changing() as db:
                lifecycle.settle(db, files.forget(db, path))

    # ---- documents

    def text(self, document_id: int) -> DocumentText:
        """The whole document."""
        with self.reading() as db:
            return documents.text(db, document_id)

    def passages(self, document_id: int) -> list[Passage]:
        """A document's passages in order; [] if the document is unknown."""
        with self.reading() as db:
            return documents.passages(db, document_id)

    def undescribed(self) -> list[tuple[int, str]]:
        """Documents whose metadata have not been read by today's rules, each with the path of a file that holds it."""
        with self.reading() as db:
            return metadata.undescribed(db)

    def describe(self, document_id: int, title: str, values: Sequence[MetadataValue]) -> None:
        """Give a document its own title ("" keeps the old one) and its metadata. Text and vectors stay."""
        with self.changing() as db:
            if documents.exists(db, document_id):
                lifecycle.describe(db, document_id, title or metadata.own_title(db, document_id), values)
                lifecycle.settle(db, document_id)

    def index_words_again(self) -> bool:
        """Index the words of one document as it is done now, or look for its lists of references and the like.

        Return False if an older longsearch left none to do.
        """
        with self.reading() as db:
            with_old_words, not_looked_at = languages.next_unsettled(db), furniture.next_unknown(db)
        if with_old_words is None and not_looked_at is None:
            return False
        with self.changing() as db:
            if with_old_words is not None:
                lifecycle.index_words_again(db, with_old_words)
            elif not_looked_at is not None:
                lifecycle.find_furniture(db, not_looked_at)
        return True

    def set_activity(self, text: str, tokens_per_s: float = 0.0) -> None:
        """Tell all processes what this one is doing; "" for nothing."""
        with self.changing() as db:
            reports.set_activity(db, text, tokens_per_s)
