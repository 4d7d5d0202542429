"""A whole run of `longsearch index --on`, with real workers and a tiny model in this process instead of Ray."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "engine"))
from pool_here import PoolHere, without_ray
from tiny_models import save_embedder

from longsearch.app.cli import main
from longsearch.app.folder_models import folder_model
from longsearch.app.ocr import scans
from longsearch.app.paths import base_index_path, index_path
from longsearch.engine.models.identity import identify
from longsearch.engine.store.store import Store


@pytest.fixture
def pools(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[PoolHere]:
    """The pools of the runs so far. The model is tiny, of two widths."""
    monkeypatch.setenv("LONGSEARCH_MODEL", str(save_embedder(home / "model", "mean", widths=(1.0, 0.5))))
    return without_ray(monkeypatch)


def n_narrow(root: Path) -> int:
    with Store.open(index_path(root), read_only=True) as store:
        assert store.progress().n_waiting == 0
        return store.progress().n_narrow


def test_a_folder_is_read_at_a_width_and_then_deepened(root: Path, pools: list[PoolHere]) -> None:
    assert main(["index", "-q", "--on", "ray", "--width", "1/2", str(root)]) == 0
    assert n_narrow(root) == 2
    assert main(["index", "-q", "--on", "ray", "--deepen", str(root)]) == 0
    assert n_narrow(root) == 0
    assert [pool.made["extract"] for pool in pools] == [1, 0]


def test_a_folder_with_a_new_model_is_read_again_and_the_new_index_is_put_in_use(
    home: Path, root: Path, pools: list[PoolHere]
) -> None:
    other = save_embedder(home / "other", "mean", seed=5)
    assert main(["index", "-q", "--on", "ray", str(root)]) == 0
    assert main(["index", "-q", "--on", "ray", "--model", str(other), str(root)]) == 0
    assert folder_model(root).model == str(other)
    assert folder_model(root).next_path is None
    with Store.open(index_path(root)) as store:
        assert store.model_in_use() == (identify(other).fingerprint, 12)
        assert store.progress().n_waiting == 0


def test_only_listed_files_are_read(root: Path, home: Path, pools: list[PoolHere]) -> None:
    names = home / "list"
    names.write_text("tides.md\n")
    assert main(["index", "-q", "--on", "ray", "--files", str(names), str(root)]) == 0
    with Store.open(index_path(root), read_only=True) as store:
        assert set(store.catalogue()) == {"tides.md"}


def test_texts_of_a_folder_with_recognised_pages_are_extracted_here(root: Path, pools: list[PoolHere]) -> None:
    base_index_path(root).with_suffix(".ocr").touch()
    assert scans.recognition(root, None) is not None
    assert main(["index", "-q", "--on", "ray", str(root)]) == 0
    assert n_narrow(root) == 0
    assert pools[0].made["extract"] == 0
    assert pools[0].made["begin"] > 0


def test_ocr_is_refused_with_a_reason(
    root: Path, pools: list[PoolHere], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("longsearch.indexer.extract.pdf.ocr.require_tool", lambda: None)
    assert main(["index", "--on", "ray", "--ocr", str(root)]) == 3
    assert "by one machine, not by a cluster" in capsys.readouterr().err
