"""Models by their names on the hub are found in the cache. Opening one never uses the network."""

from pathlib import Path

import pytest
from family_checkpoints import save_family
from hub_cache import COMMIT, LATER, REPO, FakeHub, get, publish, put_in_cache
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import save_embedder

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.hub import ModelName, cached_models, locate


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
