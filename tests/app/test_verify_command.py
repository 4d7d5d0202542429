"""`longsearch verify`: verbatim, changed, from elsewhere, invented."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from longsearch.app.cli import main
from longsearch.app.evidence.verifying import Difference, differences
from tests.app.made_folders import make_folder

VALVE = "The same valve had failed nine times before at plants of this design, and nobody had told the crew about it."
HEAT = "Decay heat went on at six percent of full power, which is enough to boil a swimming pool within an hour."


@pytest.fixture
def papers(home: Path) -> Path:
    return make_folder(home / "papers", {"miller-1979.md": VALVE, "heat.md": HEAT})


def verified(capsys: pytest.CaptureFixture[str], papers: Path, draft: str, name: str = "draft.md") -> dict[str, Any]:
    (papers.parent / name).write_text(draft)
    main(["verify", str(papers.parent / name), str(papers), "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("the same valve had failed nine times before", "verbatim"),
        ("The same valve ha­d failed nine times be-\nfore", "verbatim"),
        ("the same valve … nobody had told the crew", "verbatim"),
        ("the same valve [of the second pump] had failed nine times", "verbatim"),
        ("the same valve had failed seven times before at plants of this design", "changed"),
        ("the blue tulips of the garden were sold on a rainy Tuesday", "nowhere"),
        ("nobody had told the crew … decay heat went on at six percent", "changed"),
    ],
)
def test_a_quotation_is_verbatim_changed_or_nowhere(
    papers: Path, capsys: pytest.CaptureFixture[str], said: str, status: str
) -> None:
    (one,) = verified(capsys, papers, f"He writes “{said}”.")["quotations"]
    assert one["status"] == status
    assert one["line"] == 1


def test_what_differs_is_named(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = verified(capsys, papers, "“the same valve had failed seven times before at plants of this design”")
    (one,) = found["quotations"]
    assert one["differences"] == [{"draft": "seven", "document": "nine"}]
    assert one["document"].endswith("miller-1979.md")
    assert found["counts"] == {"verbatim": 0, "changed": 1, "elsewhere": 0, "nowhere": 0}


@pytest.mark.parametrize(
    ("cited", "status", "note"),
    [
        ("[@miller1979]", "verbatim", None),
        ("(Miller, 1979, p. 4)", "verbatim", None),
        ("[the report](papers/heat.md)", "elsewhere", None),
        ("[@unknown2001]", "verbatim", "no document is known as unknown2001"),
    ],
)
def test_the_cited_source_is_compared(
    papers: Path, capsys: pytest.CaptureFixture[str], cited: str, status: str, note: str | None
) -> None:
    (one,) = verified(capsys, papers, f"“the same valve had failed nine times before” {cited}")["quotations"]
    assert (one["status"], one["note"]) == (status, note)


def test_the_exit_code_says_whether_all_are_verbatim(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad, none = (papers.parent / name for name in ("good.md", "bad.tex", "none.txt"))
    good.write_text("“the same valve had failed nine times before” and “nine times”")
    bad.write_text("one\n``the blue tulips of the garden were sold \x1b[31m''")
    none.write_text("nothing is quoted")
    assert main(["verify", str(good), str(papers)]) == 0
    assert capsys.readouterr().out == "1 quotation: 1 verbatim; 1 of fewer than five words not judged\n"
    assert main(["verify", str(bad), str(papers)]) == 1
    said = capsys.readouterr().out
    assert "✗ line 2" in said and "1 nowhere" in said and "\x1b" not in said
    assert main(["verify", str(none), str(papers)]) == 0
    assert capsys.readouterr().out == "the draft quotes nothing\n"


def test_a_word_file_is_a_draft(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "<w:p><w:r><w:t>He writes “the same valve had failed nine times before”.</w:t></w:r></w:p>"
    with zipfile.ZipFile(papers.parent / "draft.docx", "w") as made:
        made.writestr("word/document.xml", f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>')
    main(["verify", str(papers.parent / "draft.docx"), str(papers), "--json"])
    assert json.loads(capsys.readouterr().out)["counts"]["verbatim"] == 1


def test_a_draft_that_is_not_there_is_named(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(papers.parent / "gone.docx"), str(papers)]) == 3
    assert "is not a file" in capsys.readouterr().err


def test_words_that_were_added_or_left_out_are_differences() -> None:
    assert differences("the valve stayed wide open", "the old valve stayed open") == [
        Difference("", "old"),
        Difference("wide", ""),
    ]
