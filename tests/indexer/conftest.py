"""A fixture that many tests of the indexer share."""

from collections.abc import Iterator

import pytest
from extracting import OneChild


@pytest.fixture(scope="module")
def extractor() -> Iterator[OneChild]:
    """An extractor whose one child serves all tests of a module."""
    with OneChild() as process:
        yield process
