"""Scanned pages: counted, estimated, and read by OCR when nobody searches and the machine is on mains.

A script takes the place of tesseract. It prints the darkest level of the picture, and makes an empty file at each call:
the sandbox lets it write nothing into a file.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from longsearch.app.backend import AppBackend
from longsearch.app.cli import main
from longsearch.app.commands import doctor
from longsearch.app.daemon.daemon import QUIET_S, Daemon
from longsearch.app.daemon.daemon_control import watch
from longsearch.app.daemon.idle_work import next_with_scans
from longsearch.app.daemon.watched_folder import WatchedFolder
from longsearch.app.indexing import scans
from longsearch.app.models.resident import ResidentModel
from longsearch.app.paths import index_path, speed_path
from longsearch.engine.index.opening import open_index
from longsearch.engine.json_files import load_object, replace_object
from longsearch.engine.types.progress import FileReport, FileStatus, ScannedPages
from longsearch.indexer.extract.wire.protocol import Page
from longsearch.tui.text.wording import scanned
from tests.app.app_helpers import Clock, running, wait_until
from tests.app.scanned_files import BLANK, TEXT, fake_tesseract, picture, write_pdf


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that holds a file for each call of tesseract."""
    return fake_tesseract(tmp_path, monkeypatch)


@pytest.fixture
def papers(home: Path) -> Path:
    folder = home / "papers"
    folder.mkdir()
    write_pdf(folder / "scan.pdf", picture("0.5"), picture("0.25"), BLANK)
    write_pdf(folder / "mixed.pdf", TEXT, TEXT, picture("0.75"))
    (folder / "note.md").write_text("Bees swarm in May.")
    return folder


def n_calls(log: Path) -> int:
    return len(list(log.iterdir()))


def files_of(root: Path) -> dict[str, FileReport]:
    with open_index(index_path(root)) as session:
        return {file.path: file for file in session.files()}


def counts(root: Path) -> dict[str, int]:
    return {path: file.n_scanned for path, file in files_of(root).items()}


