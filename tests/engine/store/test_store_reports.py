"""The progress of the index, by file and in total, and the activity of its writer."""

import subprocess
import sys
import time

import pytest

from longsearch.engine.store import reports
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from tests.engine.store.store_helpers import add, document, embed, record, unit_vectors


def test_each_file_has_its_status(store: Store) -> None:
    embed(store, add(store, "current.pdf", "a"))
    partial = store.add_document(record("partial.pdf"), *document("b"), "only 3 of 9 pages could be read", "try again")
    add(store, "waiting.pdf", "c")
    store.add_failure(record("failed.pdf"), "encrypted", "give the password")
    assert {file.path: file.status for file in store.files()}["partial.pdf"] is FileStatus.WAITING
    embed(store, partial)
    statuses = {file.path: (file.status, file.reason, file.hint) for file in store.files()}
    assert statuses == {
        "current.pdf": (FileStatus.CURRENT, "", ""),
        "partial.pdf": (FileStatus.PARTIAL, "only 3 of 9 pages could be read", "try again"),
        "waiting.pdf": (FileStatus.WAITING, "", ""),
        "failed.pdf": (FileStatus.FAILED, "encrypted", "give the password"),
    }


def test_tokens_and_pages_are_counted(store: Store) -> None:
    document_id = add(store, "a.pdf", "a", n_passages=4)
    store.add_vectors(document_id, 0, unit_vectors(1), 9, b"state")
    (file,) = store.files()
    assert (file.n_pages, file.n_tokens, file.n_tokens_embedded) == (2, 36, 9)


def test_a_copy_counts_as_a_file_but_its_tokens_count_once(store: Store) -> None:
    embed(store, add(store, "a.pdf", "a"))
    store.link(record("copy.pdf"), document("a")[0])
    add(store, "b.pdf", "b")
    store.add_failure(record("c.pdf"), "encrypted")
    found = store.progress()
    assert (found.n_files, found.n_current, found.n_waiting, found.n_partial, found.n_failed) == (4, 2, 1, 0, 1)
    assert (found.n_tokens, found.n_tokens_embedded) == (54, 27)


def test_empty_files_and_scans_that_wait_for_ocr_are_counted_as_without_text(store: Store) -> None:
    store.add_failure(record("a.pdf"), "encrypted")
    store.add_failure(record("b.txt", size=0), "empty file")
    store.add_failure(record("c.pdf"), "no text in it", n_scanned=3)
    found = store.progress()
    assert (found.n_failed, found.n_without_text, found.n_scanned) == (3, 2, 3)


def test_an_empty_index_has_no_progress(store: Store) -> None:
    found = store.progress()
    assert (found.n_files, found.n_tokens, found.activity, found.tokens_per_s) == (0, 0, "", 0.0)


def test_the_activity_of_a_living_writer_is_shown(store: Store) -> None:
    store.set_activity("reading \udcff.pdf", 120.5)
    assert (store.progress().activity, store.progress().tokens_per_s) == ("reading ?.pdf", 120.5)
    store.set_activity("")
    assert (store.progress().activity, store.progress().tokens_per_s) == ("", 0.0)


def test_the_activity_of_a_dead_writer_is_not_shown(store: Store) -> None:
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    store.set_activity("reading a.pdf", 10)
    with store.changing() as db:
        db.execute("UPDATE activity SET pid = ?", (int(child.stdout),))
    assert store.progress().activity == ""


def test_a_stale_activity_is_not_shown(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.set_activity("reading a.pdf", 10)
    later = time.time() + 3600
    monkeypatch.setattr(reports.time, "time", lambda: later)
    assert store.progress().activity == ""
