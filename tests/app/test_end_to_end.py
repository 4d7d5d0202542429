"""The commands over real files with the bundled model, as a user runs them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longsearch.app.cli import main
from longsearch.app.paths import index_path
from longsearch.engine.index.opening import open_index
from longsearch.engine.search import calibration
from longsearch.engine.store import vectors
from longsearch.engine.store.connection import log_bytes
from tests.app.homes import SAMPLES, home_with_samples
from tests.app.questions import QUESTIONS


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The samples, indexed once for all tests that do not change them."""
    with home_with_samples(tmp_path_factory) as folder:
        (folder / "legal").mkdir()
        (folder / "lease.txt").rename(folder / "legal" / "lease.txt")
        assert main(["index", "-q", str(folder)]) == 0
        yield folder


def search(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    main(["search", "--json", *arguments])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def status(capsys: pytest.CaptureFixture[str], folder: Path) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["status", "--json", str(folder)]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_nine_of_ten_paraphrased_questions_find_their_document_first(
    indexed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {q: Path(search(capsys, q, str(indexed))["results"][0]["path"]).name for q in QUESTIONS}
    missed = {q: name for q, name in found.items() if name != QUESTIONS[q]}
    assert len(missed) <= len(QUESTIONS) // 10, missed


@pytest.mark.parametrize("mode", ["hybrid", "meaning", "words"])
def test_every_mode_finds_the_document_and_names_itself(
    indexed: Path, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    found = search(capsys, "oxalic acid against mites", str(indexed), "--mode", mode, "-k", "3")
    assert found["mode"] == mode
    assert 1 <= len(found["results"]) <= 3
    assert [hit["rank"] for hit in found["results"]] == list(range(1, len(found["results"]) + 1))
    best = found["results"][0]
    assert best["path"] == str(indexed / "beekeeping.md")
    assert best["title"] == "Notes from a small apiary"
    assert 0 < best["score"] <= 1
    assert "Oxalic acid" in best["passages"][0]["text"]


def test_the_json_is_as_documented(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = search(capsys, "rent", str(indexed), "--instruction", "Find the clause of the contract")
    assert found.keys() >= {"query", "mode", "instruction", "took_ms", "results"}
    assert found["instruction"] == "Find the clause of the contract"
    for hit in found["results"]:
        assert hit.keys() >= {"rank", "path", "title", "score", "passages"}
        for passage in hit["passages"]:
            assert passage.keys() >= {"page", "start", "stop", "text", "score"}
            assert passage["stop"] - passage["start"] == len(passage["text"])


def test_a_folder_inside_the_root_narrows_the_search(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = search(capsys, "bees", str(indexed / "legal"))
    assert {hit["path"] for hit in found["results"]} == {str(indexed / "legal" / "lease.txt")}


def test_nothing_found_exits_with_1(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--mode", "words", "xylophagous", str(indexed)]) == 1
    assert "nothing found" in capsys.readouterr().out


def test_results_as_text_show_heading_and_passage(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "formic acid", str(indexed)]) == 0
    shown = capsys.readouterr().out
    assert "Notes from a small apiary" in shown
    assert "Mites: " in shown


def test_status_says_that_all_is_current(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = status(capsys, indexed)
    assert found["n_files"] == found["n_current"] == 12
    assert found["n_tokens"] == found["n_tokens_embedded"] > 2500
    assert {file["state"] for file in found["files"]} == {"current"}


def test_renamed_copied_and_touched_files_are_not_embedded_again_and_deleted_files_leave_the_index(
    home: Path, samples: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["index", "-q", str(samples)]) == 0
    from longsearch.engine.inference.encoder import Encoder

    def refuse(*_: object) -> None:
        pytest.fail("embedded again")

    monkeypatch.setattr(Encoder, "stream", refuse)
    (samples / "tides.md").rename(samples / "sea.md")
    shutil.copy(samples / "violin.md", samples / "fiddle.md")
    os.utime(samples / "orchard.md")
    (samples / "caches.md").unlink()
    assert main(["index", "-q", str(samples)]) == 0
    names = {file["path"] for file in status(capsys, samples)["files"]}
    assert {"sea.md", "fiddle.md", "violin.md", "orchard.md"} <= names
    assert not {"tides.md", "caches.md"} & names
    assert search(capsys, "stampede of requests", str(samples), "--mode", "words")["results"] == []


def test_unreadable_files_are_listed_with_a_reason_and_are_no_error_and_are_read_again_on_request(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "empty.pdf").touch()
    (root / "binary.pdf").write_bytes(bytes(range(256)) * 50)
    (root / "binary.txt").write_bytes(b"\0\1\2\3" * 500)
    (root / "latin.txt").write_bytes("Grüße aus Köln, schrieb er, und ging über die Brücke.".encode("latin-1"))
    for again in ((), ("--retry-failed",)):
        assert main(["index", "-q", *again, str(root)]) == 0
        files = {file["path"]: file for file in status(capsys, root)["files"]}
        for name in ("empty.pdf", "binary.pdf", "binary.txt"):
            assert files[name]["state"] == "failed", name
            assert files[name]["reason"], name
        assert files["latin.txt"]["state"] == "current"
    assert search(capsys, "Grüße Köln", str(root), "--mode", "words")["results"][0]["path"].endswith("latin.txt")


def test_partial_files_are_read_again_on_request(
    root: Path, half_readable: threading.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", "-q", str(root)]) == 0
    before = {file["path"]: file for file in status(capsys, root)["files"]}["violin.md"]
    assert (before["state"], before["reason"]) == ("partial", "its end could not be read")
    half_readable.set()
    assert main(["index", "-q", str(root)]) == 0
    assert {file["path"]: file for file in status(capsys, root)["files"]}["violin.md"] == before
    assert main(["index", "-q", "--retry-failed", str(root)]) == 0
    after = {file["path"]: file for file in status(capsys, root)["files"]}["violin.md"]
    assert after["state"] == "current"
    assert after["n_tokens_embedded"] == after["n_tokens"] > before["n_tokens"]


def test_a_kill_in_the_middle_loses_no_document_and_stores_none_twice(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "LEAST_PASSAGES", 1_000)  # what chance reaches is another test's matter
    folder = tmp_path / "long"
    folder.mkdir()
    texts = [path.read_text() for path in sorted(SAMPLES.iterdir())]
    for name, text in zip("abcdef", texts, strict=False):
        (folder / f"{name}.txt").write_text(text)
    (folder / "z.txt").write_text("\n\n".join(f"Part {i}.\n\n{texts[i % len(texts)]}" for i in range(8)))
    process = subprocess.Popen([sys.executable, "-m", "longsearch.app.cli", "index", "-q", str(folder)])
    path = index_path(folder)
    written = 0
    while process.poll() is None:  # kill it when some documents are embedded and the long one is not
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.01)
        if (n_bytes := log_bytes(path)) == written:
            continue  # nothing is new; to open the index takes the core that the process needs
        written = n_bytes
        if 0 < _n_embedded(path) < 7:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    before = _n_embedded(path)
    assert 0 < before < 7, "it was too quick to be killed"
    assert main(["index", "-q", str(folder)]) == 0
    undisturbed = tmp_path / "again"
    shutil.copytree(folder, undisturbed)
    assert main(["index", "-q", str(undisturbed)]) == 0
    assert _n_embedded(path) == 7
    for found, expected in zip(_vectors(path), _vectors(index_path(undisturbed)), strict=True):
        # rounding of products in int8 and bfloat16 depends on the slices and on the number of threads
        cosines = (found * expected).sum(-1) / np.linalg.norm(found, axis=-1) / np.linalg.norm(expected, axis=-1)
        assert cosines.min() > 0.999


def _n_embedded(path: Path) -> int:
    from longsearch.engine.errors import StoreError

    try:
        with open_index(path) as store:
            return store.progress().n_current
    except StoreError:  # the index does not exist yet
        return 0


def _vectors(path: Path) -> list[np.ndarray[Any, Any]]:
    """Return for each file, in order of path, its passage vectors and its document vector."""
    with open_index(path) as index:
        document_ids = [row[0] for row in index.db.execute("SELECT content_id FROM files ORDER BY path")]
        found = []
        for document_id in document_ids:
            document = vectors.of_document(index.db, document_id)
            assert document is not None
            found.append(np.vstack([vectors.of_passages(index.db, document_id), document]))
        return found
