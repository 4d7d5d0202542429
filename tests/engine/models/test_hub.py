"""Models by their names on the hub are found in the cache. Opening one never uses the network."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.hub import ModelName, cached_models, locate
from tests.engine.family_checkpoints import save_family
from tests.engine.models.hub_cache import COMMIT, LATER, REPO, FakeHub, get, publish, put_in_cache
from tests.engine.tiny_models import save_embedder


def test_a_model_missing_from_the_cache_is_an_error_that_names_the_download_command(hub: FakeHub) -> None:
    for name in (REPO, f"{REPO}@v1"):
        with pytest.raises(ModelError) as caught:
            Encoder.open(name, device="cpu")
        assert caught.value.hint == f"longsearch model download {name}"


def test_a_downloaded_model_opens_by_its_name_as_it_does_from_its_folder(hub: FakeHub, tmp_path: Path) -> None:
    folder = publish(hub, save_embedder(tmp_path / "model", "eos"))
    announced = get(hub)
    assert COMMIT[:12] in announced[0]
    by_name, by_folder = (Encoder.open(model, device="cpu", dtype="float32") for model in (REPO, folder))
    assert by_name.fingerprint == by_folder.fingerprint
    assert (by_name.encode_query("a word") == by_folder.encode_query("a word")).all()


def test_the_end_of_sequence_token_comes_from_the_tokenizer_even_if_the_config_differs(
    hub: FakeHub, tmp_path: Path
) -> None:
    """The config.json of the published 7B has 0 for all three tokens."""
    publish(hub, save_embedder(tmp_path / "model", "eos", eos_token_id=7, bos_token_id=7, pad_token_id=7))
    get(hub)
    encoder = Encoder.open(REPO, device="cpu")
    assert encoder.tokenizer.eos_id == 0
    assert encoder.readout.readout == "eos"


def test_a_name_means_the_downloaded_commit_until_the_model_is_downloaded_again(
    hub: FakeHub, cache: Path, tmp_path: Path
) -> None:
    publish(hub, save_embedder(tmp_path / "one", "eos", seed=1))
    get(hub)
    first = Encoder.open(REPO, device="cpu").fingerprint
    publish(hub, save_embedder(tmp_path / "two", "eos", seed=2), commit=LATER)
    for file in hub.published[REPO][LATER].glob("*.*"):  # another program downloads the newest commit
        put_in_cache(cache, REPO, LATER, file, ref="main")
    assert Encoder.open(REPO, device="cpu").fingerprint == first
    assert Encoder.open(f"{REPO}@main", device="cpu").fingerprint != first
    get(hub)
    assert Encoder.open(REPO, device="cpu").fingerprint != first
    assert Encoder.open(f"{REPO}@{COMMIT}", device="cpu").fingerprint == first


def test_a_model_downloaded_by_another_program_is_found_at_its_main_revision(cache: Path, tmp_path: Path) -> None:
    for file in save_embedder(tmp_path / "model", "mean").iterdir():
        put_in_cache(cache, REPO, COMMIT, file, ref="main")
    assert Encoder.open(REPO, device="cpu").dim == 12
    assert [model.is_pinned for model in cached_models()] == [True]


def test_a_download_may_name_a_revision(hub: FakeHub, tmp_path: Path) -> None:
    publish(hub, save_embedder(tmp_path / "one", "eos", seed=1))
    publish(hub, save_embedder(tmp_path / "two", "eos", seed=2), commit=LATER)
    get(hub, f"{REPO}@{COMMIT}")
    assert locate(REPO).folder.name == COMMIT


@pytest.mark.parametrize("name", ["nope", "/no/such/folder", "~/no such folder"])
def test_a_name_of_no_model_is_refused_with_what_can_be_named(name: str) -> None:
    with pytest.raises(ModelError, match="there is no model") as caught:
        locate(name)
    assert "longsearch model list" in caught.value.hint


def test_an_interrupted_download_does_not_count_as_a_model(hub: FakeHub, tmp_path: Path) -> None:
    folder = publish(hub, save_embedder(tmp_path / "model", "eos"))
    put_in_cache(hub.cache, REPO, COMMIT, folder / "config.json", ref="main")
    with pytest.raises(ModelError, match="only a part of") as caught:
        Encoder.open(REPO, device="cpu")
    assert caught.value.hint == f"longsearch model download {REPO}"


def test_only_cached_models_that_can_be_run_are_listed(hub: FakeHub, tmp_path: Path) -> None:
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


def test_an_existing_folder_is_preferred_to_a_model_of_the_same_name(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_embedder(tmp_path / "org" / "name", "mean")
    assert Encoder.open("org/name", device="cpu").dim == 12


@pytest.mark.parametrize(
    "text", ["name", "a/b/c", "../b", "a/..", "a/b@", "-a/b", "a/b c", "a/b\n", "a/b@..", "ä/b", ""]
)
def test_text_that_is_not_a_model_name_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="not the name of a model"):
        ModelName.parse(text)


@given(st.text(max_size=30))
def test_any_text_either_parses_to_a_name_that_prints_the_same_or_is_a_model_error(text: str) -> None:
    try:
        name = ModelName.parse(text)
    except ModelError:
        return
    assert str(name) == text
