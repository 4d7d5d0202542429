"""A pool of child processes gives the same results as one child, in the same order, and stops on request."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.assembly import Extraction
from longsearch.indexer.extract.pool import ExtractorPool, default_n_children
from longsearch.indexer.extract.reader import Result
from tests.indexer.extracting import OneChild
from tests.indexer.pdf_writing import FORM_OF_ITSELF, lines_of, looping_forms, write_pdf


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractorPool]:
    with ExtractorPool(3) as pool:
        yield pool


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Twelve files: slow PDFs, quick Markdown, and an empty file in every fourth place."""
    found = []
    for n in range(12):
        path = tmp_path / f"{n}.{'pdf' if n % 4 == 0 else 'md'}"
        if n % 4 == 0:
            write_pdf(path, [lines_of(f"The words of file {n}, page {page}") for page in range(20)])
        elif n % 4 == 3:
            path.write_bytes(b"")
        else:
            path.write_text(f"# File {n}\n\nwords\n")
        found.append(path)
    return found


def outcomes(results: Iterator[tuple[Path, Result]]) -> list[tuple[Path, Extraction | str]]:
    return [(path, str(result) if isinstance(result, ExtractionError) else result) for path, result in results]


def test_a_pool_gives_the_same_results_in_the_same_order_as_one_child(pool: ExtractorPool, paths: list[Path]) -> None:
    with OneChild() as one:
        expected = outcomes(one.extract_all(paths))
    assert [path for path, _ in expected] == paths
    assert outcomes(pool.extract_all(paths)) == expected
    assert expected[3][1] == "empty file"


def test_a_pool_takes_only_a_few_paths_ahead(pool: ExtractorPool, paths: list[Path]) -> None:
    taken: list[Path] = []

    def paths_taken() -> Iterator[Path]:
        for path in paths * 3:
            taken.append(path)
            yield path

    for n_given, _ in enumerate(pool.extract_all(paths_taken()), 1):
        assert len(taken) - n_given <= 2 * 3
    assert len(taken) == n_given == 36


def test_no_paths_give_no_results(pool: ExtractorPool) -> None:
    assert list(pool.extract_all([])) == []


def test_every_child_of_a_pool_is_used(pool: ExtractorPool, paths: list[Path]) -> None:
    list(pool.extract_all(paths * 4))
    children = {extractor.child_pid for extractor in pool.extractors} - {None}
    assert len(children) == 3


def endless(path: Path) -> Path:
    """Write a PDF with a page that takes hours to read."""
    return write_pdf(path, [b"/X0 Do"], extra=looping_forms(6, 12))


def be_patient(pool: ExtractorPool) -> None:
    """Let a page and a file take a day, so that only closing ends them."""
    for extractor in pool.extractors:
        extractor.page_timeout_s = extractor.document_timeout_s = 86_400.0


def test_closing_the_results_early_ends_all_reading(tmp_path: Path, paths: list[Path]) -> None:
    with ExtractorPool(2) as pool:
        be_patient(pool)
        results = pool.extract_all([paths[1], endless(tmp_path / "slow.pdf"), *paths])
        assert next(results)[0] == paths[1]
        results.close()
        assert outcomes(pool.extract_all(paths[1:3])) == outcomes(pool.extract_all(paths[1:3]))  # the pool still reads
        assert isinstance(next(pool.extract_all(paths[1:2]))[1], Extraction)


def test_closing_the_pool_ends_all_reading(tmp_path: Path, paths: list[Path]) -> None:
    with ExtractorPool(2) as pool:
        be_patient(pool)
        results = pool.extract_all([paths[1], endless(tmp_path / "slow.pdf")])
        next(results)
        children = [extractor.child_pid for extractor in pool.extractors]
    assert any(children)
    assert not any(extractor.child_pid for extractor in pool.extractors)
    results.close()


def test_a_child_that_dies_loses_only_its_file(tmp_path: Path, paths: list[Path]) -> None:
    bad = write_pdf(tmp_path / "bad.pdf", [b"/X0 Do"], extra=FORM_OF_ITSELF)
    with ExtractorPool(2) as pool:
        list(pool.extract_all(paths))  # so that its children have started
        for extractor in pool.extractors:
            extractor.page_timeout_s = 3.0
        results = outcomes(pool.extract_all([*paths[:2], bad, *paths[4:6]]))
    assert isinstance(results[2][1], str)
    assert all(isinstance(result, Extraction) for place, (_, result) in enumerate(results) if place != 2)


def test_a_pool_has_one_child_per_core_up_to_four() -> None:
    assert 1 <= default_n_children() <= 4


def test_the_pool_says_when_the_next_result_has_to_be_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Event()

    def extract(_: ExtractorPool, path: Path, head_only: bool) -> Result:
        assert path.name == "quick.md" or told.wait(60)
        return ExtractionError(path.name)

    monkeypatch.setattr(ExtractorPool, "_extract", extract)
    with ExtractorPool(2) as both:
        results = both.extract_all([Path("quick.md"), Path("slow.md")], before_waiting=told.set)
        assert [str(result) for _, result in results] == ["quick.md", "slow.md"]
