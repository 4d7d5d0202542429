"""`longsearch bench` on the bundled model."""

import json
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.commands import bench
from longsearch.engine.errors import ModelError
from longsearch.engine.inference import footprint
from longsearch.engine.inference.footprint import Footprint


@pytest.fixture
def quick(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("longsearch.engine.inference.calibration.BUDGET_S", 0.1)
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))  # as on a machine that does nothing else
    return home


def test_it_prints_the_pages_that_an_hour_reads(quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--seconds", "0.2", "--width", "0.25"]) == 0
    told = capsys.readouterr().out
    assert "bundled" in told
    assert "pages of 500 tokens" in told
    assert "GFLOP/s" in told


def test_its_figures_agree_with_each_other(quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--seconds", "0.2", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["vertical_size"] % figures["block_size"] == 0
    assert figures["pages_per_hour"] == pytest.approx(figures["tokens_per_s"] * 7.2, abs=1)
    assert 0 < figures["matmul_share"] < 1
    assert set(figures["matmul_flops_per_s"]) == {"float32", "bfloat16", figures["dtype"]}
    assert 50 < figures["peak_mib"] < 10_000
    assert figures["memory"] == []
    (cached,) = (quick / "xdg_cache_home" / "longsearch").glob("*.json")
    assert list(json.loads(cached.read_text()).values()) == [figures["vertical_size"]]


def test_long_documents_are_measured_on_request(
    quick: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def footprints(model: str, width: float, dtype: str, vertical_size: int, lengths: list[int]) -> list[Footprint]:
        assert (model, width) == ("bundled", 0.25)
        return [Footprint(n, 300.0, 400.0, 9.0) for n in lengths]

    monkeypatch.setattr(footprint, "footprints", footprints)
    assert main(["bench", "--seconds", "0.2", "--width", "0.25", "--long"]) == 0
    assert "1,000,000 tokens: 400 MiB (+0.0%)" in capsys.readouterr().out


def test_memory_is_compared_with_that_of_the_shortest_document() -> None:
    memory = [{"n_tokens": 8000, "loaded_mib": 300.0, "peak_mib": peak, "tokens_per_s": 9.0} for peak in (400.0, 404.0)]
    figures = bench.Figures(
        "m",
        10**6,
        "cpu",
        "float32",
        1,
        64,
        512,
        4,
        512,
        100.0,
        50.0,
        60.0,
        {"float32": 1e9},
        0.5,
        400.0,
        720,
        tuple(memory),
    )
    assert "(+1.0%)" in bench.describe(figures)


@pytest.mark.parametrize(
    "arguments", [["--seconds", "0"], ["--seconds", "nan"], ["--width", "0"], ["--width", "2"], ["--width", "x"]]
)
def test_impossible_numbers_are_wrong_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["bench", *arguments])
    assert caught.value.code == 2


def test_an_unknown_model_is_an_error_with_a_hint(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--model", str(home / "nowhere")]) == 3
    assert "hint:" in capsys.readouterr().err


def test_a_failing_measuring_process_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match="exited with status 1"):
        footprint.footprints("/nowhere", 1.0, "float32", 64, [10])


def test_memory_before_reading_does_not_depend_on_the_length_read() -> None:
    few, many = footprint.footprints("bundled", 0.25, "float32", 64, [65, 650])
    assert (few.n_tokens, many.n_tokens) == (65, 650)
    assert isinstance(few, Footprint)
    assert few.peak_mib >= few.loaded_mib > 50
    assert abs(few.loaded_mib - many.loaded_mib) < 0.1 * many.loaded_mib
