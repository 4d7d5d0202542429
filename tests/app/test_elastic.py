"""The width in the app: chosen for the moment, told by status and doctor, recorded, and deepened later."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from longsearch.app.cli import main
from longsearch.app.commands import status
from longsearch.app.commands.progress_bar import ProgressBar
from longsearch.app.daemon.daemon import QUIET_S, Daemon
from longsearch.app.daemon.daemon_control import watch
from longsearch.app.daemon.watched_folder import WatchedFolder
from longsearch.app.models import elastic
from longsearch.app.models.elastic import RECONSIDER_S, ElasticWidth, chosen_without_model, measured_speed
from longsearch.app.models.resident import ResidentModel
from longsearch.app.paths import index_path, speed_path
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.opening import open_index
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.store import vectors
from longsearch.engine.types.progress import IndexProgress
from tests.app.app_helpers import Clock, running, wait_until

BUNDLED = Path(__file__).parents[2] / "assets" / "model"
NESTED = (1.0, 0.5, 0.25, 0.125)
M = 1_000_000


def nested_encoder(widths: tuple[float, ...] = NESTED, device: str = "cpu") -> Any:
    return SimpleNamespace(
        readout=SimpleNamespace(widths=widths), hardware=SimpleNamespace(device=device), fingerprint="nested"
    )


@pytest.fixture
def measured(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The speeds that were measured; every machine reads 10,000 tokens a second."""
    measured: list[float] = []

    def document_rate(encoder: Any, seconds: float) -> float:
        measured.append(seconds)
        return 10_000.0

    monkeypatch.setattr("longsearch.engine.inference.speed.document_rate", document_rate)
    return measured


def narrow_documents(root: Path) -> int:
    with open_index(index_path(root)) as session:
        return session.progress().n_narrow


# ---- the choice


def test_the_speed_is_measured_once_and_only_if_much_waits(measured: list[float], clock: Clock) -> None:
    widths = ElasticWidth(None, lambda: False, clock)
    assert widths.for_documents(nested_encoder(), lambda: 199_999).width == 1.0
    assert measured == []
    clock.now += RECONSIDER_S + 1
    assert widths.for_documents(nested_encoder(), lambda: 40 * M).width == 0.5
    clock.now += RECONSIDER_S + 1
    assert widths.for_documents(nested_encoder(), lambda: 300 * M).width == 0.25
    assert len(measured) == 1
    assert json.loads(speed_path().read_text())["nested"]["tokens_per_s"] == 10_000


def test_nothing_is_measured_if_there_is_no_choice(measured: list[float]) -> None:
    assert ElasticWidth(0.5).for_documents(nested_encoder(), lambda: 300 * M).width == 0.5
    assert ElasticWidth().for_documents(nested_encoder((1.0,)), lambda: 300 * M).width == 1.0
    assert measured == []


def test_a_choice_holds_for_half_a_minute_and_follows_the_power_supply(measured: list[float], clock: Clock) -> None:
    on_battery = [False]
    widths = ElasticWidth(None, lambda: on_battery[0], clock)
    assert widths.for_documents(nested_encoder(), lambda: 40 * M).width == 0.5
    on_battery[0] = True
    clock.now += RECONSIDER_S
    assert widths.for_documents(nested_encoder(), lambda: 40 * M).width == 0.5
    clock.now += 1
    assert widths.for_documents(nested_encoder(), lambda: 40 * M).width == 0.25
    assert "on battery" in widths.to_json(nested_encoder())["documents_reason"]
    widths.rest()
    assert widths.to_json(nested_encoder())["documents"] == 1.0


def test_an_unwritable_cache_does_not_stop_indexing(measured: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elastic, "speed_path", lambda: Path("/dev/null/speed.json"))
    assert ElasticWidth(None, lambda: False).for_documents(nested_encoder(), lambda: 40 * M).width == 0.5


def test_slow_queries_become_narrow_and_a_single_slow_one_does_not_count() -> None:
    widths = ElasticWidth()
    widths.note_query(1.0, 0.01)
    widths.note_query(1.0, 3.0)
    assert widths.for_queries(NESTED).width == 1.0
    for _ in range(5):
        widths.note_query(1.0, 0.3)
    assert widths.for_queries(NESTED).width == 0.5
    for _ in range(5):
        widths.note_query(0.5, 0.2)  # that is 0.3 s at full width
    assert widths.for_queries(NESTED).width == 0.5


