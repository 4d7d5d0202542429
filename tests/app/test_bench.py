"""`longsearch bench` on the bundled model."""

import json
from pathlib import Path

import numpy as np
import pytest

from longsearch.app.cli import main
from longsearch.app.commands import bench
from longsearch.app.paths import index_path
from longsearch.engine.errors import ModelError
from longsearch.engine.inference import footprint
from longsearch.engine.inference.footprint import Footprint
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Passage


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


def index_of_apples(folder: Path, n_documents: int) -> None:
    with Store.open(index_path(folder), root=folder) as store:
        store.use_model("a model", 8)
        for number in range(n_documents):
            text = f"Document {number} speaks of apples, pears and plums; of 'trees' -- and of (orchards)."
            file = FileStamp(f"{number}.md", 1, 1, number + 1)
            passages = [Passage(0, len(text), 12)]
            document_id = store.add_document(file, b"%d" % number, DocumentText(text, (), ""), passages)
            vector = np.eye(8, dtype=np.float32)[[number % 8]]
            store.add_vectors(document_id, 0, vector, 12, None)
            store.finish_embedding(document_id, vector[0], 12)


def test_it_says_how_long_searches_of_a_folder_take(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / "notes"
    folder.mkdir()
    index_of_apples(folder, 12)
    assert main(["bench", "--search", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("12 passages; times without the query's vector\nhybrid")
    assert main(["bench", "--search", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_passages"] == 12
    assert set(found["milliseconds"]) == {"hybrid", "meaning", "words", "words at every key"}
    assert all(0 < one["p50"] <= one["p95"] for one in found["milliseconds"].values())


def test_searches_of_an_index_without_passages_are_not_timed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / "notes"
    folder.mkdir()
    index_of_apples(folder, 0)
    assert main(["bench", "--search", str(folder)]) == 3
    assert "there is nothing to search yet" in capsys.readouterr().err
