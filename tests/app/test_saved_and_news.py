"""Saved searches: `longsearch saved` keeps them, and news are the new passages that answer better than chance."""

import json
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longsearch.app.cli import main
from longsearch.app.commands.results import LAST_HITS
from longsearch.app.evidence.saving import renew, save, searched
from longsearch.app.folders.listing import indexed_folders
from longsearch.app.models import query_vectors
from longsearch.app.paths import data_folder, index_path
from longsearch.app.user_data import saved as module
from longsearch.app.user_data.news import note_news
from longsearch.app.user_data.saved import Answer, NewPassage, SavedSearch, SavedSearches, Stamp
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.index import Background, keep
from longsearch.engine.index.opening import open_index
from longsearch.engine.json_files import load_object
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.app.made_folders import MODEL, make_folder, toward, vector_source

VALVE = "The valve stayed open and the coolant was lost."
PUMP = "The pump failed in the night."
WORDS = SavedSearch("Valves", "valve coolant", SearchMode.WORDS)
NEW = NewPassage("/p/a", "a", 1, "text", "/p")


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one document; every query has the same vector."""
    monkeypatch.setattr(
        query_vectors, "from_anywhere", lambda text, instruction, **_: vector_source(toward(1))(text, instruction)
    )
    return make_folder(home / "papers", {"old.md": VALVE})


def more(folder: Path, name: str, text: str) -> None:
    make_folder(folder, {name: text})


def news() -> list[str]:
    renew(indexed_folders(), vector_source(toward(1)))
    return [Path(new.path).name for one in SavedSearches().all() for new in one.news]


def test_answers_from_before_a_search_was_saved_are_no_news_and_later_ones_are(folder: Path) -> None:
    save(WORDS, indexed_folders(), vector_source(toward(1)))
    assert news() == []
    more(folder, "pump.md", PUMP)
    more(folder, "new.md", "Another valve lost its coolant.")
    assert news() == ["new.md"]
    assert news() == ["new.md"]
    assert [new.text for new in SavedSearches().look("Valves")] == ["Another valve lost its coolant."]
    assert news() == []
    more(folder, "newer.md", "A third valve and its coolant.")
    assert news() == ["newer.md"]


def test_a_document_that_is_copied_renamed_or_read_again_is_no_news(folder: Path) -> None:
    save(WORDS, indexed_folders(), vector_source(toward(1)))
    assert news() == []
    more(folder, "copy.md", VALVE)
    with Store.open(index_path(folder), root=folder) as store:
        store.forget(["old.md", "copy.md"])
    more(folder, "again.md", VALVE)  # with new ids
    assert news() == []


def test_a_folder_that_is_added_later_brings_news_and_another_folder_none(folder: Path, home: Path) -> None:
    save(WORDS, indexed_folders(), vector_source(toward(1)))
    save(replace(WORDS, name="here", roots=(str(folder),)), indexed_folders(), vector_source(toward(1)))
    make_folder(home / "later", {"late.md": VALVE})
    renew(indexed_folders(), vector_source(toward(1)))
    assert {one.name: len(one.news) for one in SavedSearches().all()} == {"here": 0, "Valves": 1}


def test_a_search_that_names_folders_is_about_these(folder: Path, home: Path) -> None:
    make_folder(home / "other", {"x.md": PUMP})
    save(replace(WORDS, query="valve coolant folder:other"), indexed_folders(), vector_source(toward(1)))
    assert SavedSearches().named("valves").roots == (str(home / "other"),)
    more(folder, "new.md", "Another valve lost its coolant.")
    assert news() == []
    with pytest.raises(LongsearchError):
        save(replace(WORDS, query="valve folder:nowhere"), indexed_folders(), vector_source(toward(1)))


def calibrated(folder: Path, score: float) -> None:
    """Let chance reach this score in every mode."""
    scores = {mode.value: [score] * 20 for mode in SearchMode}
    with Store.open(index_path(folder), root=folder) as store, store.changing() as db:
        keep(db, Background(MODEL, 3, scores))


def test_by_meaning_only_passages_that_are_better_than_chance_are_news(home: Path) -> None:
    folder = make_folder(home / "papers", {"old.md": PUMP}, [toward(1)])
    calibrated(folder, 0.5)
    search = SavedSearch("near", "something quite different", SearchMode.MEANING)
    save(search, indexed_folders(), vector_source(toward(1)))
    texts = {"near.md": "What is near.", "far.md": "What is far away."}
    make_folder(folder, texts, [toward(1, 0.1), toward(0, 1)])
    assert news() == ["near.md"]
    assert SavedSearches().named("near").news[0].level == "good"


def test_news_wait_until_every_document_has_its_vectors(home: Path) -> None:
    folder = make_folder(home / "papers", {"old.md": PUMP}, [toward(1)])
    calibrated(folder, 0.5)
    save(SavedSearch("near", "different", SearchMode.MEANING), indexed_folders(), vector_source(toward(1)))
    more(folder, "waiting.md", "Nobody has read this yet.")

    def never(text: str, instruction: str | None) -> np.ndarray:
        raise AssertionError

    with open_index(index_path(folder)) as session:
        assert note_news(session, never) == 0


def test_quotations_and_filters_alone_are_watched_too(folder: Path) -> None:
    for name, query in (("said", 'where: "the old queen stays"'), ("all", "type:txt")):
        save(SavedSearch(name, query, SearchMode.WORDS), indexed_folders(), vector_source(toward(1)))
    more(folder, "bees.md", "It happened, and the old queen stays.")
    more(folder, "notes.txt", "Nothing of note.")
    renew(indexed_folders(), vector_source(toward(1)))
    found = {one.name: [new.title for new in one.news] for one in SavedSearches().all()}
    assert found == {"said": ["bees"], "all": ["notes"]}


def test_a_saved_draft_is_verified_anew_and_has_no_news(folder: Path, tmp_path: Path) -> None:
    more(folder, "bees.md", "It happened that the old queen stays in the hive.")
    draft = tmp_path / "draft.md"
    draft.write_text("He says: “the old queen stays in the hive”.")
    one = SavedSearch("mine", f"verify: {draft}", SearchMode.WORDS)
    save(one, indexed_folders(), vector_source(toward(1)))
    renew(indexed_folders(), vector_source(toward(1)))
    (hit,) = searched(one, indexed_folders(), vector_source(toward(1)), 5).hits
    assert hit.title.startswith("verbatim, line 1") and Path(hit.path).name == "bees.md"
    assert SavedSearches().named("mine").news == ()


def test_a_model_that_cannot_be_run_stops_nothing_and_what_was_missed_comes_later(home: Path) -> None:
    folder = make_folder(home / "papers", {"old.md": PUMP}, [toward(1)])
    calibrated(folder, 0.5)
    search = SavedSearch("near", "different", SearchMode.MEANING)
    save(search, indexed_folders(), vector_source(toward(1)))
    make_folder(folder, {"near.md": "What is near."}, [toward(1)])
    renew(indexed_folders(), vector_source(toward(1), model="another"))
    assert SavedSearches().named("near").news == ()
    assert news() == ["near.md"]


def test_after_a_change_of_the_model_old_passages_are_no_news(home: Path) -> None:
    searches = SavedSearches()
    searches.save(WORDS, ["/p"])
    answers = [Answer(bytes([n] * 8), n, NEW) for n in range(1, 4)]
    assert searches.note("Valves", "/p", Stamp(1, "a"), answers[:1]) == 0  # the first time
    assert searches.note("Valves", "/p", Stamp(2, "a"), answers[:2]) == 1
    assert searches.note("Valves", "/p", Stamp(3, "b"), answers) == 0
    assert searches.note("Valves", "/p", Stamp(3, "b"), [Answer(b"12345678", 2, NEW)]) == 0  # it was there
    assert searches.note("Valves", "/p", Stamp(1, "b"), [Answer(b"abcdefgh", 1, NEW)]) == 1  # the index is made anew
    assert searches.note("gone", "/p", Stamp(1, "b"), answers) == 0


def test_news_and_answers_that_are_remembered_are_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NEWS", 3)
    monkeypatch.setattr(module, "MAX_SEEN", 4)
    searches = SavedSearches()
    searches.save(WORDS, [])
    answers = [Answer(n.to_bytes(8, "big"), n, replace(NEW, title=str(n))) for n in range(10)]
    assert searches.note("Valves", "/p", Stamp(9, "a"), answers) == 9  # ids begin at 1
    found = searches.named("Valves")
    assert len(found.news) == 3
    assert len((found.seen or {})["/p"]) == 44  # base64 of 4 x 8 bytes


def test_the_command_saves_lists_runs_and_deletes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["saved"]) == 1
    assert main(["saved", "add", "Valves\x1b", "valve coolant", str(folder), "--mode", "words"]) == 0
    assert main(["saved", "add", "Valves\ufffd", "valve", str(folder), "--mode", "words"]) == 0  # replaces it
    more(folder, "new.md", "Another valve.")
    assert main(["news"]) == 0
    capsys.readouterr()
    assert main(["saved"]) == 0
    assert capsys.readouterr().out == f"Valves\ufffd  (1 new)\n    valve  (words; {folder})\n"
    assert main(["saved", "run", "valves\ufffd"]) == 0
    assert "1 passage new since you last looked" in capsys.readouterr().out
    assert len(load_object(data_folder() / LAST_HITS)["hits"]) == 2  # which `open-hit` opens
    assert main(["saved", "run", "valves\ufffd", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 2
    assert main(["news"]) == 1
    assert main(["saved", "remove", "VALVES\ufffd"]) == 0
    assert main(["saved", "run", "valves"]) == 3
    assert main(["saved", "add", " ", "valve", str(folder)]) == 3


def test_news_tell_scripts_by_their_exit_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["news"]) == 1
    assert "no search is saved" in capsys.readouterr().out
    main(["saved", "add", "Valves", "valve coolant", str(folder), "--mode", "words"])
    assert main(["news", "--json"]) == 1
    more(folder, "new\x1b[31m.md", "Another valve lost\x1b[2J its coolant.")
    capsys.readouterr()
    assert main(["news"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Valves: 1 passage new\n  new\ufffd[31m\n")
    assert "\x1b" not in out
    assert main(["news", "valves", "--json", "--seen"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_new"], found["searches"][0]["new"][0]["level"]) == (1, None)
    assert main(["news"]) == 1


def test_the_file_is_private_and_a_damaged_one_is_reported(folder: Path) -> None:
    main(["saved", "add", "Valves", "valve", str(folder)])
    path = data_folder() / "saved.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for damage in ("{", '{"searches": [3]}', '{"searches": [{"name": "x"}]}'):
        path.write_text(damage)
        with pytest.raises(LongsearchError):
            SavedSearches().all()
        with open_index(index_path(folder)) as session:
            assert note_news(session, lambda text, instruction: toward(1)) == 0  # indexing goes on


def test_indexing_notes_news(home: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", str(root)]) == 0
    main(["saved", "add", "moons", '"both the moon and the sun"', str(root), "--mode", "words"])
    (root / "new.md").write_text("It is said that both the moon and the sun raise tides.")
    assert main(["index", str(root)]) == 0
    assert [new.title for new in SavedSearches().named("moons").news] == [
        "It is said that both the moon and the sun raise tides."
    ]
