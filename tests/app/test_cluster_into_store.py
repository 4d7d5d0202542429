"""A cluster reads a folder into a store on LanceDB: each document once, whatever is killed on the way."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from longsearch.app.cli import main
from longsearch.app.cluster.pool import Outcome
from longsearch.app.folders import local_copy as working
from longsearch.app.folders import store_refs
from longsearch.app.paths import index_path, working_path
from longsearch.engine.index.lance.fetching import columns_of_all
from longsearch.engine.index.lance.tables import Tables, sums_of
from longsearch.engine.index.opening import open_index
from longsearch.engine.store import files
from longsearch.indexer import plan
from tests.app.pool_here import PoolHere, without_ray
from tests.engine.tiny_models import save_embedder

pytestmark = pytest.mark.skipif(find_spec("lancedb") is None, reason="needs pip install 'longsearch[lance]'")


@pytest.fixture
def pools(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[PoolHere]:
    monkeypatch.setenv("LONGSEARCH_MODEL", str(save_embedder(home / "model", "mean")))
    return without_ray(monkeypatch)


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "share" / "papers")


def index(root: Path, uri: str) -> int:
    return main(["index", "-q", "--on", "ray", "--store", f"lance:{uri}", str(root)])


def published(uri: str) -> tuple[int, dict[str, int]]:
    """The number of the newest publication, and the rows of its tables."""
    tables = Tables(uri)
    at = tables.newest()
    return at.number, {name: one.n for name, one in sums_of(tables, at, columns_of_all(at.dim)).items()}


def check_equals_one_process(root: Path) -> None:
    """Check that a reader of the store gets what one process puts into an index of the same files."""
    twin = root.with_name("twin")
    shutil.copytree(root, twin)
    assert main(["index", "-q", str(twin)]) == 0
    found = []
    for place in (root, twin):
        with open_index(index_path(place)) as index:
            answers, rows = index.backend, {}
            for file in index.files():
                id_ = files.document_of(index.db, file.path)
                assert id_ is not None
                content_hash = index.db.execute("SELECT hash FROM contents WHERE id = ?", (id_,)).get
                document = answers.vector_of_document(id_)
                assert document is not None
                rows[file.path] = content_hash, answers.vectors_of_passages(id_), document
            found.append(rows)
    assert found[0].keys() == found[1].keys()
    for path, (content_hash, passages, document) in found[0].items():
        assert content_hash == found[1][path][0]
        np.testing.assert_allclose((passages * found[1][path][1]).sum(-1), 1, atol=1e-5)  # a code may be off by one
        np.testing.assert_allclose((document * found[1][path][2]).sum(-1), 1, atol=1e-5)  # a code may be off by one


def test_a_run_that_is_interrupted_publishes_nothing_and_the_next_one_everything_once(
    root: Path, uri: str, pools: list[PoolHere], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(pool: PoolHere) -> Outcome | None:
        if pool.made["begin"]:
            raise KeyboardInterrupt
        return outcome(pool)

    outcome = PoolHere.outcome
    with monkeypatch.context() as patch:
        patch.setattr(PoolHere, "outcome", interrupt)
        assert index(root, uri) == 130
    assert Tables(uri).last() is None
    assert index(root, uri) == 0
    assert pools[-1].made["extract"] == 0
    number, n_rows = published(uri)
    assert (number, n_rows["contents"], n_rows["document_vectors"]) == (1, 2, 2)
    check_equals_one_process(root)
    assert index(root, uri) == 0
    assert published(uri) == (number, n_rows)


@pytest.mark.parametrize("n_before", [0, 1])
def test_a_run_that_is_killed_after_it_published_is_not_published_again(
    root: Path, uri: str, pools: list[PoolHere], monkeypatch: pytest.MonkeyPatch, n_before: int
) -> None:
    monkeypatch.setattr(plan, "_LONGEST_TICK_NS", 0)  # what was just written is not looked at, and published, once more
    for _ in range(n_before):
        assert index(root, uri) == 0
    shutil.copy(root / "tides.md", root / "new.md")
    (root / "new.md").write_text("The third document.")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(working, "point", killed)
        assert index(root, uri) == 130
    number, n_rows = published(uri)
    assert (number, n_rows["contents"]) == (n_before + 1, 3)
    assert store_refs.base_of(root) == n_before
    before = working_path(root).stat().st_ino
    assert index(root, uri) == 0
    assert published(uri) == (number, n_rows)
    assert working_path(root).stat().st_ino == before  # it was not fetched from the store either
    assert pools[-1].made["begin"] == 0
    check_equals_one_process(root)
