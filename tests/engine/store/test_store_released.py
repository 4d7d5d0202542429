"""Today's code opens an index of every frozen schema, finds everything in it, and continues it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.errors import StoreError
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.store import examination
from longsearch.engine.store.schema import MIGRATIONS
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.engine.store.released import FIXTURES, check, fill, unpack
from tests.engine.store.store_helpers import (
    add,
    embed,
    open_store,
    record,
    search,
    unit_vectors,
    vector_of,
    vectors_of_passages,
)


@pytest.fixture(params=sorted(FIXTURES.glob("schema-*.sqlite.xz")), ids=lambda path: path.name.partition(".")[0])
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "index.db"
    unpack(request.param, path)
    return path


def test_there_are_indexes_of_the_first_and_of_the_current_schema() -> None:
    for version in (1, len(MIGRATIONS)):
        assert (FIXTURES / f"schema-{version}.sqlite.xz").exists()


def test_a_released_index_still_holds_all_documents_vectors_and_states(released: Path) -> None:
    with open_store(released) as store:
        assert store.notes == ()
        check(store)


def check_search(index: Index) -> None:
    """Search for the complete document by words, and for the second passage of the partial one by meaning."""
    words = search(index, "apples complete")
    assert words.hits[0].path == "/papers/complete.pdf"
    asked = unit_vectors(3, seed=3)[1]
    best = search(index, "anything", SearchMode.MEANING, asked).hits[0]
    assert best.path == "/papers/partial.pdf"
    whole = vector_of(index, best.document_id)
    assert whole is not None
    has_excerpts = index.db.execute("SELECT EXISTS (SELECT 1 FROM excerpt_vectors)").get
    excerpt = float(unit_vectors(1, seed=4)[0] @ asked) if has_excerpts else 1.0  # schema 1 has no excerpts
    expected = 0.7 * (0.5 + 0.5 * excerpt) + 0.3 * float(whole @ asked)
    assert best.score == pytest.approx(expected, abs=0.02 if has_excerpts else 1e-6)  # excerpts are rounded


def test_a_released_index_is_searched_by_words_and_by_meaning(released: Path) -> None:
    open_store(released).close()  # migrates it
    with open_index(released) as index:
        check_search(index)


def test_an_index_of_the_current_schema_is_searched_before_any_writer_opens_it(tmp_path: Path) -> None:
    unpack(FIXTURES / f"schema-{len(MIGRATIONS)}.sqlite.xz", tmp_path / "index.db")
    with open_index(tmp_path / "index.db") as index:
        check_search(index)


def test_a_title_of_its_own_survives_a_rename(released: Path) -> None:
    """Schema 1 does not say whether a title is a file's name, so such a title stays."""
    with open_store(released) as store:
        (before, *_) = store.pending()
        assert store.move([("half \udcff.pdf", record("other.pdf"))]) == 1
        assert store.text(before.document_id).title == "Title of half"


def test_embedding_continues_where_the_released_version_stopped(released: Path) -> None:
    with open_store(released) as store:
        (half, waiting) = store.pending()
        vectors = unit_vectors(6, seed=2)
        assert store.add_vectors(half.document_id, 4, vectors[4:], 54, None)
        assert store.finish_embedding(half.document_id, vectors[0], 55)
        embed(store, waiting.document_id)
        assert store.pending() == []
        np.testing.assert_array_equal(vectors_of_passages(store, half.document_id), vectors)
        embed(store, add(store, "new.pdf", "new"))
        store.tidy()


def test_an_index_written_today_passes_the_same_check(tmp_path: Path) -> None:
    with open_store(tmp_path / "index.db") as store:
        fill(store)
    with open_store(tmp_path / "index.db") as store:
        check(store)


@pytest.mark.parametrize("opening", [open_index, Store.open])
def test_an_index_of_a_future_schema_is_refused_and_not_changed(
    released: Path, opening: Callable[[Path], AbstractContextManager[object]]
) -> None:
    with open_store(released) as store, store.reading() as db:
        db.pragma("user_version", len(MIGRATIONS) + 1)
    before = released.read_bytes()
    with pytest.raises(StoreError, match="newer longsearch") as caught, opening(released):
        pass
    assert "Update longsearch" in caught.value.hint
    assert released.read_bytes() == before
    assert not list(released.parent.glob("*.corrupt-*"))


def test_no_released_index_seems_damaged(tmp_path: Path) -> None:
    """Half-read documents, waiting and failed ones are in each."""
    for fixture in sorted(FIXTURES.glob("*.xz")):
        path = tmp_path / fixture.name.removesuffix(".xz")
        unpack(fixture, path)
        with open_store(path) as store, store.reading() as db:
            assert examination.quick(db, path) == examination.of_pages(db) == [], fixture.name
