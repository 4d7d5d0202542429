"""The app finds passages like another, in one folder and in all."""

from pathlib import Path

from longsearch.app.backend import AppBackend
from longsearch.engine.types.results import SearchMode
from tests.app.made_folders import make_folder, toward

ASKED = "The valve stayed open."


def made(home: Path) -> list[Path]:
    one = {"asked.md": ASKED, "near.md": "The pump failed at night.", "same.md": "The valve stayed open!"}
    other = {"nearer.md": "A pipe broke in the cellar.", "far.md": "Bees swarm in May."}
    return [
        make_folder(home / "one", one, [toward(1), toward(1, 1), toward(1, 0.1)]),
        make_folder(home / "other", other, [toward(1, 0.5), toward(0, 1)]),
        make_folder(home / "third", {"x.md": "Read by another model."}, [toward(1)], model="another"),
    ]


def test_passages_like_another_are_found_in_one_folder(home: Path) -> None:
    backend = AppBackend(made(home)[0])
    (asked,) = backend.search('"valve stayed open" in:asked', SearchMode.WORDS).hits
    found = backend.similar(asked.document_id, asked.passages[0].start)
    assert [hit.title for hit in found.hits] == ["near"]
    assert found.similar_to == "a passage of asked"
    assert found.note == "1 near-duplicate folded"


def test_passages_like_another_are_found_in_all_folders_of_its_model(home: Path) -> None:
    made(home)
    backend = AppBackend()
    (asked,) = backend.search('"valve stayed open" in:asked', SearchMode.WORDS).hits
    found = backend.similar(asked.document_id, asked.passages[0].start)
    assert [(hit.title, hit.folder) for hit in found.hits] == [("nearer", "other"), ("near", "one")]
    assert "third: left out: the index was made with another model" in found.note
    assert backend.document(found.hits[0].document_id).text == "A pipe broke in the cellar."
