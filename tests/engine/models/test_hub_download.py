"""A download fetches only what a model needs, and refuses what cannot run before it fetches the weights."""

import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.hub import WORLD_VOCABULARY, ModelName
from longsearch.engine.models.hub_download import INDEX, HuggingFaceHub
from tests.engine.family_checkpoints import save_family
from tests.engine.models.hub_cache import COMMIT, LATER, REPO, FakeHub, get, publish, put_in_cache
from tests.engine.tiny_models import save_embedder, world_vocabulary


def test_only_configuration_tokenizer_and_safetensors_are_downloaded(hub: FakeHub, tmp_path: Path) -> None:
    publish(hub, save_embedder(tmp_path / "model", "eos"))
    get(hub)
    assert sorted(hub.fetched) == ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]


def test_if_a_repository_holds_the_weights_twice_only_the_indexed_files_are_used(hub: FakeHub, tmp_path: Path) -> None:
    folder = publish(hub, save_embedder(tmp_path / "model", "eos"))
    expected = Encoder.open(folder, device="cpu", dtype="float32").encode_query("a word")
    tensors = load_file(folder / "model.safetensors")
    halves = [dict(list(tensors.items())[::2]), dict(list(tensors.items())[1::2])]
    for number, half in enumerate(halves):
        save_file(half, folder / f"model-{number}.safetensors")
    (folder / "model.safetensors").rename(folder / "consolidated.safetensors")
    weight_map = {name: f"model-{number}.safetensors" for number, half in enumerate(halves) for name in half}
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}), "utf-8")
    get(hub)
    assert "consolidated.safetensors" not in hub.fetched
    assert (Encoder.open(REPO, device="cpu", dtype="float32").encode_query("a word") == expected).all()
    (folder / "model-1.safetensors").unlink()
    with pytest.raises(ModelError, match=r"lacks model-1\.safetensors"):
        Encoder.open(folder, device="cpu")
    with pytest.raises(ModelError, match="its index names"):
        get(hub)


def test_a_model_of_another_family_is_refused_before_its_weights_are_fetched(hub: FakeHub, tmp_path: Path) -> None:
    folder = publish(hub, save_embedder(tmp_path / "model", "eos"))
    (folder / "config.json").write_text('{"model_type": "llama"}', "utf-8")
    with pytest.raises(ModelError, match="llama"):
        get(hub)
    assert hub.fetched == ["config.json"]


def test_a_repository_without_a_configuration_is_refused(hub: FakeHub, tmp_path: Path) -> None:
    (publish(hub, save_embedder(tmp_path / "model", "eos")) / "config.json").unlink()
    with pytest.raises(ModelError, match="has no config"):
        get(hub)


def test_a_repository_with_only_pickled_weights_is_refused(hub: FakeHub, tmp_path: Path) -> None:
    (publish(hub, save_embedder(tmp_path / "model", "eos")) / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no safetensors") as caught:
        get(hub)
    assert "conversion" in caught.value.hint


def test_a_repository_without_a_readable_tokenizer_is_refused_before_its_weights_are_fetched(
    hub: FakeHub, tmp_path: Path
) -> None:
    (publish(hub, save_embedder(tmp_path / "model", "eos")) / "tokenizer.json").rename(tmp_path / "model" / "rwkv.txt")
    with pytest.raises(ModelError, match="no tokenizer"):
        get(hub)
    assert hub.fetched == ["config.json"]


def test_a_model_with_only_rwkvs_vocabulary_is_downloaded_with_it(hub: FakeHub, tmp_path: Path) -> None:
    folder = save_family(tmp_path / "model", "rwkv7")
    (folder / "tokenizer.json").unlink()
    world_vocabulary(folder, ["gull"])
    publish(hub, folder, "fla-hub/rwkv7-0.1B-world")
    (folder / "hf_rwkv_tokenizer.py").write_text("raise SystemExit")
    get(hub, "fla-hub/rwkv7-0.1B-world")
    assert WORLD_VOCABULARY in hub.fetched and "hf_rwkv_tokenizer.py" not in hub.fetched
    encoder = Encoder.open("fla-hub/rwkv7-0.1B-world", device="cpu", dtype="float32")
    assert encoder.tokenizer.tokenize("gull").ids.tolist() == [257]


def test_a_model_larger_than_the_free_space_is_refused_before_its_weights_are_fetched(
    hub: FakeHub, tmp_path: Path
) -> None:
    publish(hub, save_embedder(tmp_path / "model", "eos"))
    hub.n_bytes["model.safetensors"] = 10**18
    with pytest.raises(ModelError, match="do not fit"):
        get(hub)
    assert "model.safetensors" not in hub.fetched


def test_a_model_published_without_a_tokenizer_uses_the_one_it_was_trained_with(hub: FakeHub, tmp_path: Path) -> None:
    repo, lender = "state-spaces/mamba2-130m", "EleutherAI/gpt-neox-20b"
    whole = save_embedder(tmp_path / "whole", "eos")
    expected = Encoder.open(whole, device="cpu", dtype="float32")
    (tmp_path / "lender").mkdir()
    (tmp_path / "bare").mkdir()
    for path in list(whole.iterdir()):
        path.rename(tmp_path / ("lender" if "tokenizer" in path.name else "bare") / path.name)
    publish(hub, tmp_path / "bare", repo)
    for path in (tmp_path / "bare").iterdir():
        if path.is_file():
            put_in_cache(hub.cache, repo, COMMIT, path, ref="main")
    with pytest.raises(ModelError, match="the tokenizer of state-spaces/mamba2-130m") as caught:
        Encoder.open(repo, device="cpu")
    assert caught.value.hint == f"longsearch model download {repo}"
    hub.publish(lender, LATER, tmp_path / "lender")
    assert lender in get(hub, repo)[-1]
    found = Encoder.open(repo, device="cpu", dtype="float32")
    assert (found.encode_query("a word") == expected.encode_query("a word")).all()
    assert found.fingerprint == expected.fingerprint


def test_errors_of_the_hub_become_model_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import HfApi, constants, errors

    def offline(*_: Any, **__: Any) -> None:
        raise errors.OfflineModeIsEnabled("no network")

    monkeypatch.setattr(HfApi, "model_info", offline)
    with pytest.raises(ModelError, match="no network"):
        HuggingFaceHub().list_files(ModelName(REPO))
    assert constants.HF_HUB_CACHE
