"""Mails with attachments and office files, a fifth of them damaged: no crash, a status for each, all words found."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from longsearch.engine.store import documents, files, keywords
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.indexer.extract.pool import ExtractorPool
from longsearch.indexer.pipeline import Pipeline
from tests.engine.store.store_helpers import check_invariants, search
from tests.faults.mails_and_office import write
from tests.indexer.fake_encoder import FakeEncoder

_CRASHES = ("crashed", "made the reader fail", "took more than", "sent nonsense")


def _status(file: FileReport) -> str:
    """Return how much of the file was read. Until it has its vectors, its own status is WAITING."""
    return "failed" if file.status is FileStatus.FAILED else "partial" if file.reason else "read"


def _holding(store: Store, word: str) -> set[str]:
    """Return the files of which the index holds this word. A search would also rank them, for each of 2,000 words."""
    with store.reading() as db:
        passages = keywords.matching(db, f'"{word}"').tolist()
        of_passages = set(documents.documents_of(db, passages).values())
        return {path for id_ in of_passages for path in files.paths_of(db, id_)}


def test_every_mail_and_office_file_gets_a_status_and_is_found(
    tmp_path: Path, rounds: int, note: Callable[[str], None]
) -> None:
    root = tmp_path / "root"
    n_mails, n_office = max(24, 5 * rounds), max(48, rounds)
    words = write(root, n_mails, n_office)
    began = time.process_time(), time.monotonic()
    with Store.open(tmp_path / "index.sqlite", root=root) as store, ExtractorPool(2) as pool:
        summary = Pipeline(root, store, pool, FakeEncoder()).read()
        took_s = time.monotonic() - began[1]
        reports = {file.path: file for file in store.files()}
        assert summary.finished
        assert len(reports) == n_mails + n_office + 1
        for file in reports.values():
            assert _status(file) != "failed" or file.reason
            assert not any(crash in file.reason for crash in _CRASHES), file
        for path, found_by in words.items():
            assert _status(reports[path]) in ("read", "partial"), reports[path]
            for word in found_by:
                assert path in _holding(store, word), (path, word)
        every = max(1, len(words) // 40)
        for path, found_by in list(words.items())[::every]:
            hits = search(store, found_by[0]).hits
            assert path in {Path(hit.path).name for hit in hits}, (path, found_by[0])
        check_invariants(store)
    statuses = Counter(_status(file) for file in reports.values())
    note(f"{n_mails} mails, {n_office} office files, 1 mailbox: read in {took_s:.0f} s, {dict(statuses)}")
    for reason, n in Counter(file.reason.partition(":")[0] for file in reports.values() if file.reason).most_common(12):
        note(f"  {n:>4} x {reason}")
