"""Search by words finds the names of programs by their parts."""

from pathlib import Path

import pytest

from longsearch.engine.store.session import Session
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.engine.search.search_helpers import add, names, search
from tests.engine.store.store_helpers import open_store

_SENTENCE = "Then call getUserName once, and give the DiffExecutor its result."


def found(store: Session, text: str) -> list[str]:
    return names(search(store, text, SearchMode.WORDS))


@pytest.mark.parametrize(
    "query",
    [
        "user",
        "executors",  # by its stem
        "getUserName",
        "getusername",
        '"call getUserName once"',
        '"the DiffExecutor its result"',
    ],
)
def test_a_passage_is_found_by_a_code_name_and_by_its_parts(store: Store, query: str) -> None:
    add(store, "code.md", [_SENTENCE])
    add(store, "other.md", ["Nothing of the kind stands in this sentence, which is about bees."])
    assert found(store, query) == ["code.md"]


def test_a_word_counts_more_where_it_is_repeated_than_as_a_part_of_a_repeated_name(store: Store) -> None:
    add(store, "name.md", ["JavaScript runs here, and JavaScript runs there, and JavaScript does what it will."])
    add(store, "word.md", ["The language Java runs here, and the island Java lies there, and Java is what it is."])
    assert found(store, "java") == ["word.md", "name.md"]


def test_an_older_index_finds_parts_of_code_names_after_its_words_are_indexed_again(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with open_store(path) as store:
        add(store, "code.md", [_SENTENCE])
        with store.changing() as db:  # as schema 11 left it: the words as FTS5 takes them
            passage = db.execute("SELECT id FROM passages").get
            db.execute("DELETE FROM words WHERE rowid = ?", (passage,))
            db.execute("INSERT INTO words (rowid, text, title) VALUES (?, ?, '')", (passage, _SENTENCE))
        with store.reading() as db:
            db.execute("ALTER TABLE files DROP COLUMN reader_version")
            db.execute("ALTER TABLE files DROP COLUMN ctime_ns")
            db.execute("ALTER TABLE contents DROP COLUMN marks")
            db.execute("ALTER TABLE contents DROP COLUMN page_labels")
            db.execute("DROP INDEX contents_by_words_version")
            db.execute("ALTER TABLE contents DROP COLUMN words_version")
            db.execute("ALTER TABLE contents DROP COLUMN names")
            db.execute("DROP INDEX contents_by_furniture")
            db.execute("ALTER TABLE contents DROP COLUMN furniture")
            db.pragma("user_version", 11)
    with open_store(path) as store:
        assert found(store, "getUserName") == ["code.md"]
        assert found(store, "user") == []
        while store.index_words_again():
            pass
        assert found(store, "getUserName") == ["code.md"]
        assert found(store, "user") == ["code.md"]
