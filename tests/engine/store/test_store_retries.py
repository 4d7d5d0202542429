"""Files that failed or are partial are retried, and keep their documents until the retry succeeds."""

import numpy as np

from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from tests.engine.store.store_helpers import add, document, embed, record, vectors_of_passages


def test_the_next_retry_is_the_earliest_of_all_files(store: Store) -> None:
    assert store.next_retry() is None
    for name, retry_at in (("a.pdf", 300.0), ("b.pdf", None), ("c.pdf", 200.5)):
        store.add_failure(record(name), "a drive that fails", "", n_failures=1, retry_at=retry_at)
    assert store.next_retry() == 200.5
    assert store.next_retry(after=200.5) == 300.0


def retry_times(store: Store) -> dict[str, float | None]:
    return {path: file.retry_at for path, file in store.catalogue().items()}


def test_failed_and_partial_files_are_retried_on_request_and_keep_their_documents_until_then(store: Store) -> None:
    whole, partial = add(store, "whole.pdf", "a"), store.add_document(record("partial.pdf"), *document("b"), "page 2")
    embed(store, whole)
    embed(store, partial)
    store.add_document(record("waiting.pdf"), *document("c"), "page 7 (scanned?)")
    store.add_failure(record("failed.pdf"), "scanned?", "")
    before = store.files()
    assert store.read_again(lambda reason: "scanned?" in reason) == 2
    assert retry_times(store) == {"failed.pdf": 0, "partial.pdf": None, "waiting.pdf": 0, "whole.pdf": None}
    assert store.read_again() == 3
    assert retry_times(store) == {"failed.pdf": 0, "partial.pdf": 0, "waiting.pdf": 0, "whole.pdf": None}
    assert [file._replace(retry_at=None) for file in store.files()] == before


def test_a_partial_file_whose_retry_failed_keeps_its_document(store: Store) -> None:
    embed(store, store.add_document(record("a.pdf"), *document("a"), "page 2"))
    store.add_failed_retry(record("a.pdf"), 1, 300.0)
    (file,) = store.files()
    assert (file.status, file.reason, file.n_failures, file.retry_at) == (FileStatus.PARTIAL, "page 2", 1, 300.0)


def test_a_file_that_is_read_again_with_the_same_text_keeps_its_vectors(store: Store) -> None:
    partial = store.add_document(record("a.pdf"), *document("a"), "page 2", "try a repaired copy")
    vectors = embed(store, partial)
    store.read_again()
    assert store.add_document(record("a.pdf"), *document("a"), "page 2: OCR failed", "") == partial
    np.testing.assert_array_equal(vectors_of_passages(store, partial), vectors)
    (file,) = store.files()
    assert (file.status, file.reason, file.hint) == (FileStatus.PARTIAL, "page 2: OCR failed", "")
    assert retry_times(store) == {"a.pdf": None}
    store.add_document(record("a.pdf"), *document("a"))
    assert store.files()[0].status is FileStatus.CURRENT


def test_a_file_that_is_read_again_with_more_text_replaces_its_document_in_every_copy(store: Store) -> None:
    content_hash, text, passages = document("a")
    partial = store.add_document(record("a.pdf"), content_hash, *document("a", 2)[1:], "page 2")
    store.link(record("copy.pdf"), content_hash)
    embed(store, partial)
    document_id = store.add_document(record("a.pdf"), content_hash, text, passages)
    assert document_id != partial
    assert [pending.document_id for pending in store.pending()] == [document_id]
    assert {file.status for file in store.files()} == {FileStatus.WAITING}
