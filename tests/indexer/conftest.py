"""What many tests of the indexer need."""

from collections.abc import Iterator

import pytest
from extracting import OneChild


@pytest.fixture(scope="module")
def extractor() -> Iterator[OneChild]:
    """A child that reads files, one for a whole module."""
    with OneChild() as process:
        yield process
