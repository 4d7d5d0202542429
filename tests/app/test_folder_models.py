"""A folder has a model of its own; when it is changed, the old index answers until the new one is complete."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from longsearch.app.backend import AppBackend
from longsearch.app.cli import main
from longsearch.app.daemon import daemon_control
from longsearch.app.daemon.daemon import Daemon
from longsearch.app.folders.indexes import known_roots
from longsearch.app.folders.languages import describe_languages, note_about_question
from longsearch.app.models import folder_models
from longsearch.app.models.encoders import resolved
from longsearch.app.models.folder_models import (
    FolderModel,
    choose_model,
    describe_change,
    folder_model,
    follow_settings,
)
from longsearch.app.models.resident import ResidentModel
from longsearch.app.models.turns import TURN_S, Models
from longsearch.app.paths import choice_path, index_path, index_paths
from longsearch.engine.errors import ModelError
from longsearch.engine.index.opening import open_index
from longsearch.engine.models import hub
from longsearch.engine.models.identity import identify
from tests.app.app_helpers import Clock, running, status, wait_until
from tests.engine.tiny_models import save_embedder


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> tuple[str, str]:
    """Two tiny models with vectors of different lengths; the first is the default."""
    first = save_embedder(tmp_path / "first", "eos")
    second = save_embedder(tmp_path / "second", "mean", seed=3, dim=8)
    monkeypatch.setenv("LONGSEARCH_MODEL", str(first))
    return str(first), str(second)


def fingerprint(root: Path) -> str:
    with open_index(index_path(root)) as session:
        return session.fingerprint


def found(capsys: pytest.CaptureFixture[str], root: Path) -> list[str]:
    capsys.readouterr()
    assert main(["search", "--json", "--mode", "meaning", "tides", str(root)]) == 0
    return [Path(hit["path"]).name for hit in json.loads(capsys.readouterr().out)["results"]]


def test_the_old_vectors_answer_until_the_new_ones_are_complete(
    models: tuple[str, str], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = models
    assert main(["index", "-q", str(root)]) == 0
    assert folder_model(root).is_own is False
    old = index_path(root)
    changing = choose_model(root, second)
    assert (changing.model, changing.next_model) == (first, second)
    assert index_path(root) == old
    assert "about to be read again" in describe_change(root)
    assert found(capsys, root)
    assert fingerprint(root) == identify(first).fingerprint

    assert main(["index", "-q", str(root)]) == 0
    assert folder_model(root).next_model == ""
    assert fingerprint(root) == identify(second).fingerprint
    assert not old.exists()
    assert [path.name for path in index_paths()] == [index_path(root).name]
    assert known_roots() == [root]
    assert found(capsys, root)
    assert describe_change(root) == ""

    (root / "new.md").write_text("A note about bees and their hive, which came after the change.", "utf-8")
    assert main(["index", "-q", str(root)]) == 0
    assert found(capsys, root)


def test_choosing_the_old_model_again_ends_the_change(models: tuple[str, str], root: Path) -> None:
    first, second = models
    assert main(["index", "-q", str(root)]) == 0
    next_path = choose_model(root, second).next_path
    assert next_path is not None
    next_path.touch()
    assert choose_model(root, first).next_model == ""
    assert not next_path.exists()
    assert folder_model(root).is_own


def test_the_old_vectors_answer_until_those_of_the_model_of_the_settings_are_complete(
    models: tuple[str, str], root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = models
    assert main(["index", "-q", str(root)]) == 0
    old = index_path(root)
    monkeypatch.setenv("LONGSEARCH_MODEL", second)
    assert found(capsys, root)
    changing = follow_settings(root)
    assert (changing.model, changing.next_model, changing.is_own) == (first, second, True)
    assert index_path(root) == old
    assert found(capsys, root)
    assert fingerprint(root) == identify(first).fingerprint

    assert main(["index", "-q", str(root)]) == 0
    assert (folder_model(root).model, folder_model(root).next_model, folder_model(root).is_own) == (second, "", False)
    assert fingerprint(root) == identify(second).fingerprint
    assert not old.exists()
    assert found(capsys, root)


def test_settings_that_name_the_old_model_again_end_the_change(
    models: tuple[str, str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = models
    assert main(["index", "-q", str(root)]) == 0
    monkeypatch.setenv("LONGSEARCH_MODEL", second)
    next_path = follow_settings(root).next_path
    assert next_path is not None
    next_path.touch()
    monkeypatch.setenv("LONGSEARCH_MODEL", first)
    assert follow_settings(root).next_model == ""
    assert not next_path.exists()
    assert not folder_model(root).is_own


def test_an_index_from_before_models_were_noted_is_known_as_the_bundled_models_by_its_fingerprint(
    models: tuple[str, str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = models
    monkeypatch.setattr(hub, "shipped_model", lambda _: Path(first))
    monkeypatch.delenv("LONGSEARCH_MODEL")
    assert main(["index", "-q", str(root)]) == 0
    choice_path(root).unlink()
    monkeypatch.setenv("LONGSEARCH_MODEL", second)
    changing = follow_settings(root)
    assert (changing.model, changing.next_model) == ("bundled", second)


def test_nothing_waits_for_vectors_of_a_model_that_is_gone(
    models: tuple[str, str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = models
    assert main(["index", "-q", str(root)]) == 0
    monkeypatch.setenv("LONGSEARCH_MODEL", second)
    assert follow_settings(root).next_model == second
    shutil.rmtree(first)
    assert main(["index", "-q", str(root)]) == 0
    assert (folder_model(root).model, folder_model(root).next_model) == (second, "")
    assert fingerprint(root) == identify(second).fingerprint


def test_a_folder_with_a_model_of_its_own_does_not_follow_the_settings(
    models: tuple[str, str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = models
    assert main(["index", "-q", str(root)]) == 0
    choose_model(root, first)
    monkeypatch.setenv("LONGSEARCH_MODEL", second)
    assert follow_settings(root).next_model == ""
    assert folder_model(root).model == first


def test_a_model_of_the_settings_that_is_not_here_changes_nothing(
    models: tuple[str, str], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["index", "-q", str(root)]) == 0
    monkeypatch.setenv("LONGSEARCH_MODEL", str(tmp_path / "nowhere"))
    with pytest.raises(ModelError):
        follow_settings(root)
    assert (folder_model(root).model, folder_model(root).next_model) == (models[0], "")


def test_a_new_folder_is_read_with_its_model_at_once(models: tuple[str, str], root: Path) -> None:
    _, second = models
    assert main(["index", "-q", "--model", second, str(root)]) == 0
    assert fingerprint(root) == identify(second).fingerprint
    assert folder_model(root).model == second


def test_the_daemon_reads_a_folder_again_and_says_which_model_it_holds(models: tuple[str, str], root: Path) -> None:
    first, second = models
    with running(Daemon(tick_s=0.01)):
        daemon_control.watch(root)
        wait_until(lambda: not status()["roots"][0]["busy"])
        assert status()["model"]["in_memory"] == first
        choose_model(root, second)
        daemon_control.watch(root)
        wait_until(lambda: folder_model(root).model == second)
        wait_until(lambda: not status()["roots"][0]["busy"])
        assert status()["model"]["in_memory"] == second
        assert status()["model"]["name"] == first
    assert fingerprint(root) == identify(second).fingerprint


class _Fake:
    """An encoder that only knows that it is loaded."""

    hardware = SimpleNamespace(device="cpu", reason="a test")
    cutter = None
    dim = 4
    excerpt_weight = 0.5

    def __init__(self, name: str) -> None:
        self.fingerprint = name


def test_one_model_at_a_time_is_in_memory_and_a_query_has_the_turn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    default: Any = ResidentModel(lambda: _Fake("default"), clock=clock)  # type: ignore[arg-type, return-value]
    models = Models(default, clock)
    other = models.of("other")
    monkeypatch.setattr(other, "_load", lambda: _Fake("other"))
    assert models.of(None) is default
    assert models.of("other") is other
    default.loaded()
    assert models.in_memory == "bundled"
    other.loaded()
    assert (models.in_memory, default.is_loaded) == ("other", False)
    folder = home / "root"
    models.for_query("other")
    assert not models.must_wait(folder)  # numpy may encode its queries
    other._queries_need_torch = True
    models.for_query("other")
    assert models.must_wait(folder)
    models.for_query(None)
    clock.now += TURN_S
    assert not models.must_wait(folder)


def test_a_model_that_did_not_come_with_longsearch_is_named(
    home: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hub, "shipped_model", lambda name: tmp_path / name)
    for arguments in (["index", "--model", "multilingual"], ["--model", "multilingual", "index"]):
        assert main([*arguments, str(root)]) == 3
        assert "came without the model multilingual" in capsys.readouterr().err
    assert not folder_model(root).is_own
    with pytest.raises(ModelError, match="came without"):
        hub.locate("multilingual")


def test_english_is_another_name_of_the_bundled_model(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert resolved("english") == resolved("bundled") == "bundled"
    (tmp_path / "multilingual").mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolved("multilingual") == "multilingual"


@pytest.mark.parametrize(
    ("counts", "model", "part"),
    [
        (
            {"en": 60, "de": 30, "zh": 10},
            "bundled",
            "40% of the documents are not in English (German 30%, Chinese 10%)",
        ),
        ({"en": 81, "de": 19}, "bundled", ""),
        ({"en": 10, "": 10}, "bundled", ""),
        ({"de": 100}, "multilingual", ""),
        ({}, "bundled", ""),
    ],
)
def test_a_folder_with_a_fifth_in_other_languages_is_told_of_the_other_model(
    counts: dict[str, int], model: str, part: str
) -> None:
    said = describe_languages(counts, model, "~/texte", has_multilingual=True)
    assert said.startswith(part) and bool(said) == bool(part)
    assert not part or said.endswith("longsearch index --model multilingual ~/texte")
    without = describe_languages(counts, model, "~/texte", has_multilingual=False)
    assert not part or "does not read their meaning" in without


def test_the_app_and_scripts_are_told_of_the_other_model(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert AppBackend(root).progress().advice == ""
    (root / "brief.md").write_text("Der Vertrag kann von beiden Seiten mit einer Frist gekündigt werden. " * 3, "utf-8")
    assert main(["index", "-q", str(root)]) == 0
    told = AppBackend(root).progress().advice
    assert "not in English (German" in told and told.endswith(f"longsearch index --model multilingual {root}")
    capsys.readouterr()
    assert main(["status", "--json", str(root)]) == 0
    assert json.loads(capsys.readouterr().out)["advice"] == told


def test_status_says_which_model_reads_a_folder(
    models: tuple[str, str], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(root)
    root.mkdir()
    (root / "brief.md").write_text("Der Vertrag kann von beiden Seiten mit einer Frist gekündigt werden. " * 3, "utf-8")
    assert main(["index", "-q", "--model", models[1], str(root)]) == 0
    assert AppBackend(root).progress().advice == ""
    capsys.readouterr()
    assert main(["status", str(root)]) == 0
    assert f"read with the model {models[1]}" in capsys.readouterr().out
    assert main(["status", "--json", str(root)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["languages"], said["model"], said["next_model"]) == ({"de": 1}, models[1], None)


def test_a_question_in_a_language_that_no_model_of_the_folders_reads_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = {"a": "bundled", "b": "bundled"}
    monkeypatch.setattr(folder_models, "folder_model", lambda root: FolderModel(models[root.name], is_own=False))
    roots = [tmp_path / "a", tmp_path / "b"]
    assert "German" in note_about_question("warum ist das Ventil nicht zu", roots)
    assert note_about_question("why did the valve fail", roots) == note_about_question("die casting", roots) == ""
    models["b"] = "multilingual"
    assert note_about_question("warum ist das Ventil nicht zu", roots) == ""
