"""Choosing V: the decision from given speeds, and the measurement with a tiny model."""

import stat
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.inference import calibration, device
from longsearch.engine.inference.calibration import (
    Trial,
    affordable,
    calibrate,
    calibrated_size,
    choose,
    measured_formats,
    sizes_for,
)
from longsearch.engine.inference.device import choose_hardware
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.slots import rows_that_fit
from longsearch.engine.json_files import load_object
from tests.engine.tiny_models import save_embedder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder.open(save_embedder(tmp_path_factory.mktemp("calibration"), "mean"), device="cpu", dtype="float32")


@pytest.fixture(autouse=True)
def idle_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the machine look idle."""
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 9.0, 9.0))


def test_the_smallest_size_within_3_percent_of_the_best_is_chosen() -> None:
    trials = [Trial(256, 900.0), Trial(512, 975.0), Trial(1024, 1000.0), Trial(2048, 990.0)]
    assert choose(trials) == 512
    assert choose([*trials, Trial(4096, 2000.0)]) == 4096
    assert choose([Trial(256, 1.0)]) == 256


@given(
    st.lists(
        st.tuples(st.integers(1, 10**5), st.floats(1e-3, 1e9)), min_size=1, max_size=8, unique_by=lambda pair: pair[0]
    )
)
def test_no_size_below_the_chosen_one_is_within_3_percent_of_the_best(pairs: list[tuple[int, float]]) -> None:
    trials = [Trial(*pair) for pair in pairs]
    best = max(trial.tokens_per_s for trial in trials)
    chosen = next(trial for trial in trials if trial.vertical_size == choose(trials))
    assert chosen.tokens_per_s >= 0.97 * best
    assert all(t.tokens_per_s < 0.97 * best for t in trials if t.vertical_size < chosen.vertical_size)


def test_only_sizes_that_fit_into_half_of_the_free_gpu_memory_are_tried() -> None:
    sizes = [1024, 2048, 4096, 8192]
    assert affordable(sizes, bytes_per_token=1e6, free_bytes=80 * 10**9) == sizes
    assert affordable(sizes, bytes_per_token=1e6, free_bytes=9 * 10**9) == [1024, 2048, 4096]
    assert affordable(sizes, bytes_per_token=1e6, free_bytes=1) == [1024]  # the smallest is always tried


def test_fewer_documents_are_read_at_once_if_their_states_are_large() -> None:
    assert rows_that_fit(32, state_bytes=1_200_000, free_bytes=8 * 10**9) == 32
    assert rows_that_fit(32, state_bytes=268_000_000, free_bytes=20 * 10**9) == 9
    assert rows_that_fit(32, state_bytes=268_000_000, free_bytes=10**9) == 1


@pytest.mark.parametrize("block_size", [1, 32, 64, 100, 256, 5000])
@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_sizes_are_multiples_of_the_block_size(device: str, block_size: int) -> None:
    sizes = sizes_for(device, block_size)
    assert sizes == sorted(set(sizes))
    assert all(size >= block_size and size % block_size == 0 for size in sizes)


def test_every_size_is_timed_and_the_budget_is_kept(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    read: list[int] = []

    def slice_s(_: Encoder, size: int) -> float:
        read.append(size)
        took = 0.01 + size * 1e-4
        clock[0] += took
        return took

    monkeypatch.setattr(calibration, "_slice_s", slice_s)
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    trials = calibrate(encoder, budget_s=3.0)
    assert [trial.vertical_size for trial in trials] == sizes_for("cpu", encoder.model.block_size)
    assert 2.5 < clock[0] <= 3.1
    assert choose(trials) == 2048  # for 256 tokens the overhead of 0.01 s is 28 % of the time
    clock[0] = 0.0
    (only,) = calibrate(encoder, budget_s=0.04)  # so little that one slice uses it up
    assert only.vertical_size == 256


def test_the_size_is_measured_once_and_then_read_from_the_cache(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "calibration.json"
    measured: list[Encoder] = []

    def calibrate_and_count(encoder: Encoder, budget_s: float) -> list[Trial]:
        measured.append(encoder)
        return [Trial(512, 1.0)]

    monkeypatch.setattr(calibration, "calibrate", calibrate_and_count)
    assert calibrated_size(encoder, cache, may_measure=False) is None
    assert not cache.exists()
    assert calibrated_size(encoder, cache, may_measure=True) == 512
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600
    assert calibrated_size(encoder, cache, may_measure=False) == 512
    assert calibrated_size(encoder, cache, may_measure=True) == 512
    assert len(measured) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["calibration.json"]


def test_nothing_is_measured_on_a_busy_cpu(encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "calibrate", lambda *_: [Trial(512, 1.0)])
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (1.1, 0.0, 0.0))
    assert calibrated_size(encoder, tmp_path / "c.json", may_measure=True) is None
    monkeypatch.setattr("os.getloadavg", lambda: (0.9, 0.0, 0.0))
    assert calibrated_size(encoder, tmp_path / "c.json", may_measure=True) == 512
    monkeypatch.setattr("os.getloadavg", lambda: (1.1, 0.0, 0.0))
    assert calibrated_size(encoder, tmp_path / "c.json", may_measure=True) == 512  # the cache is used even then


def test_a_size_measured_with_another_number_of_threads_is_not_used(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "calibrate", lambda *_: [Trial(512, 1.0)])
    calibrated_size(encoder, tmp_path / "c.json", may_measure=True)
    monkeypatch.setattr("torch.get_num_threads", lambda: 77)
    assert calibrated_size(encoder, tmp_path / "c.json", may_measure=False) is None


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": "b"}', "\udcff"])
def test_a_damaged_cache_is_replaced_by_a_new_measurement(
    encoder: Encoder, tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "calibrate", lambda *_: [Trial(512, 1.0)])
    cache = tmp_path / "calibration.json"
    cache.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert calibrated_size(encoder, cache, may_measure=True) == 512
    assert calibrated_size(encoder, cache, may_measure=False) == 512


@pytest.mark.parametrize("size", [0, -64, 7, 10**9, True, 512.0])
def test_an_impossible_size_in_the_cache_is_ignored(
    encoder: Encoder, tmp_path: Path, size: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    cache = tmp_path / "calibration.json"
    cache.write_text(json.dumps({calibration._key(encoder): size}))
    assert calibrated_size(encoder, cache, may_measure=False) is None


def test_a_real_measurement_ends_and_chooses_one_of_the_sizes(encoder: Encoder) -> None:
    trials = calibrate(encoder, budget_s=0.2)
    assert trials
    assert choose(trials) in sizes_for("cpu", encoder.model.block_size)
    assert all(trial.tokens_per_s > 0 for trial in trials)


@pytest.fixture
def formats(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The formats in which slices are read, in order, by a processor that has all and is fastest in bfloat16."""
    read: list[str] = []

    def slice_s(name: str, _: int) -> float:
        read.append(name)
        return {"int8": 0.03, "bfloat16": 0.02, "float32": 0.06}[name] * (4 if len(read) <= 3 else 1)

    monkeypatch.setattr(device, "has_fast_bfloat16", lambda _: True)
    monkeypatch.setattr(device, "has_fast_int8", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(calibration.Encoder, "open", lambda _, __, name: name)
    monkeypatch.setattr(calibration, "_slice_s", slice_s)
    return read


def test_the_fastest_number_format_is_measured_once_and_chosen(formats: list[str], tmp_path: Path) -> None:
    cache = tmp_path / "speed.json"
    cache.write_text('{"of a model": 3}')
    speeds = measured_formats("bundled", cache)
    assert speeds == {"int8": 17066.7, "bfloat16": 25600.0, "float32": 8533.3}
    read = len(formats)
    assert measured_formats("bundled", cache) == speeds
    assert len(formats) == read
    assert load_object(cache)["of a model"] == 3
    chosen = choose_hardware("cpu", "auto", can_be_int8=True, speeds=speeds)
    assert (chosen.products, chosen.int8) == ("bfloat16", False)
    assert "int8 17,067, bfloat16 25,600, float32 8,533" in chosen.reason
    assert choose_hardware("cpu", "auto", True, speeds | {"int8": 26000.0}).products == "int8"
    assert choose_hardware("cpu", "float32", True, speeds).products == "float32"


@pytest.mark.parametrize("lack", ["has_fast_bfloat16", "has_fast_int8", "rest"])
def test_formats_are_not_measured_without_a_choice_or_on_a_busy_machine(
    formats: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lack: str
) -> None:
    monkeypatch.setattr(
        *("os.getloadavg", lambda: (99.0, 9.0, 9.0)) if lack == "rest" else (device, lack, lambda *_: 0)
    )
    assert measured_formats("bundled", tmp_path / "speed.json") == {}
    assert not formats
    assert not list(tmp_path.iterdir())
