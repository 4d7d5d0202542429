"""`import longsearch`: the door for other programs."""

import dataclasses
import inspect
import operator
from collections.abc import Iterator
from pathlib import Path

import pytest

import longsearch
from longsearch.app.cli import main
from tests.app.homes import home_with_samples

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


RESULTS = "longsearch.engine.types.results.SearchResults"
FOLDER = "folder: str | pathlib.Path"
QUERY = (
    "query: str, *, mode: longsearch.engine.types.modes.SearchMode | str = <SearchMode.HYBRID: 'hybrid'>,"
    " k: int = 10, instruction: str = '', read: bool = False"
)
VECTOR = "numpy.ndarray[tuple[typing.Any, ...], numpy.dtype[numpy.float32]]"
SIGNATURES = {
    "open_index": f"({FOLDER}) -> longsearch.app.search.python_door.Index",
    "search": f"({FOLDER}, {QUERY}) -> {RESULTS}",
    "folders": "() -> list[longsearch.engine.types.results.Folder]",
    "embed": f"(text: str, *, instruction: str = '') -> {VECTOR}",
    "Index.search": f"(self, {QUERY}) -> {RESULTS}",
    "Index.similar": f"(self, file: str | pathlib.Path, *, k: int = 10) -> {RESULTS}",
    "Index.where": "(self, quote: str, *, k: int = 10) -> list[longsearch.engine.types.results.Quotation]",
    "Index.text": "(self, document_id: int) -> longsearch.engine.types.documents.DocumentText",
    "Index.files": "(self) -> list[longsearch.engine.types.progress.FileReport]",
    "Index.progress": "(self) -> longsearch.engine.types.progress.IndexProgress",
}
FIELDS = {
    "SearchResults": "query mode instruction took_ms hits note similar_to lit languages vector_ms soft_tokens folders",
    "DocumentHit": "rank document_id path title score passages root folder metadata language level",
    "PassageHit": "page heading start stop text score excerpt",
    "DocumentText": "text page_starts title headings metadata",
    "Quotation": "document_id path title page heading start stop text similarity is_verbatim root folder",
    "Folder": "name root n_documents away problem",
}


def test_the_public_names_and_signatures_stay() -> None:
    found = {name: str(inspect.signature(operator.attrgetter(name)(longsearch))) for name in SIGNATURES}
    assert found == SIGNATURES
    assert dir(longsearch) == sorted(longsearch.__all__)
    assert all(getattr(longsearch, name) for name in longsearch.__all__)
    methods = {f"Index.{name}" for name in dir(longsearch.Index) if not name.startswith("_")}
    assert methods == {name for name in SIGNATURES if name.startswith("Index.")}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = longsearch.nothing


def test_results_keep_their_fields_in_their_order() -> None:
    for name, fields in FIELDS.items():
        found = [field.name for field in dataclasses.fields(getattr(longsearch, name))]
        assert found[: len(fields.split())] == fields.split(), f"new fields of {name} go to the end"
