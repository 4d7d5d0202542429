"""`longsearch compare` and `longsearch copies`."""

import json
from pathlib import Path

import pytest

from longsearch.app.cli import main
from tests.app.made_folders import make_folder

RENT = "The rent is 900 euros a month and is due on the third day of it."
CAT = "The tenant may keep a cat but no dogs in the house or in the garden."
LEASE = f"{RENT}\n\n{CAT}\n\nThe lease ends in May after one year unless both sides want it to go on."


def test_two_documents_are_compared_sentence_by_sentence(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "a.md").write_text(LEASE)
    (home / "b.html").write_text(
        "".join(f"<p>{one}</p>" for one in LEASE.replace("900", "950").split("\n\n")) + "<p>Nobody may smoke \x1b.</p>"
    )
    assert main(["compare", str(home / "a.md"), str(home / "b.html"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["same"] == 2
    changed, new = found["changes"]
    assert (changed["kind"], changed["first"]["text"], changed["second"]["text"]) == (
        "changed",
        RENT,
        RENT.replace("900", "950"),
    )
    assert changed["differences"] == [{"first": "900", "second": "950"}]
    assert (new["kind"], new["first"]) == ("new", None)
    assert main(["compare", str(home / "a.md"), str(home / "b.html")]) == 1
    said = capsys.readouterr().out
    assert "900 → 950" in said and "2 sentences the same; passages: 1 new, 1 changed" in said and "\x1b" not in said
    assert main(["compare", str(home / "a.md"), str(home / "a.md")]) == 0
    assert main(["compare", str(home / "a.md"), str(home / "gone.md")]) == 3


def test_copies_and_versions_are_listed_with_what_each_holds_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    longer = f"{LEASE}\n\nThe keys are to be given back at the end."
    texts = {"lease v1.md": LEASE, "lease v2.md": longer, "orchard.md": "Apple trees are pruned in winter, says one."}
    make_folder(home / "notes", texts)
    assert main(["copies", str(home / "notes"), "--json"]) == 0
    ((newest, older),) = json.loads(capsys.readouterr().out)["groups"]
    assert [Path(one["path"]).name for one in (newest, older)] == ["lease v2.md", "lease v1.md"]
    assert (newest["alone"], older["alone"]) == (1, 0)
    assert main(["copies", str(home / "notes")]) == 0
    assert "lease v2.md: 1 sentence of its own" in capsys.readouterr().out
    make_folder(home / "other", {"orchard.md": "Apple trees are pruned in winter, says one."})
    assert main(["copies", str(home / "other")]) == 1
    capsys.readouterr()
    assert main(["copies", "--everywhere", "--json"]) == 0
    _, across = sorted(json.loads(capsys.readouterr().out)["groups"], key=lambda group: group[0]["title"] == "orchard")
    assert {one["folder"] for one in across} == {"notes", "other"}
