"""Frozen indexes, one per released schema. `python -m tests.engine.store.released` freezes one of today's schema.

Run this when a release adds a migration; never run it again for a released schema. Commit 59106fb wrote the
fixture of schema 5. Schemas 6 to 22 are not released yet: freeze the last again if it changes before the release.
"""

import lzma
import tempfile
from pathlib import Path

from longsearch.engine.store.schema import MIGRATIONS
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from tests.engine.store.store_helpers import (
    add,
    check_invariants,
    document,
    embed,
    open_store,
    record,
    unit_vectors,
    vectors_of_passages,
)

FIXTURES = Path(__file__).parent / "fixtures"


def fill(store: Store) -> None:
    """Add a document of each kind: complete, half done, waiting, partial, failed; a copy; a name that is not UTF-8."""
    store.use_model("model-a", 8)
    embed(store, add(store, "complete.pdf", "complete", 5), seed=1)
    store.link(record("folder/copy.pdf"), document("complete", 5)[0])
    half = add(store, "half \udcff.pdf", "half", 6)
    store.add_vectors(half, 0, unit_vectors(6, seed=2)[:4], 36, b"a state")
    add(store, "waiting.md", "waiting", 2)
    embed(
        store, store.add_document(record("partial.pdf"), *document("partial"), "3 pages are lost", "repair it"), seed=3
    )
    store.add_failure(record("failed.pdf", 7, -1, 2**64 - 1), "encrypted", "give the password")


def check(store: Store) -> None:
    """Check that everything `fill` added is there."""
    check_invariants(store)
    assert {file.path: file.status for file in store.files()} == {
        "complete.pdf": FileStatus.CURRENT,
        "folder/copy.pdf": FileStatus.CURRENT,
        "half \udcff.pdf": FileStatus.WAITING,
        "waiting.md": FileStatus.WAITING,
        "partial.pdf": FileStatus.PARTIAL,
        "failed.pdf": FileStatus.FAILED,
    }
    known = store.catalogue()["failed.pdf"]
    assert (known.stamp, known.failed) == (record("failed.pdf", 7, -1, 2**64 - 1), True)
    assert store.model_in_use() == ("model-a", 8)
    for seed, n_passages, vectors in (
        ("complete", 5, unit_vectors(5, seed=1)),
        ("half", 6, unit_vectors(6, seed=2)[:4]),
        ("waiting", 2, unit_vectors(0)),
        ("partial", 3, unit_vectors(3, seed=3)),
    ):
        content_hash, text, passages = document(seed, n_passages)
        with store.reading() as db:
            document_id = db.execute("SELECT id FROM contents WHERE hash = ?", (content_hash,)).get
        assert (store.text(document_id), store.passages(document_id)) == (text, passages)
        assert (vectors_of_passages(store, document_id) == vectors).all()
    (half, *_) = store.pending()
    assert (half.n_passages_done, half.n_tokens_done, half.state) == (4, 36, b"a state")
    assert half.width == 1.0  # schemas before 6 did not say: there was no other
    assert store.narrow() == []


def unpack(fixture: Path, path: Path) -> None:
    """Unpack a frozen index to `path`."""
    path.write_bytes(lzma.decompress(fixture.read_bytes()))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        with open_store(path) as store:
            fill(store)
            check(store)
            store.tidy()
        fixture = FIXTURES / f"schema-{len(MIGRATIONS)}.sqlite.xz"
        fixture.write_bytes(lzma.compress(path.read_bytes()))
        print(fixture)


if __name__ == "__main__":
    main()
