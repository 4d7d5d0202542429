"""Mails with attachments and office files, a fifth of them damaged: no crash, a status for each, all words found."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fake_encoder import FakeEncoder
from mails_and_office import write
from store_helpers import check_invariants

from longsearch.engine.search.query_language.query import parse
from longsearch.engine.search.searcher import search
from longsearch.engine.store.store import Store
from longsearch.engine.types import FileReport, FileStatus, SearchMode
from longsearch.indexer.extract.pool import ExtractorPool
from longsearch.indexer.pipeline import Pipeline

_CRASHES = ("crashed", "made the reader fail", "took more than", "sent nonsense")


def _status(file: FileReport) -> str:
    """Return how much of the file was read. Until it has its vectors, its own status is WAITING."""
    return "failed" if file.status is FileStatus.FAILED else "partial" if file.reason else "read"


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
        files = {file.path: file for file in store.files()}
        assert summary.finished
        assert len(files) == n_mails + n_office + 1
        for file in files.values():
            assert _status(file) != "failed" or file.reason
            assert not any(crash in file.reason for crash in _CRASHES), file
        for path, found_by in words.items():
            assert _status(files[path]) in ("read", "partial"), files[path]
            for word in found_by if path != "all.mbox" else found_by[:20]:
                hits = search(store, parse(word), SearchMode.WORDS).hits
                assert path in {Path(hit.path).name for hit in hits}, (path, word)
        check_invariants(store)
    statuses = Counter(_status(file) for file in files.values())
    note(f"{n_mails} mails, {n_office} office files, 1 mailbox: read in {took_s:.0f} s, {dict(statuses)}")
    for reason, n in Counter(file.reason.partition(":")[0] for file in files.values() if file.reason).most_common(12):
        note(f"  {n:>4} x {reason}")
