"""What many tests of the indexer need."""

from collections.abc import Iterator

import pytest

from indexer.extract.reader import ExtractorProcess


@pytest.fixture(scope="module")
def extractor() -> Iterator[ExtractorProcess]:
    """A child that reads files, one for a whole module."""
    with ExtractorProcess() as process:
        yield process
