"""`import longsearch`: the door for other programs."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import home_with_samples

import longsearch
from longsearch.app.cli import main

QUESTION = "what should a beekeeper do when the colony wants to leave"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The samples, indexed once: no test changes them."""
    with home_with_samples(tmp_path_factory) as folder:
        assert main(["index", "-q", str(folder)]) == 0
        yield folder


def test_a_question_finds_the_document_that_answers_it_without_a_daemon(indexed: Path) -> None:
    results = longsearch.search(indexed, QUESTION, k=3)
    assert results.mode is longsearch.SearchMode.HYBRID
    assert Path(results.hits[0].path).name == "beekeeping.md"
    assert len(results.hits) == 3
    assert results.hits[0].passages[0].heading == "Swarming"


def test_the_modes_are_named_by_their_words(indexed: Path) -> None:
    index = longsearch.open_index(indexed)
    assert index.search("colony", mode="words").mode is longsearch.SearchMode.WORDS
    assert Path(index.search(QUESTION, mode="meaning").hits[0].path).name == "beekeeping.md"
    with pytest.raises(ValueError, match="nonsense"):
        index.search("colony", mode="nonsense")


def test_a_hit_leads_to_the_text_of_its_document(indexed: Path) -> None:
    index = longsearch.open_index(str(indexed))
    hit = index.search("colony", mode="words", k=1).hits[0]
    document, passage = index.text(hit.document_id), hit.passages[0]
    assert document.text[passage.start : passage.stop] == passage.text
    assert index.progress().n_current == len(index.files()) == 12


def test_similar_documents_are_found_for_a_file(indexed: Path) -> None:
    hits = longsearch.open_index(indexed).similar(indexed / "tides.md", k=2).hits
    assert len(hits) == 2
    assert "tides.md" not in {Path(hit.path).name for hit in hits}


def test_a_folder_inside_an_indexed_one_limits_the_search(indexed: Path, tmp_path: Path) -> None:
    index = longsearch.open_index(indexed)
    assert (index.root, index.under) == (indexed, "")
    with pytest.raises(longsearch.LongsearchError) as error:
        longsearch.open_index(tmp_path)
    assert "longsearch index" in error.value.hint


def test_the_public_names_and_signatures_stay() -> None:
    signatures = {
        "open_index": "(folder: str | pathlib.Path) -> longsearch.app.open_index.Index",
        "search": "(folder: str | pathlib.Path, query: str, *, mode: longsearch.engine.types.SearchMode | str ="
        " <SearchMode.HYBRID: 'hybrid'>, k: int = 10, instruction: str = '') -> longsearch.engine.types.SearchResults",
    }
    assert {name: str(inspect.signature(getattr(longsearch, name))) for name in signatures} == signatures
    assert dir(longsearch) == sorted(longsearch.__all__)
    assert all(getattr(longsearch, name) for name in longsearch.__all__)
    assert [name for name in dir(longsearch.Index) if not name.startswith("_")] == [
        "files", "progress", "search", "similar", "text",
    ]  # fmt: skip
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = longsearch.nothing
