"""`longsearch model`, and the choice of a model by LONGSEARCH_MODEL."""

import json
from pathlib import Path
from typing import Any

import pytest

from longsearch.app.cli import main
from longsearch.app.daemon import daemon_control
from longsearch.app.models.encoders import chosen_model, open_encoder
from longsearch.engine.errors import LongsearchError, ModelError
from longsearch.engine.models.hub import ModelName
from longsearch.engine.models.hub_download import Downloaded
from longsearch.engine.models.identity import identify


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("LONGSEARCH_MODEL", raising=False)
    return tmp_path / "hub"


def put_in_cache(cache: Path, repo: str, commit: str, ref: str) -> None:
    """Put a model into the cache that can be listed but not run."""
    folder = cache / f"models--{repo.replace('/', '--')}"
    for part in ("snapshots/" + commit, "refs", "blobs"):
        (folder / part).mkdir(parents=True)
    (folder / "refs" / ref).write_text(commit, "ascii")
    config = {"model_type": "xlstm", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 500, "num_heads": 2}
    (folder / "snapshots" / commit / "config.json").write_text(json.dumps(config), "utf-8")
    (folder / "snapshots" / commit / "model.safetensors").write_bytes(bytes(2_000_000))


def test_the_models_that_come_along_are_listed_without_any_download(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bundled  Mamba2, ")
    assert lines[1].startswith("multilingual  Mamba2, ")
    assert lines[-1].startswith("in use: bundled")


def test_models_in_the_cache_are_listed_with_their_commit(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_in_cache(cache, "NX-AI/xLSTM-7b", "c" * 40, "longsearch")
    put_in_cache(cache, "org/other", "d" * 40, "v2")
    assert main(["model", "list"]) == 0
    _, _, ours, other, _ = capsys.readouterr().out.splitlines()
    assert ours == "NX-AI/xLSTM-7b@cccccccccccc  xLSTM, 2 MB"
    assert other.endswith("(only by this revision)")


def test_the_list_is_available_as_json(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_in_cache(cache, "NX-AI/xLSTM-7b", "c" * 40, "longsearch")
    assert main(["model", "list", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["chosen"] == "bundled"
    bundled, multilingual, other = answer["models"]
    assert (bundled["name"], bundled["family"]) == ("bundled", "Mamba2")
    assert (multilingual["name"], multilingual["family"]) == ("multilingual", "Mamba2")
    assert (other["name"], other["revision"], other["pinned"]) == ("NX-AI/xLSTM-7b", "c" * 40, True)
    assert Path(other["folder"]).is_dir()


def test_a_download_says_where_the_model_is_and_how_to_use_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def download(name: ModelName, _: Any, announce: Any) -> Downloaded:
        announce(f"{name}: 3 files\x1b[2J")
        return Downloaded(ModelName(name.repo, "e" * 40), tmp_path, 5)

    monkeypatch.setattr("longsearch.engine.models.hub_download.download", download)
    assert main(["model", "download", "org/name@v1"]) == 0
    captured = capsys.readouterr()
    assert "LONGSEARCH_MODEL=org/name" in captured.out
    assert "e" * 40 in captured.out
    assert captured.err.startswith("org/name@v1: 3 files")
    assert "\x1b" not in captured.err


def test_a_malformed_model_name_is_refused_without_a_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "download", "../../etc"]) == 3
    assert "not the name of a model" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["model"], ["model", "download"], ["model", "remove"]])
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_the_environment_chooses_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_model() == "bundled"
    monkeypatch.setenv("LONGSEARCH_MODEL", " org/name ")
    assert chosen_model() == "org/name"
    with pytest.raises(ModelError, match="not on this machine") as caught:
        open_encoder()
    assert caught.value.hint == "longsearch model download org/name"


def test_indexing_with_a_missing_model_says_how_to_download_it(
    home: Path, samples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LONGSEARCH_MODEL", "org/name")
    assert main(["index", "--quiet", str(samples)]) == 3
    assert "longsearch model download org/name" in capsys.readouterr().err


def test_a_daemon_that_runs_another_model_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon_control.check_model(None)
    daemon_control.check_model({"model": {"loaded": False}})  # a daemon of an older version
    daemon_control.check_model({"model": {"loaded": True, "name": "bundled"}})
    monkeypatch.setenv("LONGSEARCH_MODEL", "org/name")
    daemon_control.check_model({"model": {"loaded": True, "name": "org/name"}})
    with pytest.raises(LongsearchError, match="another model") as caught:
        daemon_control.check_model({"model": {"loaded": True, "name": "bundled"}})
    assert "daemon stop" in caught.value.hint


def test_a_daemon_from_before_an_update_of_the_weights_is_an_error() -> None:
    ours = identify("bundled").fingerprint
    daemon_control.check_model({"model": {"loaded": True, "name": "bundled", "fingerprint": ours}})
    daemon_control.check_model({"model": {"loaded": False, "name": "bundled", "fingerprint": None}})
    with pytest.raises(LongsearchError, match="before an update") as caught:
        daemon_control.check_model({"model": {"loaded": True, "name": "bundled", "fingerprint": "older"}})
    assert "daemon stop" in caught.value.hint


def test_the_number_format_that_a_setting_asks_for_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGSEARCH_DTYPE", "float32")
    assert open_encoder().hardware.products == "float32"
    monkeypatch.setenv("LONGSEARCH_DTYPE", "float16")
    with pytest.raises(LongsearchError, match="float16") as error:
        open_encoder()
    assert "int8" in error.value.hint
