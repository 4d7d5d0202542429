"""Helpers for the tests of stores on LanceDB: an index of many invented documents in three languages, and its twins."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from longsearch.engine.index.lance import snapshot
from longsearch.engine.index.lance.publishing import publish
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import Query
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.store.excerpts import packed
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.session import Session
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Heading, MetadataValue, Passage
from longsearch.engine.types.results import SearchMode, SearchResults
from tests.engine.store.store_helpers import DIM, ROOT, unit_vectors

ENGLISH = (
    "The keeper weighs the hive in the cold morning.",
    "A queen leaves the hive when the cells are sealed.",
    "The tide runs out of the harbour before the morning comes.",
    "Nobody weighs the tide, but the harbour master writes it down.",
    "The violin maker waits until the varnish is dry.",
    "Cold varnish cracks, and the maker begins again.",
    "A lease of the workshop ends with the year.",
    "The master of the workshop keeps the keys of the harbour.",
)
GERMAN = (
    "Der Imker wiegt die Beute am kalten Morgen und schreibt das Gewicht auf.",
    "Die Königin verlässt den Stock, wenn die Zellen verdeckelt sind.",
    "Der Hafenmeister notiert die Gezeiten und die Häuser am Hafen.",
    "Der Geigenbauer wartet, bis der Lack auf der Geige getrocknet ist.",
)
CHINESE = ("养蜂人在寒冷的早晨称蜂箱的重量。", "潮水在早晨之前离开港口。", "小提琴制作师等待清漆干燥。")
_KINDS = ("md", "pdf", "txt")
_FOLDERS = ("papers", "notes/old", "notes")
_ROUNDING = 1e-5  # segments hold a vector as two int8 vectors, which add up to it but for some 1e-6
_MANY = 3  # sentences of a passage


def add_invented(store: Store, number: int, mean_passages: int = 4) -> int:
    """Add a document, which is the same for the same number, and return its id."""
    random = np.random.default_rng(number)
    sentences = (ENGLISH, ENGLISH, ENGLISH, GERMAN, CHINESE)[number % 5]
    n = int(random.integers(1, 2 * mean_passages))
    texts = [" ".join(sentences[i] for i in random.integers(0, len(sentences), _MANY)) for _ in range(n)]
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)]).tolist()
    places = [Passage(start, start + len(text), 20) for start, text in zip(starts, texts, strict=False)]
    title = "" if number % 3 else " ".join(texts[0].split()[:3])
    values = (MetadataValue("author", ("Ada Lovelace", "Karl Ernst")[number % 2], "front matter"),)
    values += (MetadataValue("date", str(2000 + number % 20), "front matter"),) if number % 4 else ()
    text = DocumentText("\n".join(texts), tuple(starts[:-1:2]), title, (Heading(1, f"Part {number}", 0),), values)
    file = FileStamp(f"{_FOLDERS[number % 3]}/file {number}.{_KINDS[number % 3]}", number, 10**18, number + 1)
    document_id = store.add_document(file, b"%032d" % number, text, places)
    vectors, begins = unit_vectors(n, seed=number), np.array([0, 12])
    excerpts = [packed(begins, unit_vectors(2, seed=1000 * number + i), own) for i, own in enumerate(vectors)]
    store.add_vectors(document_id, 0, vectors, 20 * n, None, excerpts)
    store.finish_embedding(document_id, unit_vectors(1, seed=number + 7)[0], 20 * n)
    return document_id


@contextmanager
def invented(path: Path, n: int) -> Iterator[Store]:
    """An index of so many documents, open for writing."""
    with Store.open(path, root=ROOT) as store:
        store.use_model("model-a", DIM)
        with store.changing():
            for number in range(n):
                add_invented(store, number)
        yield store


def published(session: Session, folder: Path, base: int | None = None) -> Path:
    """Publish an index, and return the pointer to its store."""
    publish(session, str(folder / "store"), base)
    pointer = folder / "index.lance"
    pointer.write_text(json.dumps({"store": f"lance:{folder / 'store'}"}))
    snapshot.forget(str(folder / "store"))
    return pointer


def vector(seed: int) -> NDArray[np.float32]:
    """The unit vector (DIM,) of a query."""
    return unit_vectors(1, seed=10_000 + seed)[0]


def assert_same_hits(index: Path, pointer: Path, query: Query, mode: SearchMode, seed: int, k: int = 10) -> None:
    """Check that both stores give the same hits with the same scores, in the same order but for ties."""
    found = []
    for path in (index, pointer):
        with open_index(path) as index:
            asked = None if mode is SearchMode.WORDS else vector(seed)
            found.append(search([index], SearchRequest(query, mode, [asked], k, explain=True)))
    assert_same(*found)
    points, others = map(_points, found)
    for document_id in points.keys() & others.keys():
        assert points[document_id] == pytest.approx(others[document_id], abs=_ROUNDING)


def assert_same(left: SearchResults, right: SearchResults) -> None:
    """Check that two answers are the same but for rounding, and for the order of what is equally good."""
    rows, others = _rows(left), _rows(right)
    assert len(rows) == len(others)
    for (score, hit), (other_score, other_hit) in zip(rows, others, strict=True):
        assert abs(score - other_score) < _ROUNDING
        if hit != other_hit:  # a tie: the other store has this hit, too, and finds it as good
            assert any(hit == one and abs(score - its_score) < _ROUNDING for its_score, one in others)
    assert left.note == right.note
    assert left.languages == right.languages


def _points(results: SearchResults) -> dict[int, list[float]]:
    """The points of each word and vector of each hit's best passage."""
    reasons = {hit.document_id: hit.reason for hit in results.hits if hit.reason is not None}
    return {
        document_id: [
            *(part for share in reason.words for part in (share.passage, share.document)),
            *(share.points for share in reason.meaning),
        ]
        for document_id, reason in reasons.items()
    }


def _rows(results: SearchResults) -> list[tuple[float, tuple[object, ...]]]:
    return [
        (
            passage.score,
            (
                *(hit.document_id, hit.path, hit.title, hit.metadata, hit.language, hit.level),
                *(passage.start, passage.stop, passage.text, passage.page, passage.heading, passage.excerpt),
            ),
        )
        for hit in results.hits
        for passage in hit.passages
    ]
