"""`longsearch table`: what is filled, what stays, what is resumed, and that no cell is a formula."""

import errno
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.app.cli import main
from longsearch.app.evidence import tables
from longsearch.app.evidence.grids import FORMATS
from longsearch.app.evidence.tables import Column, Table, columns_of
from longsearch.app.search.scope import Scope
from longsearch.engine.errors import LongsearchError
from tests.app.made_folders import make_folder, toward, vector_source

SOURCE = vector_source(toward(1))
TEXTS = {
    "bees.md": "Bees are fed sugar syrup in autumn. The hive stands in the orchard.",
    "valve.md": "The valve had failed nine times before. Nobody had told the crew.",
}
SYRUP = "when are bees fed sugar syrup?"


@pytest.fixture
def notes(home: Path) -> Path:
    (home / "questions.txt").write_text(f"# mine\n{SYRUP}\n\nhow often had the valve failed?\n{SYRUP}\n")
    return make_folder(home / "notes", TEXTS)


def run(notes: Path, *options: str) -> int:
    return main(["table", str(notes.parent / "questions.txt"), str(notes), *options])


def test_each_document_is_asked_each_question_and_stays_empty_if_it_does_not_answer(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(notes, "--json") == 0
    cells = {(one["question"], one["document"]): one["text"] for one in json.loads(capsys.readouterr().out)["cells"]}
    assert cells[SYRUP, "bees.md"].startswith("Bees are fed sugar syrup in autumn.")
    assert "nine times" in cells["how often had the valve failed?", "valve.md"]
    assert cells[SYRUP, "valve.md"] is cells["how often had the valve failed?", "bees.md"] is None


@pytest.mark.parametrize("kind", FORMATS)
def test_a_cell_that_was_corrected_by_hand_stays_and_an_emptied_one_is_filled_again(
    notes: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    file = notes.parent / f"table.{kind}"
    assert run(notes, "-o", str(file)) == 0
    write, read = FORMATS[kind]
    rows = read(file.read_bytes())
    assert rows[0] == ["question", "bees.md", "valve.md"]
    first, rows[1][1], rows[2][2] = rows[1][1], "", "my own | words <b>\n=1+1"
    file.write_bytes(write(rows))
    assert run(notes, "-o", str(file)) == 0
    again = read(file.read_bytes())
    assert (again[1][1], again[2][2]) == (first, "my own | words <b>\n=1+1")
    assert "2 questions by 2 documents; 1 filled, 1 kept, 2 empty" in capsys.readouterr().out


def test_the_numbers_of_the_cells_are_written_with_unit_and_words() -> None:
    table = Table(["how wide?"], [Column("a.md", "/", "a.md")], None, "csv", Scope([]), SOURCE)
    table.cells["how wide?", "a.md"] = "The keel is 40-60 cm wide. [p. 3, likely]"
    rows = FORMATS["csv"][1](table.values())
    assert rows[1:] == [["how wide?", "a.md", "40", "60", "cm", "The keel is 40-60 cm wide."]]


def test_the_words_around_a_number_are_whole() -> None:
    table = Table(["how wide?"], [Column("a.md", "/", "a.md")], None, "csv", Scope([]), SOURCE)
    table.cells["how wide?", "a.md"] = "foremost " * 9 + "40 cm" + " aftermost" * 9
    words = FORMATS["csv"][1](table.values())[1][-1].split()
    assert {"foremost", "40", "cm", "aftermost"} == set(words)
    assert len(words) < 18


def test_a_table_that_was_stopped_goes_on_where_it_was(
    notes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[str, str]] = []

    def answer(question: str, column: Column) -> str:
        asked.append((question, column.name))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return "an answer" if column.name == "bees.md" else ""

    monkeypatch.setattr(tables, "answering", lambda *_: answer)
    scope, file = Scope.of(notes), tmp_path / "t.csv"

    def filled() -> Iterator[int]:
        return Table(["a?", "b?"], columns_of(scope), file, "csv", scope, SOURCE).fill()

    with pytest.raises(KeyboardInterrupt):
        list(filled())
    assert (tmp_path / "t.csv.unfinished").exists()
    assert list(filled()) == [1, 0]
    assert asked == [("a?", "bees.md"), ("a?", "valve.md"), ("b?", "bees.md"), ("b?", "bees.md"), ("b?", "valve.md")]
    assert not (tmp_path / "t.csv.unfinished").exists()


def test_what_a_table_held_before_is_kept_beside_it_and_a_failed_write_loses_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("question,a.md\nhow wide?,my own words\n")
    (tmp_path / "t.csv").chmod(0o640)
    (tmp_path / "link.csv").symlink_to("t.csv")
    table = Table(["how wide?"], [Column("a.md", "/", "a.md")], tmp_path / "link.csv", "csv", Scope([]), SOURCE)
    table.put("how wide?", "a.md", "40 cm")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken, pytest.raises(LongsearchError, match=r"t\.csv~ cannot be written: No space"):
        broken.setattr("os.fsync", full)
        table.save()
    assert "my own words" in (tmp_path / "t.csv").read_text()
    table.save()
    assert "40 cm" in (tmp_path / "t.csv").read_text()
    assert "my own words" in (tmp_path / "t.csv~").read_text()
    assert (tmp_path / "t.csv").stat().st_mode & 0o777 == 0o640
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link.csv", "t.csv", "t.csv~"]


def test_a_file_of_questions_is_no_document_of_its_table(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notes)
    assert [column.name for column in columns_of(Scope.of(notes), [Path("bees.md")])] == ["valve.md"]


def test_another_file_is_not_written_over(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (notes.parent / "mine.csv").write_text("name,phone\n")
    assert run(notes, "-o", str(notes.parent / "mine.csv")) == 3
    assert "holds another table" in capsys.readouterr().err
    assert (notes.parent / "mine.csv").read_text() == "name,phone\n"
    with pytest.raises(LongsearchError, match="no Excel workbook"):
        FORMATS["xlsx"][1](b"nonsense")


CELLS = st.text(st.sampled_from("ab|\\<>&\"'=+-@;,\n é漢"), max_size=8).map(str.strip)


@pytest.mark.parametrize("kind", FORMATS)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=3))
def test_what_is_written_is_read_back(kind: str, body: list[list[str]]) -> None:
    rows = [["question", "a.pdf", "b.pdf"], *([f"q{number}", *row] for number, row in enumerate(body))]
    write, read = FORMATS[kind]
    assert [[cell.strip() for cell in row] for row in read(write(rows))] == rows


def test_no_cell_is_a_formula() -> None:
    rows = [["question", "a"], ["q", "=HYPERLINK(1)"]]
    assert b"'=HYPERLINK" in FORMATS["csv"][0](rows)
    assert b"<f>" not in FORMATS["xlsx"][0](rows)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_cell_is_no_surer_than_its_document_and_less_sure_beside_a_better_one(own: float, other: float) -> None:
    order = ["", "unsure", "likely"]
    alone, beside = (order.index(tables.level_of(own, anywhere)) for anywhere in (None, other))
    assert beside == alone if other <= own else beside <= alone
    assert order.index(tables.level_of(min(own + 0.1, 1.0), other)) >= beside
    assert alone == (2 if own > 0.69 else 1 if own > 0.311 else 0) or min(abs(own - 0.69), abs(own - 0.31)) < 1e-2