def test_a_query_is_encoded_at_the_width_chosen_for_queries() -> None:
    asked: list[float] = []

    class Fake:
        fingerprint, dim, excerpt_weight, cutter = "fake", 8, 0.5, None
        readout, hardware = SimpleNamespace(widths=NESTED), SimpleNamespace(device="cpu", reason="a test")

        def at(self, width: float) -> "Fake":
            asked.append(width)
            return self

        def encode_query(self, text: str, instruction: str | None, steps: int | None) -> Any:
            return np.ones(8, np.float32)

    model = ResidentModel(Fake, open_cutter=lambda: None, open_queries=lambda _: None)  # type: ignore[arg-type, return-value]
    assert model.widths_in_use() is None
    model.encode_query("swarm", None)
    for _ in range(5):
        model.widths.note_query(1.0, 9.0)
    in_use = model.widths_in_use()
    assert in_use is not None
    assert (in_use["documents"], in_use["queries"]) == (1.0, 0.25)
    model.encode_query("swarm", None)
    assert asked == [1.0, 0.25]


def test_a_wrong_setting_is_refused_before_the_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGSEARCH_WIDTH", "1/3")
    with pytest.raises(LongsearchError, match="LONGSEARCH_WIDTH"):
        ResidentModel()


def test_a_process_without_a_model_chooses_by_the_speed_that_was_measured_last(measured: list[float]) -> None:
    def choice(n_tokens: int, asked: float | None = None, is_on_battery: bool = False) -> Any:
        return chosen_without_model("bundled", "nested", asked, n_tokens, is_on_battery)

    assert choice(40 * M)["documents_reason"] == "the speed of this machine is not measured yet"
    measured_speed(nested_encoder())
    assert (choice(40 * M)["documents"], choice(5 * M)["documents"]) == (0.5, 1.0)
    assert choice(40 * M, is_on_battery=True)["documents"] == 0.25
    assert choice(40 * M, asked=1.0)["documents"] == 1.0
    speed_path().write_text("[damaged")
    assert choice(40 * M)["documents"] == 1.0
    measured_speed(nested_encoder(device="cuda:0"))
    assert choice(900 * M)["documents_reason"] == "a GPU reads fast enough"


def test_the_status_tells_the_widths_of_the_daemons_model(home: Path) -> None:
    nothing = IndexProgress(0, 0, 0, 0, 0, 0, 0, "", 0.0)
    in_use = {"has_others": True, "documents": 0.5, "documents_reason": "r", "queries": 1.0, "queries_reason": "q"}
    assert status._widths({"model": {"widths": in_use}}, "", nothing) == in_use
    for without in (None, {"model": {"widths": None}}, {"model": {}}):  # the last is an older daemon's
        found = status._widths(without, "", nothing)
        assert found is not None
        assert found["documents_reason"] == "little waits to be read"


def test_the_status_says_nothing_of_a_model_with_one_width_or_that_is_missing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = IndexProgress(0, 0, 0, 0, 0, 0, 0, "", 0.0)
    plain = shutil.copytree(BUNDLED, tmp_path / "plain")
    config = json.loads((plain / "config.json").read_text())
    del config["longsearch"]["widths"]
    (plain / "config.json").write_text(json.dumps(config))
    monkeypatch.setenv("LONGSEARCH_MODEL", str(plain))
    found = status._widths(None, "", nothing)
    assert found is not None
    assert (found["documents"], found["has_others"]) == (1.0, False)
    monkeypatch.setenv("LONGSEARCH_MODEL", "org/missing")
    assert status._widths(None, "", nothing) is None


def test_the_progress_bar_of_a_second_reading_counts_narrow_tokens_as_unread(tmp_path: Path) -> None:
    progress = IndexProgress(2, 2, 0, 0, 0, 100, 100, "reading again a", 10.0, n_narrow=1, n_tokens_narrow=60)
    for deepens, completed in ((True, 40), (False, 100)):
        bar = ProgressBar(tmp_path / "index", quiet=True, deepens=deepens)
        task = bar._progress.add_task("", total=None, files="", detail="")
        bar._show(task, progress)
        assert bar._progress.tasks[0].completed == completed
        assert ("6 s left" in bar._progress.tasks[0].fields["detail"]) == deepens


# ---- the command line, with the bundled model


