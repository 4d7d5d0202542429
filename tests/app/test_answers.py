"""The answer of a hit is a whole sentence with its own page and heading, on the command line and in JSON."""

import json
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.paths import index_path
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Heading, Passage

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


def test_nothing_found_says_so_and_ends_with_1(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "zeppelin", str(deck), "--mode", "words", "--answers", "2"]) == 1
    assert capsys.readouterr().out == "nothing found\n"
