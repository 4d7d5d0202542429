"""A whole run of `longsearch index --on`, with real workers and a tiny model in this process instead of Ray."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.cluster.worker import Scratch, Worker
from longsearch.app.models.folder_models import folder_model
from longsearch.app.paths import index_path
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.opening import open_index
from longsearch.engine.models.identity import identify
from longsearch.engine.store import documents, files
from longsearch.engine.store.store import Store
from tests.app.pool_here import PoolHere, without_ray
from tests.app.scanned_files import TEXT, fake_tesseract, picture, write_pdf
from tests.engine.tiny_models import save_embedder


@pytest.fixture
def pools(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[PoolHere]:
    """The pools of the runs so far. The model is tiny, of two widths."""
    monkeypatch.setenv("LONGSEARCH_MODEL", str(save_embedder(home / "model", "mean", widths=(1.0, 0.5))))
    return without_ray(monkeypatch)


def n_narrow(root: Path) -> int:
    with open_index(index_path(root)) as store:
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
    with open_index(index_path(root)) as store:
        assert {file.path for file in store.files()} == {"tides.md"}


@pytest.fixture
def scanned(root: Path) -> Path:
    """A folder whose PDFs have three scanned pages."""
    write_pdf(root / "scan.pdf", picture("0.5"), picture("0.25"))
    write_pdf(root / "mixed.pdf", TEXT, TEXT, picture("0.75"))
    return root


def text_of(root: Path, name: str) -> str:
    with open_index(index_path(root)) as index:
        document = files.document_of(index.db, name)
        assert document is not None
        return documents.text(index.db, document).text


def test_workers_read_scanned_pages_and_the_driver_keeps_them(
    scanned: Path, home: Path, pools: list[PoolHere], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["index", "-q", "--on", "ray", str(scanned)]) == 0
    assert "herring" not in text_of(scanned, "mixed.pdf")
    calls = fake_tesseract(home, monkeypatch)
    assert main(["index", "-q", "--on", "ray", "--ocr", str(scanned)]) == 0
    assert len(list(calls.iterdir())) == 3
    assert pools[-1].made["extract"] == 2
    assert "herring" in text_of(scanned, "scan.pdf") and "herring" in text_of(scanned, "mixed.pdf")
    shutil.copy(scanned / "scan.pdf", scanned / "longer.pdf")
    with (scanned / "longer.pdf").open("ab") as file:
        file.write(b"% other bytes, the same pages")
    for place in ((), ("--on", "ray")):
        assert main(["index", "-q", *place, str(scanned)]) == 0
        assert text_of(scanned, "longer.pdf") == text_of(scanned, "scan.pdf")
        (scanned / "longer.pdf").rename(scanned / "again.pdf")
        with (scanned / "again.pdf").open("ab") as file:
            file.write(b" and more")
        (scanned / "again.pdf").rename(scanned / "longer.pdf")
    assert len(list(calls.iterdir())) == 3
    assert not list(Path(tempfile.gettempdir()).glob("longsearch-worker-*/pages.ocr"))


def test_a_worker_without_tesseract_says_so(
    scanned: Path,
    home: Path,
    pools: list[PoolHere],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake_tesseract(home, monkeypatch)
    assert main(["index", "-q", "--on", "ray", "--ocr", str(scanned)]) == 0
    monkeypatch.setenv("PATH", str(home))
    assert main(["index", "-q", "--on", "ray", str(scanned)]) == 0  # it needs none for the pages that are known
    with pytest.raises(LongsearchError, match="a worker has no tesseract"):
        Worker(pools[0].worker._job).start()


def test_the_folder_of_a_killed_worker_is_removed_and_that_of_a_living_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = "import os; from longsearch.app.cluster.worker import Scratch; Scratch(); os._exit(1)"
    subprocess.run([sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    (killed,) = tmp_path.iterdir()
    living, newest = Scratch(), Scratch()
    assert not killed.exists()
    assert {living.path, newest.path} == set(tmp_path.iterdir())
    living.close()
    newest.close()
    assert list(tmp_path.iterdir()) == []
