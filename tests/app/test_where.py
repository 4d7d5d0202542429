"""`longsearch where` and `where:` in the app find the document and the page of a quotation, in one folder or in all."""

import json
from pathlib import Path

import pytest

from longsearch.app.backend import AppBackend
from longsearch.app.cli import main
from longsearch.engine.errors import QueryError
from longsearch.engine.query_language.prefixes import quote_in
from longsearch.engine.types.results import SearchMode
from tests.app.made_folders import make_folder

LEASE = "The rent is due on the third working day, and rises each March by the change of the index."
BEES = "Both halves believe that the departure has already happened, and the old queen stays."


@pytest.fixture
def two(home: Path) -> list[Path]:
    return [
        make_folder(home / "legal", {"lease.md": LEASE, "old/lease.md": LEASE.replace("March", "May")}),
        make_folder(home / "hobby", {"bees.md": BEES}),
    ]


def test_a_quotation_is_printed_with_its_document_and_what_stands_there(
    two: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["where", "rises each March by the change", str(two[0])]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"lease  (verbatim)\n    {two[0]}/lease.md\n    > rises each March by the change\n1 place, ")
    assert main(["where", "RISES EACH MARCH", str(two[0])]) == 0
    assert "(the same words)" in capsys.readouterr().out
    assert main(["where", "the rent is due on the second working day", str(two[0] / "old")]) == 0
    out = capsys.readouterr().out
    assert "nearly the same: " in out
    assert f"{two[0]}/old/lease.md" in out


def test_all_folders_are_looked_through_outside_any(
    two: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(two[0].parent)
    assert main(["where", "Both halves believe", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["quote"], found["note"]) == ("Both halves believe", "")
    assert found["took_ms"] > 0
    (place,) = found["places"]
    assert place == {
        "path": f"{two[1]}/bees.md",
        "folder": "hobby",
        "title": "bees",
        "page": None,
        "page_label": None,
        "heading": "",
        "place": "",
        "start": 0,
        "stop": 19,
        "text": "Both halves believe",
        "similarity": 1.0,
        "verbatim": True,
    }
    monkeypatch.chdir(two[0])
    assert main(["where", "Both halves believe"]) == 1
    assert main(["where", "Both halves believe", "--everywhere"]) == 0


def test_a_quotation_that_nobody_wrote_exits_with_1(two: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["where", "it was the best of times", str(two[0])]) == 1
    assert "nobody says this" in capsys.readouterr().out
    assert main(["where", "it was the best of times", str(two[0]), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["places"] == []
    assert main(["where", "…", str(two[0])]) == 3
    assert "no words" in capsys.readouterr().err


def test_a_verbatim_place_in_one_folder_leaves_out_changed_ones_in_others(
    two: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    make_folder(two[0].parent / "copies", {"copy.md": LEASE.replace("third", "fourth")})
    assert main(["where", LEASE, "--everywhere", "--json"]) == 0
    assert [place["folder"] for place in json.loads(capsys.readouterr().out)["places"]] == ["legal"]


@pytest.mark.parametrize(
    ("query", "quote"),
    [
        ('where: "a b"', '"a b"'),
        ("WHERE:x", "x"),
        ("where:", ""),
        ("verify: ~/a b.md", "~/a b.md"),
        ("where is it", None),
        ("nowhere: x", None),
    ],
)
def test_a_query_that_begins_with_where_looks_for_a_quotation(query: str, quote: str | None) -> None:
    assert quote_in(query) == quote


@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_app_shows_the_places_of_a_quotation(two: list[Path], mode: SearchMode) -> None:
    alone, all_folders = AppBackend(two[0]), AppBackend()
    for backend in (alone, all_folders):
        results = backend.search('where: "rises each March"', mode)
        (hit,) = results.hits
        (passage,) = hit.passages
        assert (passage.text, passage.score, results.note) == ("rises each March", 1.0, "verbatim")
        assert backend.document(hit.document_id).text[passage.start : passage.stop] == passage.text
        near = backend.search('where: "the rent is due on the second working day" in:old', mode)
        assert [Path(hit.path).parent.name for hit in near.hits] == ["old"]
        assert near.note.startswith("nearly the same")
        assert "nobody says this" in backend.search('where: "never mind the gap at all"', mode).note
        with pytest.raises(QueryError, match="no quotation yet"):
            backend.search("where:", mode)
    assert all_folders.search('where: "the old queen stays" folder:hobby', mode).hits[0].folder == "hobby"
    with pytest.raises(QueryError, match="No folder is called hobby"):
        alone.search('where: "the old queen stays" folder:hobby', mode)
