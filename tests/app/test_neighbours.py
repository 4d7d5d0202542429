"""The map of passages over real indexes."""

from pathlib import Path

from longsearch.app.backend import AppBackend
from longsearch.engine.types.results import PassageMap, SearchMode
from tests.app.made_folders import make_folder, toward

TEXTS = {"a.md": "The valve stayed open.", "b.md": "The valve was shut.", "c.md": "A violin in tune."}
DIRECTIONS = [toward(1, 0.1), toward(1, 0.2), toward(0, 0, 1)]


def places(backend: AppBackend, query: str) -> list[tuple[int, int]]:
    hits = backend.search(query, SearchMode.WORDS).hits
    return [(hit.document_id, passage.start) for hit in hits for passage in hit.passages]


def test_passages_that_mean_the_same_lie_together(home: Path) -> None:
    backend = AppBackend(make_folder(home / "papers", TEXTS, DIRECTIONS))
    asked = [*sorted(places(backend, "valve")), *places(backend, "violin")]
    found = backend.passage_map([*asked, (asked[0][0], 999)])
    assert [place for place, _, _ in found.points] == [0, 1, 2], "an offset where no passage begins is not on it"
    (_, x0, y0), (_, x1, y1), (_, x2, y2) = found.points
    assert (x0 - x1) ** 2 + (y0 - y1) ** 2 < ((x0 - x2) ** 2 + (y0 - y2) ** 2) / 10
    assert sum(found.kept) > 0.99, "three points lie in a plane"


def test_several_folders_share_a_map_unless_another_model_made_their_vectors(home: Path) -> None:
    make_folder(home / "papers", TEXTS, DIRECTIONS)
    make_folder(home / "notes", {"d.md": "The valve of the pump."}, [toward(0.9)])
    make_folder(home / "other", {"e.md": "A valve elsewhere."}, [toward(0.9)], model="model-b")
    backend = AppBackend()
    hits = backend.search("valve", SearchMode.WORDS).hits
    by_folder = {hit.folder: (hit.document_id, hit.passages[0].start) for hit in hits}
    asked = [*dict.fromkeys([by_folder["papers"], *places(backend, "folder:papers valve"), *places(backend, "violin")])]
    found = backend.passage_map([*asked, by_folder["notes"], by_folder["other"]])
    assert [place for place, _, _ in found.points] == [*range(len(asked)), len(asked)]


def test_without_vectors_there_is_no_map(home: Path) -> None:
    backend = AppBackend(make_folder(home / "papers", TEXTS))
    assert backend.passage_map(places(backend, "valve")) == PassageMap((), (0.0, 0.0)) == backend.passage_map([])
