"""The history of queries is private and bounded, and can be cleared and turned off; each folder has a last state."""

import json
import stat
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.evidence.user_data import StoredUserData
from longsearch.app.paths import data_folder
from longsearch.app.user_data import history as module
from longsearch.app.user_data.app_state import MAX_FOLDERS
from longsearch.app.user_data.history import MAX_CHARACTERS, History
from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.results import SearchMode
from longsearch.tui.backend.interface import InView, Question


def asked(*queries: str) -> None:
    for query in queries:
        History().add(query, SearchMode.HYBRID, "", "/p")


def test_queries_are_listed_newest_first_and_each_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history"]) == 1
    asked("valves", "pumps", "  valves ", "", "the \x1b[31m\nreactor")
    assert [one.query for one in History().queries()] == ["the \x1b[31m\nreactor", "valves", "pumps"]
    capsys.readouterr()
    assert main(["history"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("the \ufffd[31m reactor  (")
    assert out.count("\n") == 3
    assert main(["history", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["queries"]
    assert [(row["query"], row["mode"], row["folder"]) for row in rows][1:] == [
        ("valves", "hybrid", "/p"),
        ("pumps", "hybrid", "/p"),
    ]


def test_the_file_is_private_and_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_QUERIES", 3)
    asked("one", "two", "three", "four", "x" * (MAX_CHARACTERS + 5))
    queries = [one.query for one in History().queries()]
    assert queries[1:] == ["four", "three"]
    assert len(queries[0]) == MAX_CHARACTERS
    assert stat.S_IMODE((data_folder() / "history.json").stat().st_mode) == 0o600


def test_the_history_is_cleared_when_the_person_is_sure(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked("one", "two")
    assert main(["history", "clear"]) == 3  # nobody can be asked
    assert len(History().queries()) == 2
    assert main(["history", "clear", "--yes"]) == 0
    assert "2 queries forgotten" in capsys.readouterr().out
    assert main(["history", "clear", "--yes"]) == 1
    assert "one" not in (data_folder() / "history.json").read_text()


@pytest.mark.parametrize("off", ["0", "off", "FALSE"])
def test_a_history_that_is_turned_off_takes_no_query(home: Path, monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    monkeypatch.setenv("LONGSEARCH_HISTORY", off)
    asked("one")
    assert not (data_folder() / "history.json").exists()


def test_rows_of_another_version_are_passed_over(home: Path) -> None:
    rows = [3, {"query": 7}, {"query": "a", "mode": "a mode to come"}, {"query": "b", "asked_at": "x"}, {"query": "c"}]
    (data_folder() / "history.json").write_text(json.dumps({"queries": rows}))
    assert [one.query for one in History().queries()] == ["c"]
    (data_folder() / "history.json").write_text("{")
    with pytest.raises(LongsearchError, match="damaged"):
        asked("d")


def test_the_desk_remembers_questions_with_mode_and_instruction(home: Path) -> None:
    user_data = StoredUserData(Path("/p"))
    questions = [Question("valves", SearchMode.WORDS), Question("pumps", instruction="Find definitions")]
    for question in questions:
        user_data.remember(question)
    assert user_data.history()[0] == questions[::-1]
    StoredUserData(Path("/q")).remember(Question("sails"))
    assert user_data.history()[1] == questions[::-1]
    assert user_data.history()[0][0].query == "sails" == StoredUserData(None).history()[1][0].query
    user_data.forget_question(questions[1])
    assert user_data.history()[1] == questions[:1]


def test_the_last_state_is_kept_for_each_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, everywhere = StoredUserData(Path("/p")), StoredUserData(None)
    state = InView(Question("valves", SearchMode.MEANING, "Find causes"), "/p/\udcff.pdf")
    assert here.last() is None
    here.leave(state)
    assert here.last() == state
    assert everywhere.last() is None
    for number in range(MAX_FOLDERS):
        StoredUserData(Path(f"/{number}")).leave(state)
    assert here.last() is None  # the oldest went
    monkeypatch.setenv("LONGSEARCH_RESTORE", "0")
    assert StoredUserData(Path("/0")).last() is None
    everywhere.leave(state)
    monkeypatch.delenv("LONGSEARCH_RESTORE")
    assert everywhere.last() is None
