"""Several children at once give what one child gives, in the same order, and end when they are told to."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from extracting import OneChild
from pdf_writing import FORM_OF_ITSELF, lines_of, looping_forms, write_pdf

from engine.errors import ExtractionError
from indexer.extract.assembly import Extraction
from indexer.extract.pool import ExtractorPool, default_n_children
from indexer.extract.reader import Result


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractorPool]:
    with ExtractorPool(3) as pool:
        yield pool


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Twelve files, slow and fast ones in turns, every fourth of them not to be read."""
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


def told(results: Iterator[tuple[Path, Result]]) -> list[tuple[Path, Extraction | str]]:
    return [(path, str(result) if isinstance(result, ExtractionError) else result) for path, result in results]


def test_the_pool_gives_what_one_child_gives_in_the_same_order(pool: ExtractorPool, paths: list[Path]) -> None:
    with OneChild() as one:
        expected = told(one.extract_all(paths))
    assert [path for path, _ in expected] == paths
    assert told(pool.extract_all(paths)) == expected
    assert expected[3][1] == "empty file"


def test_only_a_few_files_are_taken_ahead(pool: ExtractorPool, paths: list[Path]) -> None:
    taken: list[Path] = []

    def paths_taken() -> Iterator[Path]:
        for path in paths * 3:
            taken.append(path)
            yield path

    for n_given, _ in enumerate(pool.extract_all(paths_taken()), 1):
        assert len(taken) - n_given <= 2 * 3
    assert len(taken) == n_given == 36


def test_no_files_are_no_results(pool: ExtractorPool) -> None:
    assert list(pool.extract_all([])) == []


def test_each_child_reads(pool: ExtractorPool, paths: list[Path]) -> None:
    list(pool.extract_all(paths * 4))
    children = {extractor.child_pid for extractor in pool.extractors} - {None}
    assert len(children) == 3


def endless(path: Path) -> Path:
    """A PDF of a page that is shown for hours."""
    return write_pdf(path, [b"/X0 Do"], extra=looping_forms(6, 12))


def test_closing_early_ends_what_is_being_read(tmp_path: Path, paths: list[Path]) -> None:
    with ExtractorPool(2) as pool:
        results = pool.extract_all([paths[1], endless(tmp_path / "slow.pdf"), *paths])
        assert next(results)[0] == paths[1]
        begun = time.monotonic()
        results.close()
        assert time.monotonic() - begun < 5  # the page has ten seconds
        assert told(pool.extract_all(paths[1:3])) == told(pool.extract_all(paths[1:3]))  # it reads on
        assert isinstance(next(pool.extract_all(paths[1:2]))[1], Extraction)


def test_leaving_the_pool_ends_what_is_being_read(tmp_path: Path, paths: list[Path]) -> None:
    begun = time.monotonic()
    with ExtractorPool(2) as pool:
        results = pool.extract_all([paths[1], endless(tmp_path / "slow.pdf")])
        next(results)
        children = [extractor.child_pid for extractor in pool.extractors]
    assert time.monotonic() - begun < 8
    assert any(children)
    assert not any(extractor.child_pid for extractor in pool.extractors)
    results.close()


def test_a_child_that_dies_loses_only_its_file(tmp_path: Path, paths: list[Path]) -> None:
    bad = write_pdf(tmp_path / "bad.pdf", [b"/X0 Do"], extra=FORM_OF_ITSELF)
    with ExtractorPool(2) as pool:
        list(pool.extract_all(paths))  # its children have started
        for extractor in pool.extractors:
            extractor.page_timeout_s = 3.0
        results = told(pool.extract_all([*paths[:2], bad, *paths[4:6]]))
    assert isinstance(results[2][1], str)
    assert all(isinstance(result, Extraction) for place, (_, result) in enumerate(results) if place != 2)


def test_as_many_children_as_cores_up_to_four() -> None:
    assert 1 <= default_n_children() <= 4
