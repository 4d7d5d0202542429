"""The cache of recognised pages keeps what is of use, and stays within its size."""

import json
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from longsearch.indexer.extract.pdf import recognition
from longsearch.indexer.extract.pdf.recognition import Recognition, known_lines
from longsearch.indexer.extract.wire.protocol import Page

DAY_S = 86_400


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Set the day on which pages are used."""
    return lambda day: monkeypatch.setattr(recognition, "_now", lambda: day * DAY_S)


def recognised(key: str) -> Page:
    return Page(0, (f"The words of {key}. " + key * 3000,), ocr_key=key, ocr_s=1.0)


def used(key: str) -> Page:
    return Page(0, ("whatever",), ocr_key=key)


def known(cache: Path, keys: str) -> str:
    return "".join(key for key in keys if known_lines(str(cache), key) is not None)


def test_pages_that_were_not_used_for_longest_go_when_the_cache_is_full(
    tmp_path: Path, at: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "a.ocr"
    ocr = Recognition(cache=cache)
    for day, key in enumerate("abcdefg", start=1):
        at(day)
        ocr.take(recognised(key))
    at(20)
    ocr.take(used("a"))  # read from the cache again
    assert known(cache, "abcdefg") == "abcdefg"
    monkeypatch.setattr(recognition, "_MAX_BYTES", cache.stat().st_size - 1)
    ocr.take(recognised("h"))
    assert known(cache, "abcdefgh") == "aefgh"
    assert ocr.n_pages == 8


def test_a_cache_from_before_uses_were_noted_goes_on(tmp_path: Path, at: Callable[[int], None]) -> None:
    cache = tmp_path / "a.ocr"
    with closing(apsw.Connection(str(cache))) as connection:
        connection.execute("CREATE TABLE pages (key TEXT PRIMARY KEY, lines BLOB NOT NULL) STRICT, WITHOUT ROWID")
        connection.execute("INSERT INTO pages VALUES ('old', ?)", (zlib.compress(json.dumps(["x"]).encode()),))
    at(3)
    ocr = Recognition(cache=cache, known_only=True)
    ocr.take(used("old"))
    ocr.take(recognised("new"))
    with closing(apsw.Connection(str(cache))) as connection:
        rows = connection.execute("SELECT key, used_at FROM pages ORDER BY key").fetchall()
    assert rows == [("new", 3 * DAY_S), ("old", 3 * DAY_S)]


def test_the_use_of_a_page_without_a_cache_writes_nothing(tmp_path: Path) -> None:
    Recognition().take(used("a"))
    Recognition(cache=tmp_path / "none.ocr").take(used("a"))
    assert list(tmp_path.iterdir()) == []
