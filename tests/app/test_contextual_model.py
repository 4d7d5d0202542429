"""A model with the contextual readout, chosen by LONGSEARCH_MODEL, is indexed and searched like any other."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from longsearch.app.cli import main
from longsearch.app.paths import index_path
from longsearch.engine.index.opening import open_index
from longsearch.engine.inference.encoder import Encoder
from tests.engine.tiny_models import PROSE, save_embedder

NOTES = {
    "tides.txt": "Spring tides follow the new moon and the full moon by a day or two.",
    "bread.txt": "Let the dough rest overnight in a cold room before it is baked.",
    "bees.txt": "A swarm hangs on a branch for an hour while its scouts look for a hollow tree.",
}


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three notes and a long document; the model is tiny and random."""
    model = save_embedder(tmp_path / "model", "contextual")
    monkeypatch.setenv("LONGSEARCH_MODEL", str(model))
    folder = home / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "license.txt").write_text(PROSE[:6000], "utf-8")
    return folder


def search(capsys: pytest.CaptureFixture[str], query: str, folder: Path) -> list[dict[str, Any]]:
    capsys.readouterr()
    main(["search", "--json", "--mode", "meaning", query, str(folder)])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["results"]
    return found


def test_an_index_of_a_contextual_model_is_searched_by_meaning(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", "-q", str(folder)]) == 0
    encoder = Encoder.open(tmp_path / "model")
    with open_index(index_path(folder)) as store:
        assert store.model == (encoder.fingerprint, 2 * encoder.model.config.d_model)
    for name, text in NOTES.items():
        assert Path(search(capsys, text, folder)[0]["path"]).name == name


def scores(capsys: pytest.CaptureFixture[str], query: str, folder: Path) -> dict[str, float]:
    return {Path(result["path"]).name: result["score"] for result in search(capsys, query, folder)}


def test_a_document_that_grew_gets_the_scores_of_one_that_is_read_from_its_start(
    folder: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", "-q", str(folder)]) == 0
    last = " ".join(NOTES["tides.txt"].split()[::-1])
    (folder / "license.txt").write_text(f"{PROSE[:6000]}\n\n{last}", "utf-8")
    (folder / "bees.txt").write_text(f"{NOTES['bees.txt']} {last}", "utf-8")  # short: its C changes
    assert main(["index", "-q", str(folder)]) == 0
    fresh = home / "fresh"
    shutil.copytree(folder, fresh)
    assert main(["index", "-q", str(fresh)]) == 0
    grown, read_again = scores(capsys, last, folder), scores(capsys, last, fresh)
    assert grown.keys() == read_again.keys() == NOTES.keys() | {"license.txt"}
    assert grown == pytest.approx(read_again, abs=1e-3)
