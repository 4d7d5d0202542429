"""Models by their name on the hub: what is found in the cache, what is fetched when asked, and never silently."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from family_checkpoints import save_family
from hub_cache import FakeHub, put_in_cache
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from tiny_models import save_embedder, world_vocabulary

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.hub import WORLD_VOCABULARY, ModelName, cached_models, locate
from longsearch.engine.models.hub_download import INDEX, HuggingFaceHub, download

COMMIT, LATER = "a" * 40, "b" * 40
REPO = "dynatrace-oss/llama-embed-mamba2-7b"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    def no_network(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", no_network)
    return FakeHub(cache)


def publish(hub: FakeHub, folder: Path, repo: str = REPO, commit: str = COMMIT) -> Path:
    """A model with all that a repository also holds and that is not wanted."""
    hub.publish(repo, commit, folder)
    for name in ("README.md", "pytorch_model.bin", "modeling_evil.py", "onnx/model.safetensors"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"?")
    return folder


def get(hub: FakeHub, name: str = REPO) -> list[str]:
    said: list[str] = []
    download(ModelName.parse(name), hub, said.append)
    return said


def test_a_name_that_is_not_on_this_machine_is_an_error_with_the_command_that_gets_it(hub: FakeHub) -> None:
    for name in (REPO, f"{REPO}@v1"):
        with pytest.raises(ModelError) as caught:
            Encoder.open(name, device="cpu")
        assert caught.value.hint == f"longsearch model download {name}"


def test_what_was_downloaded_opens_by_its_name_as_from_its_folder(hub: FakeHub, tmp_path: Path) -> None:
    folder = publish(hub, save_embedder(tmp_path / "model", "eos"))
    said = get(hub)
    assert COMMIT[:12] in said[0]
    by_name, by_folder = (Encoder.open(model, device="cpu", dtype="float32") for model in (REPO, folder))
    assert by_name.fingerprint == by_folder.fingerprint
    assert (by_name.encode_query("a word") == by_folder.encode_query("a word")).all()


def test_only_configuration_tokenizer_and_safetensors_are_fetched(hub: FakeHub, tmp_path: Path) -> None:
    publish(hub, save_embedder(tmp_path / "model", "eos"))
    get(hub)
    assert sorted(hub.fetched) == ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]


def test_end_of_sequence_comes_from_the_tokenizer_where_the_configuration_is_wrong(
    hub: FakeHub, tmp_path: Path
) -> None:
    """As in the published 7B, whose config.json has 0 for all three."""
    publish(hub, save_embedder(tmp_path / "model", "eos", eos_token_id=7, bos_token_id=7, pad_token_id=7))
    get(hub)
    encoder = Encoder.open(REPO, device="cpu")
    assert encoder.tokenizer.eos_id == 0
    assert encoder.readout.readout == "eos"


def test_a_name_stays_with_the_commit_that_was_downloaded_until_it_is_downloaded_again(
    hub: FakeHub, cache: Path, tmp_path: Path
) -> None:
    publish(hub, save_embedder(tmp_path / "one", "eos", seed=1))
    get(hub)
    first = Encoder.open(REPO, device="cpu").fingerprint
    publish(hub, save_embedder(tmp_path / "two", "eos", seed=2), commit=LATER)
    for file in hub.published[REPO][LATER].glob("*.*"):  # another program fetches what is newest now
        put_in_cache(cache, REPO, LATER, file, ref="main")
    assert Encoder.open(REPO, device="cpu").fingerprint == first
    assert Encoder.open(f"{REPO}@main", device="cpu").fingerprint != first
    get(hub)
    assert Encoder.open(REPO, device="cpu").fingerprint != first
    assert Encoder.open(f"{REPO}@{COMMIT}", device="cpu").fingerprint == first


def test_a_model_that_another_program_fetched_is_found_as_its_main_revision(cache: Path, tmp_path: Path) -> None:
    for file in save_embedder(tmp_path / "model", "mean").iterdir():
        put_in_cache(cache, REPO, COMMIT, file, ref="main")
    assert Encoder.open(REPO, device="cpu").dim == 12
    assert [model.is_pinned for model in cached_models()] == [True]


def test_a_revision_may_be_named(hub: FakeHub, tmp_path: Path) -> None:
    publish(hub, save_embedder(tmp_path / "one", "eos", seed=1))
    publish(hub, save_embedder(tmp_path / "two", "eos", seed=2), commit=LATER)
    get(hub, f"{REPO}@{COMMIT}")
    assert locate(REPO).folder.name == COMMIT


def test_an_interrupted_download_is_not_taken_for_a_model(hub: FakeHub, tmp_path: Path) -> None:
    folder = publish(hub, save_embedder(tmp_path / "model", "eos"))
    put_in_cache(hub.cache, REPO, COMMIT, folder / "config.json", ref="main")
    with pytest.raises(ModelError, match="only a part of") as caught:
        Encoder.open(REPO, device="cpu")
    assert caught.value.hint == f"longsearch model download {REPO}"


def test_of_weights_that_are_there_twice_the_indexed_ones_are_fetched_and_read(hub: FakeHub, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("content", ["", "[]", '{"weight_map": 3}', '{"weight_map": {"a": "../../evil.safetensors"}}'])
def test_a_damaged_index_is_refused(content: str, tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "eos")
    (folder / INDEX).write_text(content, "utf-8")
    with pytest.raises(ModelError, match=r"index\.json"):
        Encoder.open(folder, device="cpu")


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


def test_a_repository_of_pickles_alone_is_refused(hub: FakeHub, tmp_path: Path) -> None:
    (publish(hub, save_embedder(tmp_path / "model", "eos")) / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no safetensors") as caught:
        get(hub)
    assert "conversion" in caught.value.hint


def test_a_repository_whose_tokenizer_is_code_is_refused_before_its_weights_are_fetched(
    hub: FakeHub, tmp_path: Path
) -> None:
    (publish(hub, save_embedder(tmp_path / "model", "eos")) / "tokenizer.json").rename(tmp_path / "model" / "rwkv.txt")
    with pytest.raises(ModelError, match="no tokenizer"):
        get(hub)
    assert hub.fetched == ["config.json"]


def test_a_model_that_has_rwkvs_vocabulary_alone_is_fetched_with_it(hub: FakeHub, tmp_path: Path) -> None:
    folder = save_family(tmp_path / "model", "rwkv7")
    (folder / "tokenizer.json").unlink()
    world_vocabulary(folder, ["gull"])
    publish(hub, folder, "fla-hub/rwkv7-0.1B-world")
    (folder / "hf_rwkv_tokenizer.py").write_text("raise SystemExit")
    get(hub, "fla-hub/rwkv7-0.1B-world")
    assert WORLD_VOCABULARY in hub.fetched and "hf_rwkv_tokenizer.py" not in hub.fetched
    encoder = Encoder.open("fla-hub/rwkv7-0.1B-world", device="cpu", dtype="float32")
    assert encoder.tokenizer.tokenize("gull").ids.tolist() == [257]


def test_a_model_that_does_not_fit_on_the_disk_is_refused_before_it_is_fetched(hub: FakeHub, tmp_path: Path) -> None:
    publish(hub, save_embedder(tmp_path / "model", "eos"))
    hub.n_bytes["model.safetensors"] = 10**18
    with pytest.raises(ModelError, match="do not fit"):
        get(hub)
    assert "model.safetensors" not in hub.fetched


def test_a_model_published_without_a_tokenizer_borrows_the_one_it_was_trained_with(
    hub: FakeHub, tmp_path: Path
) -> None:
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


def test_the_models_on_this_machine_are_listed_and_only_those_that_can_be_run(hub: FakeHub, tmp_path: Path) -> None:
    assert cached_models() == []
    publish(hub, save_embedder(tmp_path / "one", "eos"))
    publish(hub, save_family(tmp_path / "two", "xlstm"), "NX-AI/xLSTM-7b")
    for name in (REPO, "NX-AI/xLSTM-7b"):
        get(hub, name)
    other = tmp_path / "config.json"
    other.write_text('{"model_type": "bert"}', "utf-8")
    put_in_cache(hub.cache, "google/bert", COMMIT, other, ref="main")
    put_in_cache(hub.cache, "left/damaged", COMMIT, other)
    found = {model.name.repo: (model.family, model.name.revision, model.is_pinned) for model in cached_models()}
    assert found == {"NX-AI/xLSTM-7b": ("xLSTM", COMMIT, True), REPO: ("Mamba2", COMMIT, True)}
    assert all(model.n_bytes > 10_000 for model in cached_models())


def test_a_folder_that_is_there_wins_over_a_name(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_embedder(tmp_path / "org" / "name", "mean")
    assert Encoder.open("org/name", device="cpu").dim == 12


@pytest.mark.parametrize(
    "text", ["name", "a/b/c", "../b", "a/..", "a/b@", "-a/b", "a/b c", "a/b\n", "a/b@..", "ä/b", ""]
)
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="not the name of a model"):
        ModelName.parse(text)


@given(st.text(max_size=30))
def test_any_text_is_a_name_that_reads_back_or_a_clear_error(text: str) -> None:
    try:
        name = ModelName.parse(text)
    except ModelError:
        return
    assert str(name) == text


def test_errors_of_the_hub_itself_become_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import HfApi, constants, errors

    def offline(*_: Any, **__: Any) -> None:
        raise errors.OfflineModeIsEnabled("no network")

    monkeypatch.setattr(HfApi, "model_info", offline)
    with pytest.raises(ModelError, match="no network"):
        HuggingFaceHub().list_files(ModelName(REPO))
    assert constants.HF_HUB_CACHE


def test_n_groups_of_the_7b_are_read_and_each_has_its_norm(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "eos", n_groups=8, num_heads=16, head_dim=2)
    grouped = Encoder.open(folder, device="cpu", dtype="float32")
    assert grouped.model.config.gated_norm_groups == 8
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"gated_norm_groups": 1}), "utf-8")
    single = Encoder.open(folder, device="cpu", dtype="float32")
    tokens = torch.arange(30)[None]
    difference = grouped.model(tokens) - single.model(tokens)
    assert difference.abs().max() > 0.01
