"""`longsearch basket` keeps passages as evidence: they outlive the index, and are found again in changed documents."""

import json
import stat
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.evidence.places import placed
from longsearch.app.paths import data_folder
from longsearch.app.user_data.basket import MAX_UNDONE, Basket
from longsearch.app.user_data.user_file import UserFile
from longsearch.engine.citing.evidence import Evidence, PlaceState
from longsearch.engine.errors import LongsearchError
from tests.app.made_folders import make_folder

LEASE = "The rent is due on the third working day, and rises each March by the change of the index."
BEES = "Both halves believe that the departure has already happened, and the old queen stays."
RENT = "rises each March by the change"


@pytest.fixture
def folder(home: Path) -> Path:
    return make_folder(home / "legal", {"lease.md": LEASE, "bees.md": BEES})


def a_passage(number: int) -> Evidence:
    return Evidence(f"quote {number}", f"/p/{number}", f"title {number}", f"{number:08x}")


def ids(basket: Basket) -> list[str]:
    return [one.id for one in basket.content().passages]


def test_a_quotation_is_added_listed_and_exported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["basket"]) == 1
    assert main(["basket", "add", RENT, str(folder), "--note", "ask the landlord"]) == 0
    assert main(["basket", "add", RENT, str(folder)]) == 0
    assert main(["basket", "add", "nobody ever said such a thing", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "lease: in the basket\nlease: in the basket already\nnobody says this" in out
    assert main(["basket"]) == 0
    out = capsys.readouterr().out
    assert out == f"  1. lease\n     {folder}/lease.md\n     > {RENT}\n     note: ask the landlord\n"
    assert main(["basket", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["passages"]
    assert (one["quote"], one["state"], one["folder"]) == (RENT, "same", "legal")
    assert LEASE[one["start"] : one["stop"]] == RENT
    assert main(["basket", "export", "--format", "bibtex"]) == 0
    assert f"annote = {{``{RENT}'' --- ask the landlord}}," in capsys.readouterr().out


def test_an_export_goes_to_a_file_in_the_format_of_its_ending(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["basket", "export"]) == 1
    main(["basket", "add", RENT, str(folder)])
    main(["basket", "add", "the old queen stays", str(folder)])
    for ending, beginning in ((".md", "## lease"), (".csv", "quote,page"), (".json", "[\n"), (".bib", "@misc{")):
        file = tmp_path / f"out{ending}"
        assert main(["basket", "export", "-o", str(file)]) == 0
        assert file.read_text().startswith(beginning)
    capsys.readouterr()
    assert main(["basket", "export", "2"]) == 0
    out = capsys.readouterr().out
    assert "queen" in out
    assert "rent" not in out


def test_notes_removing_clearing_and_taking_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["basket", "add", RENT, str(folder)])
    main(["basket", "add", "the old queen stays", str(folder)])
    assert main(["basket", "note", "2", "swarms\nagain"]) == 0
    assert main(["basket", "remove", "1"]) == 0
    assert [one.note for one in Basket().content().passages] == ["swarms again"]
    assert main(["basket", "clear"]) == 3  # nobody can be asked
    assert "hint: add --yes" in capsys.readouterr().err
    assert main(["basket", "clear", "--yes"]) == 0
    assert main(["basket", "clear", "--yes"]) == 1
    for _ in range(3):
        assert main(["basket", "undo"]) == 0
    assert [one.note for one in Basket().content().passages] == ["", ""]
    assert main(["basket", "remove", "7"]) == 3
    assert "there is no passage 7" in capsys.readouterr().err


def test_the_basket_is_private_and_survives_forgetting_the_folder(folder: Path) -> None:
    main(["basket", "add", RENT, str(folder)])
    path = data_folder() / "basket.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert main(["folders", "forget", str(folder), "--yes", "--delete"]) == 0
    (found,) = placed(Basket().content().passages)
    assert (found.state, found.evidence.quote) == (PlaceState.UNKNOWN, RENT)


def test_a_passage_is_found_again_when_its_document_changes_moves_or_goes(folder: Path) -> None:
    main(["basket", "add", RENT, str(folder)])

    def again() -> tuple[PlaceState, Evidence]:
        main(["index", str(folder)])
        (found,) = placed(Basket().content().passages)
        return found.state, found.evidence

    assert again()[0] is PlaceState.SAME
    (folder / "lease.md").rename(folder / "old.md")
    state, one = again()
    assert (state, one.path) == (PlaceState.MOVED, f"{folder}/old.md")
    (folder / "old.md").write_text("Added later. " + LEASE)
    state, one = again()
    assert (state, one.start) == (PlaceState.MOVED, len("Added later. ") + LEASE.index(RENT))
    (folder / "old.md").write_text(LEASE.replace("March", "May"))
    assert again()[0] is PlaceState.REWORDED
    (folder / "old.md").write_text("There is nothing here.")
    assert again()[0] is PlaceState.GONE


def test_every_change_can_be_taken_back(home: Path) -> None:
    basket = Basket()
    for number in range(3):
        assert basket.add(a_passage(number))
    assert not basket.add(a_passage(1))
    one, two, three = ids(basket)
    basket.move(three, -1)
    basket.move(one, -1)  # there is no room
    assert ids(basket) == [one, three, two]
    basket.annotate(two, "a note")
    assert basket.remove([one, two]) == 2
    assert basket.clear() == 1
    undone = [basket.undo() for _ in range(5)]
    assert undone == ["clearing the basket", "removing 2 passages", "a note", "moving a passage", "adding a passage"]
    assert ids(basket) == [one, two]
    assert basket.content().passages == (a_passage(0), a_passage(1))


def test_only_the_last_changes_can_be_taken_back(home: Path) -> None:
    basket = Basket()
    for number in range(MAX_UNDONE + 5):
        basket.add(a_passage(number))
    assert len([1 for _ in range(MAX_UNDONE + 5) if basket.undo()]) == MAX_UNDONE
    assert basket.undo() == ""
    assert len(ids(basket)) == 5


def test_a_damaged_basket_is_reported_and_never_overwritten(home: Path) -> None:
    path = data_folder() / "basket.json"
    for damage in ("{", "[]", '{"passages": [{"quote": 3}]}', '{"passages": 3}'):
        path.write_text(damage)
        with pytest.raises(LongsearchError, match=r"damaged|no passage"):
            Basket().add(a_passage(1))
        assert path.read_text() == damage


def test_two_processes_that_add_lose_nothing(home: Path) -> None:
    first, second = Basket(), Basket()
    first.add(a_passage(1))
    second.add(a_passage(2))
    assert len(ids(first)) == 2
    with UserFile("basket.json").changing() as known:
        known["of a newer version"] = 1
    first.add(a_passage(3))
    assert UserFile("basket.json").read()["of a newer version"] == 1
