"""`--think`: an index of a generative model is searched with any number of soft tokens, without indexing again."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longsearch.app.backend import AppBackend
from longsearch.app.cli import main
from longsearch.app.daemon.daemon import Daemon
from longsearch.app.models import query_vectors
from longsearch.app.models.folder_models import thinking
from longsearch.app.models.resident import ResidentModel
from longsearch.engine.errors import LongsearchError, ModelError
from longsearch.engine.types.results import SearchMode
from tests.app.app_helpers import Clock, running
from tests.engine.tiny_models import save_embedder


@pytest.fixture
def indexed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, indexed by a tiny generative model with 3 soft tokens."""
    monkeypatch.setenv("LONGSEARCH_MODEL", str(save_embedder(tmp_path / "generative", "generative")))
    monkeypatch.delenv("LONGSEARCH_THINK", raising=False)
    assert main(["index", "-q", str(root)]) == 0
    return root


@pytest.fixture
def thinking_daemon(indexed: Path, clock: Clock) -> Iterator[Daemon]:
    with running(Daemon(model=ResidentModel(clock=clock), tick_s=0.01)) as daemon:
        yield daemon


def search(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["search", "the sea in the evening", str(folder), "--mode", "meaning", "--json", *options]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def scores(found: dict[str, Any]) -> list[float]:
    return [passage["score"] for hit in found["results"] for passage in hit["passages"]]


def test_queries_of_one_index_may_have_any_number_of_soft_tokens(
    indexed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = os.stat(next(indexed.parent.rglob("*.sqlite"))).st_mtime_ns
    plain, three, ten, one = (
        search(capsys, indexed, *o) for o in ((), ("--think", "3"), ("--think", "10"), ("--think", "1"))
    )
    assert len(scores(plain)) >= 2
    assert scores(plain) == scores(three)  # the model's own number
    assert len({tuple(scores(found)) for found in (three, ten, one)}) == 3
    assert all(found["vector_ms"] > 0 and not found["note"] for found in (plain, ten))
    assert os.stat(next(indexed.parent.rglob("*.sqlite"))).st_mtime_ns == before


def test_the_time_of_thinking_is_shown(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, said in (([], "[0-9]+ ms"), (["--think", "4"], "[0-9]+ ms [+] [0-9]+ ms for 4 soft tokens")):
        capsys.readouterr()
        assert main(["search", "the sea in the evening", str(indexed), *options]) == 0
        assert re.search(f"documents?, hybrid, {said}$", capsys.readouterr().out)


def test_the_variable_sets_the_number_for_every_search(
    indexed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ten = search(capsys, indexed, "--think", "10")
    monkeypatch.setenv("LONGSEARCH_THINK", "10")
    assert scores(search(capsys, indexed)) == scores(ten)
    assert thinking(None) == 10
    assert thinking(2) == 2
    monkeypatch.setenv("LONGSEARCH_THINK", "a lot")
    with pytest.raises(LongsearchError, match="LONGSEARCH_THINK"):
        thinking(None)


def test_the_daemon_thinks_for_the_app(thinking_daemon: Daemon, indexed: Path) -> None:
    own = query_vectors.from_here("the sea", None, steps=10)
    asked = query_vectors.from_daemon("the sea", None, steps=10)
    assert asked.vector == pytest.approx(own.vector, abs=1e-5)
    assert asked.vector != pytest.approx(query_vectors.from_daemon("the sea", None).vector, abs=1e-3)
    plain, thought = (AppBackend(indexed, k).search("the sea", SearchMode.MEANING) for k in (None, 10))
    assert [hit.score for hit in plain.hits] != [hit.score for hit in thought.hits]
    assert (thought.soft_tokens, thought.vector_ms > 0) == (10, True)


def test_a_daemon_answers_an_older_longsearch_that_names_no_soft_tokens(thinking_daemon: Daemon) -> None:
    assert thinking_daemon.handle("encode", {"text": "the sea", "instruction": None})["vector"]


def test_a_model_that_cannot_think_says_which_models_can(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LONGSEARCH_MODEL", raising=False)
    assert main(["index", "-q", str(root)]) == 0
    capsys.readouterr()
    assert main(["search", "the sea", str(root), "--think", "5"]) == 3
    said = capsys.readouterr().err
    assert "cannot think" in said
    assert "`generative`" in said
    with pytest.raises(ModelError, match="`mean`"):
        thinking(5)


def test_the_model_of_the_folder_says_whether_a_query_can_think(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LONGSEARCH_MODEL", raising=False)
    generative = save_embedder(tmp_path / "generative", "generative")
    assert main(["index", "-q", "--model", str(generative), str(root)]) == 0
    one, ten = (search(capsys, root, "--think", k) for k in ("1", "10"))
    assert scores(one) != scores(ten)
    monkeypatch.setenv("LONGSEARCH_MODEL", str(generative))
    assert main(["index", "-q", "--model", "english", str(root)]) == 0
    assert main(["search", "the sea", str(root), "--think", "5"]) == 3
    assert "`mean`" in capsys.readouterr().err


def test_a_served_app_says_before_it_opens_that_its_model_cannot_think(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LONGSEARCH_MODEL", raising=False)
    pytest.importorskip("textual_serve")
    assert main(["index", "-q", str(root)]) == 0
    capsys.readouterr()
    assert main(["serve", str(root), "--port", "0", "--think", "5"]) == 3
    said = capsys.readouterr()
    assert "cannot think" in said.err
    assert not said.out


def test_a_search_by_words_needs_no_model_that_thinks(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LONGSEARCH_MODEL", raising=False)
    monkeypatch.setenv("LONGSEARCH_THINK", "5")
    assert main(["index", "-q", str(root)]) == 0
    assert main(["search", "violin", str(root), "--mode", "words"]) == 0
    capsys.readouterr()
    assert main(["search", "violin", str(root), "--mode", "words", "--think", "5", "--json"]) == 0
    assert "does not think" in json.loads(capsys.readouterr().out)["note"]