def test_scanned_pages_are_counted_and_blank_ones_are_not(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "-q", str(papers)]) == 0
    assert counts(papers) == {"scan.pdf": 2, "mixed.pdf": 1, "note.md": 0}
    assert files_of(papers)["mixed.pdf"].status is FileStatus.CURRENT
    capsys.readouterr()
    assert main(["status", "--json", str(papers)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_scanned"] == 3
    assert (told["scanned"]["n_pages"], told["scanned"]["is_measured"]) == (3, False)


def test_ocr_reads_these_pages_alone_marks_them_and_measures_its_speed(
    papers: Path, calls: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", "-q", str(papers)]) == 0
    assert n_calls(calls) == 0
    assert main(["index", "-q", "--ocr", str(papers)]) == 0
    assert n_calls(calls) == 3
    assert counts(papers) == {"scan.pdf": 0, "mixed.pdf": 0, "note.md": 0}
    capsys.readouterr()
    assert main(["search", "herring", str(papers), "--mode", "words", "--json"]) == 0
    hits = json.loads(capsys.readouterr().out)["results"]
    assert {(Path(hit["path"]).name, passage["ocr"]) for hit in hits for passage in hit["passages"]} == {
        ("scan.pdf", True), ("mixed.pdf", True),
    }  # fmt: skip
    assert main(["search", "bees", str(papers), "--mode", "words", "--json"]) == 0
    (hit,) = json.loads(capsys.readouterr().out)["results"]
    assert [passage["ocr"] for passage in hit["passages"]] == [False]
    assert main(["search", "herring", str(papers), "--mode", "words"]) == 0
    assert "(OCR): " in capsys.readouterr().out
    assert load_object(speed_path())["ocr"]["s_per_page"] > 0


def test_a_changed_file_costs_only_its_new_pages_and_ocr_need_not_be_on(papers: Path, calls: Path) -> None:
    assert main(["index", "-q", "--ocr", str(papers)]) == 0
    assert n_calls(calls) == 3
    write_pdf(papers / "scan.pdf", picture("0.25"), TEXT, picture("0.5"), picture("0.1"))
    assert main(["index", "-q", str(papers)]) == 0  # the known pages at once, the new one when OCR is asked for
    assert n_calls(calls) == 3
    assert counts(papers)["scan.pdf"] == 1
    assert main(["index", "-q", "--ocr", str(papers)]) == 0
    assert n_calls(calls) == 4
    assert counts(papers)["scan.pdf"] == 0


def test_a_damaged_cache_counts_as_empty(papers: Path, calls: Path) -> None:
    cache = index_path(papers).with_suffix(".ocr")
    cache.write_bytes(b"no database" * 100)
    assert main(["index", "-q", "--ocr", str(papers)]) == 0
    assert n_calls(calls) == 3
    assert counts(papers)["scan.pdf"] == 0


def test_the_cache_is_private_and_goes_with_the_index(papers: Path, calls: Path) -> None:
    assert main(["index", "-q", "--ocr", str(papers)]) == 0
    cache = index_path(papers).with_suffix(".ocr")
    assert os.stat(cache).st_mode & 0o777 == 0o600
    assert main(["folders", "forget", str(papers), "--yes", "--delete"]) == 0
    assert not list(cache.parent.rglob("*.ocr*"))


def test_the_daemon_reads_them_if_it_is_wished_when_nobody_searches_and_on_mains(
    papers: Path, calls: Path, clock: Clock
) -> None:
    assert main(["index", "-q", str(papers)]) == 0
    on_battery = [True]
    daemon = Daemon(True, ResidentModel(clock=clock), clock, 0.01, is_on_battery=lambda: on_battery[0])
    with running(daemon):
        watch(papers)
        wait_until(lambda: daemon._watched()[0].is_scanned)
        clock.now += QUIET_S + 1
        on_battery[0] = False
        assert daemon._next_idle() is None  # nobody wishes it
        on_battery[0] = True
        backend = AppBackend(papers)
        assert "will be read" in backend.read_scans(True)
        assert daemon._next_idle() is None  # on battery
        assert n_calls(calls) == 0
        on_battery[0] = False
        wait_until(lambda: counts(papers)["scan.pdf"] == 0)
        wait_until(lambda: all(file.status is FileStatus.CURRENT for file in files_of(papers).values()))
        wait_until(lambda: not daemon._watched()[0].is_scanned)
    assert n_calls(calls) == 3


def test_a_query_or_the_battery_stops_ocr_in_the_middle_of_a_file(home: Path, clock: Clock) -> None:
    on_battery = [False]
    daemon = Daemon(True, ResidentModel(clock=clock), clock, is_on_battery=lambda: on_battery[0])
    kept = daemon._folders[home] = WatchedFolder(home, lambda: None, clock=clock)
    kept.begin_sweep()
    clock.now += QUIET_S + 1
    assert not daemon._must_not_deepen(kept)
    on_battery[0] = True  # no model is loaded, so the limit of its threads does not look
    assert daemon._must_not_deepen(kept)
    on_battery[0] = False
    daemon.handle("resume", {})
    assert daemon._must_not_deepen(kept)


def test_without_tesseract_nothing_is_tried_and_the_reason_is_said(
    papers: Path, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["index", "-q", str(papers)]) == 0
    scans.wish(papers, True)
    daemon = Daemon(True, ResidentModel(clock=clock), clock, is_on_battery=lambda: False)
    kept = daemon._watch(papers) and daemon._watched()[0]
    assert kept
    kept.is_scanned = True
    monkeypatch.setenv("PATH", str(tmp_path))
    assert next_with_scans([kept]) is None
    assert "apt install tesseract-ocr" in AppBackend(papers).scanned_pages(3, 2).problem
    kept.stop()


def test_a_setting_wishes_it_for_every_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not scans.is_wished(home)
    monkeypatch.setenv("LONGSEARCH_OCR", "deu")
    assert scans.is_wished(home)
    assert scans.languages() == "deu"
    assert "see ocr in longsearch config" in scans.wish_all([home], False)


def test_the_wish_is_for_all_folders_of_an_app_over_several(papers: Path, calls: Path) -> None:
    assert main(["index", "-q", str(papers)]) == 0
    backend = AppBackend()
    assert not backend.scanned_pages(3, 2).is_wished
    backend.read_scans(True)
    assert backend.scanned_pages(3, 2).is_wished
    assert scans.is_wished(papers)
    assert "will not be read" in backend.read_scans(False)
    assert not scans.is_wished(papers)


def test_the_time_is_that_of_this_machine_once_it_is_measured(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "default_n_children", lambda: 2)
    usual = scans.scanned_pages(3412, 40, [home])
    assert (usual.takes_s, usual.is_measured) == (3412 * 5 / 2, False)
    replace_object(speed_path(), {"ocr": {"s_per_page": 9.92}})
    measured = scans.scanned_pages(3412, 40, [home])
    assert measured.is_measured
    assert scanned(measured).startswith("3,412 scanned pages, about 4.7 h")
    assert scans.scanned_pages(10, 1, [home]).takes_s == pytest.approx(99.2)  # the pages of a file come one by one


def test_doctor_checks_tesseract_and_its_languages(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = doctor.CHECKS["ocr"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check().startswith("none: OCR needs tesseract")
    monkeypatch.setenv("LONGSEARCH_OCR", "deu+fra")
    assert doctor.outcome(check)[0] is False
    (tmp_path / "tesseract").write_text(
        f"#!{sys.executable} -I\nprint('List of available languages (2):\\ndeu\\neng')\n"
    )
    (tmp_path / "tesseract").chmod(0o755)
    ok, said = doctor.outcome(check)
    assert not ok and "no language fra" in said and "there are: deu, eng" in said
    monkeypatch.setenv("LONGSEARCH_OCR", "deu")
    assert check() == "tesseract, with 2 languages; not measured yet; on"
    replace_object(speed_path(), {"ocr": {"s_per_page": 3.25}})
    assert "3.2 s a page" in check()
    (tmp_path / "tesseract").write_text("#!/bin/false\n")
    assert "does not list its languages" in doctor.outcome(check)[1]


def test_the_speed_is_noted_while_a_folder_is_read(home: Path) -> None:
    ocr = scans.recognition(home, "")
    assert ocr is not None
    for _ in range(10):
        ocr.take(Page(0, ("words",), ocr_key="key", ocr_s=4.0))
    assert scans.measured_s() == 4.0
    ocr.take(Page(0, ("words",), ocr_key="key", ocr_s=26.0))
    assert scans.measured_s() == 5.0  # half of 4, and half of the mean of all, which is 6
    ocr.take(Page(0, ("words",), ocr_key="key"))  # from the cache
    assert ocr.n_pages == 11


def test_scanned_pages_are_told_in_words() -> None:
    assert scanned(ScannedPages()) == ""
    assert scanned(ScannedPages(1, 5.0)) == "1 scanned page, about 5 s at the usual speed"
    wished = ScannedPages(20, 600.0, True, True)
    assert scanned(wished) == "20 scanned pages, about 10 min; read when the computer is idle and plugged in"
    assert scanned(ScannedPages(20, 600.0, True, True, "OCR needs x")).endswith("; OCR needs x")