def test_an_index_made_narrow_is_searched_and_deepened(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--width", "1/2", "-q", str(root)]) == 0
    assert "2 documents were read at part of the model's width" in capsys.readouterr().out
    assert main(["search", "--json", "-k", "1", "--mode", "meaning", "why do tides rise twice a day", str(root)]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["path"] == str(root / "tides.md")

    assert main(["status", "--json", str(root)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["n_narrow"], told["n_tokens_narrow"]) == (2, told["n_tokens"])
    assert (told["widths"]["documents"], told["widths"]["documents_reason"]) == (1.0, "little waits to be read")
    assert main(["status", str(root)]) == 0
    said = capsys.readouterr().out
    assert "width 1 for" not in said, "doctor has it"
    assert f"longsearch index {root} --deepen" in said

    assert main(["index", "--deepen", "-q", str(root)]) == 0
    assert "part of the model's width" not in capsys.readouterr().out
    encoder = Encoder.open()
    with open_index(index_path(root)) as index:
        assert not index.db.execute("SELECT count(*) FROM embeddings WHERE width < 1").get
        for (document_id,) in index.db.execute("SELECT id FROM contents").fetchall():
            from longsearch.engine.store import documents

            whole = encoder.encode_document(documents.text(index.db, document_id).text)
            found = vectors.of_passages(index.db, document_id)
            # products in 8 bits move single values by .003 where a batch is other; half the width has cosines of .95
            assert (found * whole.passage_vectors).sum(1).min() > 0.999


def test_a_file_added_later_is_read_at_its_own_width(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--width", "0.25", "-q", str(root)]) == 0
    (root / "new.md").write_text("Bees swarm in May.")
    assert main(["index", "--width", "1", "-q", str(root)]) == 0
    assert narrow_documents(root) == 2
    assert main(["search", "--json", "-k", "1", "--mode", "meaning", "when do bees swarm", str(root)]) == 0
    assert json.loads(capsys.readouterr().out.split("\n", 4)[-1])["results"][0]["path"] == str(root / "new.md")


def test_the_environment_sets_the_width_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGSEARCH_WIDTH", "1/4")
    assert main(["index", "-q", str(root)]) == 0
    assert narrow_documents(root) == 2


def test_another_width_is_wrong_usage(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["index", "--width", "1/3", str(root)])
    assert ended.value.code == 2
    assert "must be auto, 1, 1/2, 1/4 or 1/8" in capsys.readouterr().err


def test_the_doctor_names_the_widths_and_the_speed(
    home: Path, measured: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    from longsearch.app.commands import doctor

    monkeypatch.setattr(ElasticWidth, "note_query", lambda self, width, seconds: self._queries_s.append(0.008))
    doctor.loaded.cache_clear()
    found = doctor.CHECKS["width"]()
    assert found.startswith("1 for documents (little waits to be read), 1 for queries (a query takes 8 ms)")
    assert found.endswith("; this machine reads 10,000 tokens/s at full width")


# ---- the daemon


@pytest.fixture
def narrow_root(root: Path) -> Path:
    assert main(["index", "--width", "1/2", "-q", str(root)]) == 0
    return root


def test_the_daemon_deepens_when_nobody_searches_if_it_may(
    narrow_root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGSEARCH_DEEPEN", "1")
    on_battery = [True]
    daemon = Daemon(True, ResidentModel(clock=clock), clock, 0.01, is_on_battery=lambda: on_battery[0])
    with running(daemon):
        watch(narrow_root)
        wait_until(lambda: daemon._watched()[0].is_narrow)
        assert daemon._next_idle() is None  # somebody has just called
        clock.now += QUIET_S + 1
        assert daemon._next_idle() is None  # on battery
        on_battery[0] = False
        wait_until(lambda: narrow_documents(narrow_root) == 0)
        wait_until(lambda: not daemon._watched()[0].is_narrow)


def test_the_daemon_does_not_deepen_without_permission(narrow_root: Path, clock: Clock) -> None:
    daemon = Daemon(True, ResidentModel(clock=clock), clock, 0.01, is_on_battery=lambda: False)
    with running(daemon):
        watch(narrow_root)
        wait_until(lambda: daemon._watched()[0].is_narrow)
        clock.now += QUIET_S + 1
        assert daemon._next_idle() is None
    assert narrow_documents(narrow_root) == 2


def test_a_query_or_the_battery_ends_the_second_reading(clock: Clock, home: Path) -> None:
    daemon = Daemon(True, ResidentModel(clock=clock), clock, is_on_battery=lambda: False)
    kept = daemon._folders[home] = WatchedFolder(home, lambda: None, clock=clock)
    kept.begin_sweep()
    clock.now += QUIET_S + 1
    assert not daemon._must_not_deepen(kept)
    daemon.handle("status", {})
    assert not daemon._must_not_deepen(kept)  # an open app asks for the status every ten seconds
    daemon._threads.is_on_battery = True
    assert daemon._must_not_deepen(kept)
    daemon._threads.is_on_battery = False
    daemon.handle("resume", {})
    assert daemon._must_not_deepen(kept)


def test_index_refuses_a_width_that_the_daemon_cannot_take(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from filelock import FileLock

    with FileLock(index_path(root).with_suffix(".lock")):
        assert main(["index", "--width", "1/2", "-q", str(root)]) == 3
    assert "LONGSEARCH_WIDTH=1/2" in capsys.readouterr().err
