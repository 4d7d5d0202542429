"""Search finds numbers, dates, identifiers, names with signs and names of files by any of their spellings."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import MetadataValue
from longsearch.engine.types.results import SearchMode
from tests.engine.search.search_helpers import add, names, search, toward
from tests.engine.store.store_helpers import open_store

WORDS = SearchMode.WORDS


def found(store: Store, text: str) -> list[str]:
    return names(search(store, text, WORDS))


@pytest.fixture(params=[False, True], ids=["FTS5", "segments"])
def library(store: Store, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Documents with the same things spelt differently, looked up by FTS5 or by segments."""
    add(store, "amount.md", ["The roof costs 1.234,56 € in all."])
    add(store, "day.md", ["They met on 17 May 2021 in the barn."])
    add(store, "iban.md", ["Pay to DE89 3704 0044 0532 0130 00 by Friday."])
    add(store, "part.md", ["Order the seal 7XK-440-B, which is made to ISO 9001."])
    add(store, "cpp.md", ["The core is written in C++ and runs fast."])
    add(store, "c.md", ["The firmware is written in C and runs fast."])
    add(store, "csharp.md", ["The editor is written in C# and runs fast."])
    add(store, "law.md", ["The buyer pays the price by § 433 of the code."])
    add(store, "page.md", ["The buyer finds the price on page 433 of the book."])
    add(store, "doi.md", ["Reefs are the subject of 10.1000/xyz123, and kelp of 10.1000/abc987."])
    if request.param:
        monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
        store.tidy()
    return store


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("1234.56", ["amount.md"]),
        ("1 234,56", ["amount.md"]),
        ("17.05.2021", ["day.md"]),
        ('"2021-05-17"', ["day.md"]),
        ('"met on 17.05.2021 in the barn"', ["day.md"]),
        ('"met on 18.05.2021 in the barn"', []),
        ("2021-05", ["day.md"]),
        ("de89370400440532013000", ["iban.md"]),
        ("7xk440b", ["part.md"]),
        ("iso9001", ["part.md"]),
        ("C++", ["cpp.md"]),
        ('"written in C++"', ["cpp.md"]),
        ('"written in C"', ["c.md"]),
        ("runs -C++", ["c.md", "csharp.md"]),
        ("runs -17.05.2021", ["c.md", "cpp.md", "csharp.md"]),
        ("barn -2021-05-17", []),
        ('"§ 433"', ["law.md"]),
        ("https://doi.org/10.1000/xyz123", ["doi.md"]),
        ("doi:10.1000/xyz123", ["doi.md"]),
        ("doi:10.1000/nothing", []),
    ],
)
def test_every_spelling_finds_what_is_meant(library: Store, query: str, expected: Sequence[str]) -> None:
    assert sorted(found(library, query)) == list(expected)


def test_a_field_of_identifiers_asks_the_metadata_before_the_text(store: Store) -> None:
    own = add(store, "reefs.pdf", ["A study of reefs."])
    add(store, "notes.md", ["See 10.1000/xyz123 on reefs."])
    assert found(store, "doi:10.1000/xyz123") == ["notes.md"]
    store.describe(own, "", [MetadataValue("doi", "10.1000/xyz123", "XMP")])
    assert found(store, "doi:10.1000/xyz123") == ["reefs.pdf"]
    assert found(store, "doi:https://doi.org/10.1000/xyz123") == ["reefs.pdf"]
    assert found(store, "10.1000/xyz123")[0] == "reefs.pdf"


def test_a_field_that_no_document_has_is_text_and_a_note_says_so(library: Store) -> None:
    results = search(library, "standard:9001", WORDS)
    assert results.note == "no field standard: searched as text"


@pytest.mark.parametrize(
    "query",
    ["boiler warranty", "boiler_warranty_2023.txt", "boiler_warranty_2023", "Heating", "HeatingBills", "bills 2023"],
)
def test_a_file_is_found_by_its_name_and_its_folders(store: Store, query: str) -> None:
    add(store, "HeatingBills 2021/boiler_warranty_2023.txt", ["Dear customer, thank you."])
    add(store, "other.txt", ["Dear customer, thank you for the boat."])
    assert found(store, query) == ["HeatingBills 2021/boiler_warranty_2023.txt"]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_document_whose_name_is_the_query_is_first_in_every_mode(store: Store, mode: SearchMode) -> None:
    add(store, "scan0001.pdf", ["The boat was delivered."], [toward(-1)])
    add(store, "near.md", ["A scan0001 of scan0001 and scan0001."], [toward(1)])
    add(store, "titled.md", ["Nothing of the kind."], [toward(-1, 1)], title="The Lease: of the Boathouse")
    assert names(search(store, "scan0001", mode, toward(1)))[0] == "scan0001.pdf"
    assert names(search(store, "the lease of the boathouse", mode, toward(1)))[0] == "titled.md"


def test_a_file_that_moves_is_found_by_its_new_name(store: Store) -> None:
    add(store, "old/a.md", ["Nothing of the kind."])
    store.move([("old/a.md", FileStamp("taxes/a.md", 1, 1, 1))])
    assert found(store, "taxes") == ["taxes/a.md"]
    assert found(store, "old") == []


def test_words_of_an_older_index_are_made_again_without_new_vectors(tmp_path: Path) -> None:
    with open_store(tmp_path / "index.db") as store:
        store.use_model("model", 8)
        add(store, "day.md", ["They met on 17 May 2021."], [toward(1)])
        with store.changing() as db:  # as an older longsearch left it
            db.execute("UPDATE contents SET words_version = 0, names = '[[], []]'")
            db.execute("DELETE FROM words")
            db.execute("INSERT INTO words (rowid, text, title) VALUES (1, 'They met on 17 May 2021.', '')")
        assert found(store, "2021-05-17") == []
        assert found(store, "17 May") == ["day.md"]
        while store.index_words_again():
            pass
        assert found(store, "2021-05-17") == ["day.md"]
        assert found(store, "day.md") == ["day.md"]
        assert names(search(store, "anything", SearchMode.MEANING, toward(1))) == ["day.md"]
