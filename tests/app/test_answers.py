"""The answer of a hit is a whole sentence with its own page and heading, on the command line and in JSON."""

import json
from pathlib import Path

import pytest

from longsearch.app import backend
from longsearch.app.agents.readable_folders import ReadableFolders
from longsearch.app.agents.tools import Tools
from longsearch.app.backend import AppBackend
from longsearch.app.cli import main
from longsearch.app.paths import index_path
from longsearch.app.search import searching
from longsearch.app.search.python_door import open_index
from longsearch.engine.errors import ModelError
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Heading, Passage
from longsearch.engine.types.results import SearchMode
from tests.engine.fake_reader import FakeReader

SLIDES = (
    "Annual report\n\nThe board met in spring.\n\n",
    "Boiler\n\nThe boiler must be bled each autumn. Nobody else may do it.\n\n",
    "Roof\n\nThe roof is new.",
)
ANSWER = "The boiler must be bled each autumn."


@pytest.fixture
def deck(home: Path) -> Path:
    """A folder with a deck of three slides that make one passage."""
    root = home / "decks"
    root.mkdir()
    (root / "deck.pptx").touch()
    text = "".join(SLIDES)
    starts = (0, len(SLIDES[0]), len(SLIDES[0] + SLIDES[1]))
    headings = tuple(Heading(1, slide.partition("\n")[0], start) for slide, start in zip(SLIDES, starts, strict=True))
    with Store.open(index_path(root), root=root) as store:
        document = DocumentText(text, starts, "Annual report", headings)
        store.add_document(FileStamp("deck.pptx", 1, 1, 1), b"1" * 32, document, [Passage(0, len(text), 50)])
    return root


def test_a_hit_has_the_page_and_the_heading_of_its_sentence(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "when is the boiler bled", str(deck), "--mode", "words", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    passage = found["results"][0]["passages"][0]
    start, stop = passage["excerpt"]
    assert passage["text"][start - passage["start"] : stop - passage["start"]] == ANSWER
    assert (passage["page"], passage["heading"]) == (2, "Boiler")
    answer = found["answers"][0]
    assert (answer["sentence"], answer["page"], answer["heading"]) == (ANSWER, 2, "Boiler")
    assert answer["document"].endswith("deck.pptx")


def test_answers_alone_are_a_line_each_with_document_and_page(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "when is the boiler bled", str(deck), "--mode", "words", "--answers", "2"]) == 0
    assert capsys.readouterr().out == f"{ANSWER} (Annual report, slide 2)\n"


QUESTION = "when is the boiler bled"


@pytest.mark.parametrize(("answers", "verdict", "code"), [(9.0, "likely", 0), (-20.0, "nothing", 1)])
def test_the_verdict_of_the_reader_decides_at_every_door(
    deck: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answers: float,
    verdict: str,
    code: int,
) -> None:
    for module in (searching, backend):
        monkeypatch.setattr(module, "shipped_reader", lambda: FakeReader(answers))
    assert main(["search", QUESTION, str(deck), "--mode", "words", "--min", "unsure", "--json"]) == code
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict
    asked = open_index(deck).search(QUESTION, mode="words", read=True)
    assert asked.verdict == verdict
    assert asked.answers(1)[0].passage.sentence == "The roof is new."
    told = Tools(ReadableFolders()).search(QUESTION, mode="words")
    assert (told["verdict"], told["answers"][0]["sentence"]) == (verdict, "The roof is new.")
    assert (told["answers"][0]["page"], told["answers"][0]["heading"]) == (3, "Roof")
    shown = AppBackend(deck).read(QUESTION, SearchMode.WORDS)
    assert shown is not None
    assert shown.verdict == verdict


def test_the_app_tells_the_reason_for_a_score_once_it_is_asked_for(deck: Path) -> None:
    app = AppBackend(deck)
    results = app.search("the boiler", SearchMode.WORDS)
    explained = app.explained(results)
    assert (results.hits, results.hits[0].reason) == (explained.hits, None)  # a reason is not compared
    assert explained.hits[0].reason is not None
    assert explained.hits[0].reason.by_words == pytest.approx(results.hits[0].score)
    assert app.explained(app.search("where: the boiler must be bled", SearchMode.WORDS)).hits[0].reason is None


def test_the_scores_of_an_answer_stand_below_it_when_they_are_asked_for(
    deck: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "shipped_reader", lambda: FakeReader(9.0))
    assert main(["search", QUESTION, str(deck), "--mode", "words", "--answers", "1", "--explain"]) == 0
    sentence, _, scores = capsys.readouterr().out.splitlines()[:3]
    assert sentence.startswith("The roof is new.")
    assert "near to the query's (1: the same); it answers with a probability of" in scores


def test_what_is_left_out_is_told_by_the_name_that_was_given(
    deck: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "shipped_reader", lambda: FakeReader(-20.0))
    assert main(["search", QUESTION, str(deck), "--mode", "words", "--min", "unsure"]) == 1
    assert "1 document left out: below unsure" in capsys.readouterr().out


def test_without_a_reader_nothing_is_read_and_nothing_said(
    deck: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (searching, backend):
        monkeypatch.setattr(module, "shipped_reader", lambda: None)
    assert AppBackend(deck).read(QUESTION, SearchMode.WORDS) is None
    assert "verdict" not in Tools(ReadableFolders()).search(QUESTION, mode="words")
    assert main(["search", QUESTION, str(deck), "--mode", "words", "--min", "unsure"]) == 0
    assert "1. Annual report" in capsys.readouterr().out


def test_a_damaged_reader_is_told_and_costs_no_search(
    deck: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged() -> None:
        raise ModelError("cannot read reader.safetensors", "install longsearch again")

    monkeypatch.setattr(searching, "shipped_reader", damaged)
    found = Tools(ReadableFolders()).search(QUESTION, mode="words")
    assert (len(found["results"]), "verdict" in found) == (1, False)
    assert "not read: cannot read reader.safetensors" in found["note"]
    assert main(["search", QUESTION, str(deck), "--mode", "words", "--answers", "1"]) == 0
    note, sentence = capsys.readouterr().out.splitlines()
    assert note.startswith("(not read: cannot read reader.safetensors")
    assert sentence.startswith(ANSWER)


def test_nothing_found_says_so_and_ends_with_1(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "zeppelin", str(deck), "--mode", "words", "--answers", "2"]) == 1
    assert capsys.readouterr().out == "nothing found\n"
