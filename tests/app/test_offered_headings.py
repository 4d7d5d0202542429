"""Headings that the app offers over an empty query line."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from longsearch.app.backend import AppBackend
from longsearch.app.paths import index_path
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Heading, Passage


def with_headings(root: Path, *documents: Sequence[str]) -> Path:
    """Make an index; each document has a title and these headings below it."""
    root.mkdir()
    with Store.open(index_path(root), root=root) as store:
        for number, titles in enumerate(documents):
            headings = (Heading(1, "The title of it all", 0), *(Heading(2, title, 1) for title in titles))
            text = f"text {number}"
            stamp = FileStamp(f"{number}.md", len(text), 1, number + 1)
            document = DocumentText(text, (), "The title of it all", headings)
            store.add_document(stamp, hashlib.sha256(text.encode()).digest(), document, [Passage(0, len(text), 5)])
    return root


@pytest.mark.parametrize(
    ("titles", "offered"),
    [
        (["Swarming", "Spring inspection"], ["Spring inspection"]),
        (["3.2 Results of the second trial"], ["Results of the second trial"]),
        (["IV. The state of the tunnel"], ["The state of the tunnel"]),
        (["0.05 0.1 0.15", "x + y = z", "References"], []),
        (["word " * 40], []),
        (["Grundsteuer für das Jahr"], ["Grundsteuer für das Jahr"]),
    ],
)
def test_a_heading_is_offered_if_it_says_enough(home: Path, titles: list[str], offered: list[str]) -> None:
    assert AppBackend(with_headings(home / "notes", titles)).headings() == offered


def test_three_documents_give_one_heading_each_the_newest_first(home: Path) -> None:
    root = with_headings(home / "notes", ["The first year"], ["The second year", "A long year"], ["The third year"], [])
    assert AppBackend(root).headings() == ["The third year", "The second year", "The first year"]


def test_a_folder_without_an_index_offers_none(home: Path) -> None:
    (home / "new").mkdir()
    assert AppBackend(home / "new").headings() == []
