"""The one model of a process: loaded when it is needed, unloaded when it is idle."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from longsearch.app.daemon.thread_limit import CHECK_EVERY_S, ThreadLimit
from longsearch.app.models.resident import ResidentModel
from longsearch.engine.errors import ModelError
from longsearch.engine.models.identity import ModelIdentity

PHASE_A = """
import sys
from pathlib import Path
from longsearch.app.indexing.opening import open_pipeline
from longsearch.app.models.resident import ResidentModel

loaded = lambda: [name for name in ("torch", "transformers") if name in sys.modules]
model = ResidentModel()
with open_pipeline(Path(sys.argv[1]), model, lambda: False) as (pipeline, store):
    print(pipeline.read().n_read, store.progress().n_tokens, model.is_loaded, loaded())
    print(pipeline.embed(), store.progress().n_tokens_embedded, model.is_loaded, loaded())
"""


class Loader:
    """Makes encoders and cutters, and counts them."""

    n_loaded = 0
    n_identified = 0
    n_cutters = 0
    fingerprint = "made here"

    def __call__(self) -> Any:
        self.n_loaded += 1
        hardware = SimpleNamespace(device="cpu", reason="a test")
        parts = lambda *_: iter([1, 2, 3])  # noqa: E731
        made = SimpleNamespace(
            fingerprint=self.fingerprint,
            dim=8,
            excerpt_weight=0.5,
            cutter=self.cutter("of the encoder"),
            batch_below_tokens=4,
            hardware=hardware,
            stream=parts,
            stream_many=parts,
        )
        made.at = {1.0: made}.get
        return made

    def identify(self) -> ModelIdentity:
        self.n_identified += 1
        return ModelIdentity(self.fingerprint, 8, 0.5)

    def open_cutter(self) -> Any:
        self.n_cutters += 1
        return self.cutter("alone")

    def cutter(self, name: str) -> Any:
        label = f"{name}, {self.fingerprint}"
        return SimpleNamespace(tokenize=lambda text: [label], split=lambda text: ([label], []))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def loader() -> Loader:
    return Loader()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model(loader: Loader, clock: Clock) -> ResidentModel:
    return ResidentModel(loader, loader.identify, loader.open_cutter, clock)


def test_the_model_is_loaded_once_at_the_first_use(model: ResidentModel, loader: Loader) -> None:
    assert not model.is_loaded
    assert model.loaded() is model.loaded()
    assert (model.fingerprint, model.dim, model.at(1.0).batch_below_tokens) == ("made here", 8, 4)
    assert loader.n_loaded == 1


def test_the_identity_is_read_from_the_files_once_without_loading(model: ResidentModel, loader: Loader) -> None:
    assert (model.fingerprint, model.dim, model.fingerprint) == ("made here", 8, "made here")
    assert (loader.n_loaded, loader.n_identified) == (0, 1)
    assert not model.is_loaded
    model.loaded()
    assert (model.fingerprint, loader.n_identified) == ("made here", 1)


def test_a_model_replaced_before_it_was_first_loaded_raises_once(model: ResidentModel, loader: Loader) -> None:
    assert model.fingerprint == "made here"
    loader.fingerprint = "another"
    with pytest.raises(ModelError, match="replaced"):
        model.loaded()
    assert model.loaded().fingerprint == model.fingerprint == "another"


def test_cutting_a_text_loads_no_weights(model: ResidentModel, loader: Loader) -> None:
    assert model.split("a text") == (["alone, made here"], [])
    assert model.tokenize("a text") == ["alone, made here"]
    assert (loader.n_cutters, loader.n_loaded) == (1, 0)
    model.ensure_loaded()
    assert model.tokenize("a text") == ["of the encoder, made here"]
    assert (loader.n_cutters, loader.n_loaded) == (1, 1)


def test_a_replaced_model_cuts_with_its_own_tokenizer(model: ResidentModel, loader: Loader) -> None:
    assert model.fingerprint == "made here"
    assert model.tokenize("a text") == ["alone, made here"]
    loader.fingerprint = "another"
    with pytest.raises(ModelError, match="replaced"):
        model.ensure_loaded()
    assert model.fingerprint == "another"
    assert model.tokenize("a text") == ["of the encoder, another"]


def test_an_idle_tokenizer_is_unloaded_too(model: ResidentModel, loader: Loader, clock: Clock) -> None:
    model.tokenize("a text")
    clock.now = 300
    assert not model.unload_if_idle(300)  # the weights were never loaded
    model.tokenize("a text")
    assert loader.n_cutters == 2


def test_reading_a_folder_imports_no_torch_and_embedding_it_does(root: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PHASE_A, str(root)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == ["2 512 False []", "True 512 True ['torch']"]


def test_an_idle_model_is_unloaded_and_its_identity_stays_known(
    model: ResidentModel, loader: Loader, clock: Clock
) -> None:
    model.loaded()
    clock.now = 299
    assert not model.unload_if_idle(300)
    clock.now = 300
    assert model.unload_if_idle(300)
    assert not model.is_loaded
    assert not model.unload_if_idle(300)
    assert (model.fingerprint, model.dim) == ("made here", 8)
    assert (loader.n_loaded, loader.n_identified) == (1, 0)
    model.loaded()
    assert loader.n_loaded == 2


def test_queries_are_encoded_without_loading_the_model_if_numpy_can(loader: Loader, clock: Clock) -> None:
    opened: list[Any] = []

    def open_queries(cutter: Any) -> Any:
        opened.append(cutter)
        made = SimpleNamespace(fingerprint="made here", readout=SimpleNamespace(widths=(1.0,)))
        made.encode_query = lambda text, instruction, steps: np.ones(8, np.float32)
        made.at = {1.0: made}.get
        return made

    model = ResidentModel(loader, loader.identify, loader.open_cutter, clock, open_queries=open_queries)
    assert model.encode_query("tides", None).fingerprint == "made here"
    model.encode_query("moon", None)
    assert (loader.n_loaded, loader.n_cutters, len(opened)) == (0, 1, 1)
    clock.now = 300
    assert not model.unload_if_idle(300)
    model.encode_query("tides", None)
    assert len(opened) == 2


def test_queries_do_not_keep_the_documents_model_in_memory(loader: Loader, clock: Clock) -> None:
    queries: Any = SimpleNamespace(fingerprint="made here", readout=SimpleNamespace(widths=(1.0,)))
    queries.encode_query = lambda text, instruction, steps: np.ones(8, np.float32)
    queries.at = {1.0: queries}.get
    model = ResidentModel(loader, loader.identify, loader.open_cutter, clock, open_queries=lambda _: queries)
    model.loaded()
    model.encode_query("tides", None)
    clock.now = 200
    model.encode_query("tides", None)
    clock.now = 300
    assert model.unload_if_idle(300)


def test_a_model_is_in_use_during_a_whole_pass(model: ResidentModel, clock: Clock) -> None:
    for _ in model.at(1.0).stream(None, []):
        clock.now += 299
        assert not model.unload_if_idle(300)
    for _ in model.at(1.0).stream_many([]):
        clock.now += 299
        assert not model.unload_if_idle(300)


def test_a_model_replaced_while_it_was_unloaded_raises_once(model: ResidentModel, loader: Loader, clock: Clock) -> None:
    model.loaded()
    clock.now = 300
    model.unload_if_idle(300)
    loader.fingerprint = "another"
    with pytest.raises(ModelError, match="replaced"):
        model.loaded()
    assert model.loaded().fingerprint == model.fingerprint == "another"


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux does the model return freed memory")
def test_unloading_returns_memory(loader: Loader, clock: Clock) -> None:
    import psutil

    def resident_bytes() -> int:
        return int(psutil.Process().memory_info().rss)

    def load_large() -> Any:
        encoder = loader()
        encoder.weights = bytearray(200_000_000)
        encoder.small = [b"x" * 1000 for _ in range(50_000)]  # on the heap, which glibc would not return
        return encoder

    model = ResidentModel(load_large, loader.identify, loader.open_cutter, clock)
    before = resident_bytes()
    model.loaded()
    taken = resident_bytes() - before
    clock.now = 300
    assert model.unload_if_idle(300)
    assert taken > 200_000_000
    assert resident_bytes() - before < 0.1 * taken


def test_on_battery_the_model_uses_half_of_the_threads(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    import torch

    threads = [8]
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads[-1])
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    on_battery = [True]
    limit = ThreadLimit(lambda: on_battery[0], clock)
    limit.adapt()
    assert threads == [8, 4]
    on_battery[0] = False
    limit.adapt()
    assert threads == [8, 4]  # checked just now
    clock.now += CHECK_EVERY_S
    limit.adapt()
    assert threads == [8, 4, 8]
