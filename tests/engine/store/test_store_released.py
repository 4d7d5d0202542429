"""An index of every released schema opens with today's code, and everything in it is there."""

from pathlib import Path

import numpy as np
import pytest
from released import FIXTURES, check, fill, unpack
from store_helpers import add, embed, open_store, record, unit_vectors, vector_of, vectors_of_passages

from engine.errors import StoreError
from engine.search.query import parse
from engine.search.searcher import search
from engine.store.schema import MIGRATIONS
from engine.store.store import Store
from engine.types import SearchMode


@pytest.fixture(params=sorted(FIXTURES.glob("schema-*.sqlite.xz")), ids=lambda path: path.name.partition(".")[0])
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "index.db"
    unpack(request.param, path)
    return path


def test_there_is_an_index_of_the_first_schema() -> None:
    assert (FIXTURES / "schema-1.sqlite.xz").exists()


def test_documents_vectors_and_states_are_all_there(released: Path) -> None:
    with open_store(released) as store:
        assert store.notes == ()
        check(store)


def test_it_is_searched_by_words_and_by_meaning(released: Path) -> None:
    open_store(released).close()
    with Store.open(released, read_only=True) as store:
        words = search(store, parse("apples complete"), SearchMode.WORDS)
        assert words.hits[0].path == "/papers/complete.pdf"
        asked = unit_vectors(3, seed=3)[1]
        best = search(store, parse("anything"), SearchMode.MEANING, asked).hits[0]
        whole = vector_of(store, best.document_id)
        assert best.path == "/papers/partial.pdf"
        assert best.score == pytest.approx(0.7 + (0.3 if whole is None else 0.3 * float(whole @ asked)), abs=1e-6)


def test_a_title_of_which_it_is_not_known_whether_it_is_a_name_stays(released: Path) -> None:
    with open_store(released) as store:
        (before, *_) = store.pending()
        assert store.move([("half \udcff.pdf", record("other.pdf"))]) == 1
        assert store.text(before.document_id).title == "Title of half"


def test_work_goes_on_where_it_was_left(released: Path) -> None:
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


def test_today_s_own_index_is_one_of_them(tmp_path: Path) -> None:
    with open_store(tmp_path / "index.db") as store:
        fill(store)
    with open_store(tmp_path / "index.db") as store:
        check(store)


@pytest.mark.parametrize("read_only", [True, False])
def test_an_index_of_the_next_schema_is_refused_and_not_touched(released: Path, read_only: bool) -> None:
    with open_store(released) as store, store.reading() as db:
        db.pragma("user_version", len(MIGRATIONS) + 1)
    before = released.read_bytes()
    with pytest.raises(StoreError, match="newer longsearch") as caught:
        Store.open(released, read_only=read_only)
    assert "Update longsearch" in caught.value.hint
    assert released.read_bytes() == before
    assert not list(released.parent.glob("*.corrupt-*"))
